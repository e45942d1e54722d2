//! A simple model of the same state: a table of messages, and a row for each recipient.

use super::Step;
use crate::fixture::*;
use model::picture::{PictureFact, PictureRecord, RealmEmoji, RealmPicture};
use model::{
    AttachmentId, ChannelFact, ChannelId, EventNumber, Fact, Flag, FlagOp, Flags, GroupFact, JobId, Message,
    MessageId, QueueFact, QueueId, Subscription, SubscriptionFact, Timestamp, UserFact, UserId,
    VisibilityPolicy,
};
use std::collections::{BTreeMap, BTreeSet};

/// The state of the model, from which steps derive facts.
#[derive(Default)]
pub(super) struct Plain {
    pub users: u32,
    pub groups: u32,
    pub channels: u32,
    pub queues: Vec<String>,
    pub directs: BTreeMap<Vec<u32>, u32>,
    pub subscriptions: BTreeMap<(u32, u32), Subscription>,
    /// Messages with moves applied.
    pub messages: BTreeMap<u32, Message>,
    /// Messages with their own changes, without moves.
    pub own: BTreeMap<u32, Message>,
    pub deleted: BTreeSet<u32>,
    /// Day since 1970 → its first message.
    pub days: BTreeMap<u64, u32>,
    /// The time of the last change.
    pub now: u64,
    pub newest: u32,
    /// (user, message) → delivered when it was sent, or by its last move across channels.
    pub delivered: BTreeSet<(u32, u32)>,
    /// (user, message) → its flags, historical included.
    pub flags: BTreeMap<(u32, u32), Flags>,
    /// Deactivated accounts: no channel message is delivered to them.
    pub inactive: BTreeSet<u32>,
    /// The newest assigned id of an invitation.
    pub invitations: u32,
    /// Pending and failed jobs.
    pub jobs: Vec<JobId>,
    /// Uploaded files that were added once.
    pub files: BTreeSet<AttachmentId>,
}

pub(super) const TOPICS: [&str; 6] = ["tea", "Tea", "TEA", "", "Ärger", "ärger"];

impl Plain {
    pub fn at(&self, bits: u8) -> Timestamp {
        Timestamp(20_000 + u64::from(bits))
    }

    /// An archived channel is to be marked as read, or was.
    pub fn reading(&self, number: u8, is_pending: bool) -> Fact {
        Fact::Channel(ChannelFact::ReadingPending { channel: ChannelId(self.channel(number)), is_pending })
    }

    pub fn user(&self, number: u8) -> u32 {
        1 + u32::from(number) % self.users
    }

    pub fn channel(&self, number: u8) -> u32 {
        1 + u32::from(number) % self.channels
    }

    pub fn users_of(&self, bits: u8) -> Vec<u32> {
        (1..=self.users).filter(|user| bits & (1 << (user % 8)) != 0).collect()
    }

    pub fn facts(&mut self, step: &Step) -> Vec<Fact> {
        match step {
            Step::Subscribe { channel, users } => self.subscribe(self.channel(*channel), *users),
            Step::Unsubscribe { channel, user } => {
                let (channel, user) = (self.channel(*channel), self.user(*user));
                if let Some(record) = self.subscriptions.get_mut(&(channel, user)) {
                    record.end(MessageId(self.newest));
                }
                vec![unsubscribed(channel, &[user], self.newest)]
            }
            Step::Send { channel, topic, sender, traits, flagged } => {
                let (channel, sender) = (self.channel(*channel), self.user(*sender));
                let topic = TOPICS[usize::from(*topic) % TOPICS.len()];
                let mut message = channel_message(self.newest + 1, sender, channel, topic);
                message.traits.read_by_sender = traits & 1 != 0;
                message.traits.channel_wildcard = traits & 6 == 6;
                message.traits.has_link = traits & 8 != 0;
                let set = flags(&[Flag::Mentioned, Flag::HasAlertWord][..1 + usize::from(traits >> 7)]);
                message.user_flags =
                    self.users_of(flagged & 0x0f).into_iter().map(|user| (UserId(user), set)).collect();
                vec![self.send(message)]
            }
            Step::SendDirect { users, sender } => self.send_direct(*users, *sender),
            Step::Skip { ids } => {
                self.newest += u32::from(*ids);
                vec![]
            }
            Step::Flags { user, flag, is_added, from, ids } => {
                let op = if *is_added { FlagOp::Add } else { FlagOp::Remove };
                let flag = Flag::EDITABLE[usize::from(*flag) % 3];
                self.change_flags(self.user(*user), flag, op, *from, from.saturating_add(*ids))
            }
            Step::Policy { user, channel, topic, policy } => {
                vec![Fact::Subscription(SubscriptionFact::TopicPolicySet {
                    users: vec![UserId(self.user(*user))],
                    channel: ChannelId(self.channel(*channel)),
                    topic: TOPICS[usize::from(*topic) % TOPICS.len()].into(),
                    policy: [VisibilityPolicy::Inherit, VisibilityPolicy::Muted, VisibilityPolicy::Followed]
                        [usize::from(*policy) % 3],
                })]
            }
            Step::Queue { user, is_ended } => self.queue(*user, *is_ended),
            Step::Reserve => vec![Fact::Queue(QueueFact::EventNumbersReserved(EventNumber(
                u64::from(self.newest) + 1_000,
            )))],
            Step::Picture { number, kind } => vec![Fact::Picture(Box::new(self.picture(*number, *kind)))],
            Step::Record { kind, number, bits } => self.record(*kind, *number, *bits).into_iter().collect(),
            Step::Realm { channel } => self.defaults_changed(*channel),
            Step::Activity { channel, is_active } => vec![Fact::Channel(ChannelFact::ActivityChanged {
                channel: ChannelId(self.channel(*channel)),
                is_recently_active: *is_active,
            })],
            Step::Edit { .. }
            | Step::Move(_)
            | Step::Delete { .. }
            | Step::React { .. }
            | Step::Submessage { .. }
            | Step::EraseHistory { .. } => self.change(step).into_iter().collect(),
            other => self.directory_facts(other),
        }
    }

    fn defaults_changed(&self, channel: u8) -> Vec<Fact> {
        vec![Fact::Channel(ChannelFact::DefaultsChanged(vec![ChannelId(self.channel(channel))]))]
    }

    fn picture(&self, number: u8, kind: u8) -> PictureFact {
        let (file, version) = (Some(format!("{number}.png")), u32::from(number));
        match kind {
            0 | 1 => {
                let user = UserId(self.user(number));
                PictureFact::AvatarSet { user, file: file.filter(|_| kind == 0), version }
            }
            2 => {
                let which = [RealmPicture::Icon, RealmPicture::Logo, RealmPicture::NightLogo];
                let which = which[usize::from(number) % which.len()];
                PictureFact::RealmPictureSet { which, picture: PictureRecord { file, version } }
            }
            _ => {
                let id = 1 + u32::from(number) % 4;
                // No two active emoji have the same name.
                let name = format!("emoji{id}");
                let (file, is_deactivated) = (format!("{id}.gif"), number & 8 != 0);
                let still = Some(format!("still/{id}.png"));
                PictureFact::EmojiSet(RealmEmoji { id, name, file, still, author: None, is_deactivated })
            }
        }
    }

    /// Users, groups and channels.
    fn directory_facts(&mut self, step: &Step) -> Vec<Fact> {
        match step {
            Step::User { renamed: true } => {
                let mut record = user(self.users);
                record.full_name = format!("Renamed {}", self.newest);
                record.is_active = !self.inactive.contains(&self.users);
                vec![Fact::User(UserFact::Changed(Box::new(record)))]
            }
            Step::User { renamed: false } => {
                self.users += 1;
                vec![Fact::User(UserFact::Created(Box::new(user(self.users))))]
            }
            Step::Group { below, members } => {
                let below: Vec<u32> =
                    (1..=self.groups).filter(|group| below & (1 << (group % 8)) != 0).collect();
                self.groups += 1;
                vec![Fact::Group(GroupFact::Created(Box::new(group(
                    self.groups,
                    &self.users_of(*members),
                    &below,
                ))))]
            }
            Step::Members { group, user, is_added } => {
                let group = model::GroupId(1 + u32::from(*group) % (self.groups + 1));
                let user = vec![UserId(self.user(*user))];
                let (added, removed) = if *is_added { (user, vec![]) } else { (vec![], user) };
                vec![Fact::Group(GroupFact::MembersChanged { group, added, removed })]
            }
            Step::Channel { privacy } => {
                self.channels += 1;
                let mut record = channel(self.channels);
                record.invite_only = privacy % 3 > 0;
                record.history_public_to_subscribers = privacy % 3 < 2;
                record.is_web_public = privacy % 12 == 0;
                vec![Fact::Channel(ChannelFact::Created(Box::new(record)))]
            }
            _ => vec![],
        }
    }

    fn subscribe(&mut self, channel: u32, users: u8) -> Vec<Fact> {
        let mut subscribers = Vec::new();
        let users = self.users_of(users);
        for user in users.into_iter().filter(|user| !self.inactive.contains(user)).collect::<Vec<_>>() {
            let after = MessageId(self.newest);
            let record = self.subscriptions.entry((channel, user)).or_insert_with(|| {
                let mut record = Subscription::start("#76ce90".into(), after);
                record.is_active = false;
                record.spans.clear();
                record
            });
            record.resubscribe(after);
            subscribers.push((UserId(user), record.clone()));
        }
        vec![Fact::Subscription(SubscriptionFact::Added {
            channel: ChannelId(channel),
            subscribers,
            by: UserId(1),
        })]
    }

    fn send_direct(&mut self, users: u8, sender: u8) -> Vec<Fact> {
        let sender = self.user(sender);
        let mut people = self.users_of(users);
        people.push(sender);
        people.sort_unstable();
        people.dedup();
        let next = 1000 + self.directs.len() as u32;
        let mut facts = Vec::new();
        let recipient = *self.directs.entry(people.clone()).or_insert_with(|| {
            facts.push(direct(next, &people));
            next
        });
        facts.push(self.send(direct_message(self.newest + 1, sender, recipient)));
        facts
    }

    fn send(&mut self, mut message: Message) -> Fact {
        let id = message.id.0;
        self.newest = id;
        // A few messages a day.
        message.sent = Timestamp(u64::from(id) * 20_000_000);
        self.days.entry(message.sent.0 / (24 * 60 * 60 * 1000)).or_insert(id);
        for user in 1..=self.users {
            let is_delivered = match message.place.channel() {
                Some(channel) => {
                    let record = self.subscriptions.get(&(channel.0, user));
                    record.is_some_and(|record| record.is_active) && !self.inactive.contains(&user)
                }
                None => self
                    .directs
                    .iter()
                    .any(|(people, recipient)| *recipient == message.recipient.0 && people.contains(&user)),
            };
            if is_delivered {
                self.delivered.insert((user, id));
            }
            let mut set = message.own_flags(UserId(user));
            set = set.with_if(Flag::Read, message.traits.read_by_sender && message.sender.0 == user);
            self.flags.insert((user, id), set);
        }
        self.messages.insert(id, message.clone());
        self.own.insert(id, message.clone());
        sent(message)
    }

    fn change_flags(&mut self, user: u32, flag: Flag, op: FlagOp, first: u32, last: u32) -> Vec<Fact> {
        for id in self.messages.range(first..=last).map(|(id, _)| *id) {
            let is_delivered = self.delivered.contains(&(user, id));
            let set = self.flags.entry((user, id)).or_default();
            if !is_delivered && !set.contains(Flag::Historical) {
                *set = set.with(Flag::Historical).with(Flag::Read);
            }
            *set = match op {
                FlagOp::Add => set.with(flag),
                FlagOp::Remove => Flags(set.0 & !Flags::only(flag).0),
            };
        }
        vec![flags_changed(user, flag, op, &[(first, last)])]
    }

    fn queue(&mut self, user: u8, is_ended: bool) -> Vec<Fact> {
        if is_ended {
            return self
                .queues
                .pop()
                .map(|id| Fact::Queue(QueueFact::Ended(QueueId(id.into()))))
                .into_iter()
                .collect();
        }
        let id = format!("{}:{}", self.newest, self.queues.len());
        self.queues.push(id.clone());
        vec![Fact::Queue(QueueFact::Registered(Box::new(queue(&id, self.user(user), 1))))]
    }
}
