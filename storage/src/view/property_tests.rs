//! What holds for any sequence of frames: memory, trees, trees read back and trees replayed from zero say
//! the same, and all of them say what a plain table of users and messages says.

use super::View;
use crate::check::compare;
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::open::replay;
use crate::projection::Trees;
use model::{
    ChannelId, EventNumber, Fact, Flag, FlagOp, Flags, Message, MessageId, QueueId, RecipientId,
    Subscription, TopicKey, UserId, VisibilityPolicy,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tempfile::TempDir;

/// Something to do, with numbers that are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    User { renamed: bool },
    Group { below: u8, members: u8 },
    Members { group: u8, user: u8, is_added: bool },
    Channel { privacy: u8 },
    Subscribe { channel: u8, users: u8 },
    Unsubscribe { channel: u8, user: u8 },
    Send { channel: u8, topic: u8, sender: u8, traits: u8, flagged: u8 },
    SendDirect { users: u8, sender: u8 },
    Skip { ids: u16 },
    Flags { user: u8, flag: u8, is_added: bool, from: u32, ids: u32 },
    Policy { user: u8, channel: u8, topic: u8, policy: u8 },
    Queue { user: u8, is_ended: bool },
    Reserve,
    Realm { channel: u8 },
    Activity { channel: u8, is_active: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let byte = any::<u8>;
    prop_oneof![
        1 => any::<bool>().prop_map(|renamed| Step::User { renamed }),
        1 => (byte(), byte()).prop_map(|(below, members)| Step::Group { below, members }),
        1 => (byte(), byte(), any::<bool>())
            .prop_map(|(group, user, is_added)| Step::Members { group, user, is_added }),
        1 => byte().prop_map(|privacy| Step::Channel { privacy }),
        4 => (byte(), byte()).prop_map(|(channel, users)| Step::Subscribe { channel, users }),
        3 => (byte(), byte()).prop_map(|(channel, user)| Step::Unsubscribe { channel, user }),
        12 => (byte(), byte(), byte(), byte(), byte())
            .prop_map(|(channel, topic, sender, traits, flagged)| Step::Send { channel, topic, sender, traits, flagged }),
        3 => (byte(), byte()).prop_map(|(users, sender)| Step::SendDirect { users, sender }),
        1 => (0u16..5000).prop_map(|ids| Step::Skip { ids }),
        8 => (byte(), byte(), any::<bool>(), 0u32..9000, prop_oneof![0u32..3, 0u32..20_000])
            .prop_map(|(user, flag, is_added, from, ids)| Step::Flags { user, flag, is_added, from, ids }),
        2 => (byte(), byte(), byte(), byte())
            .prop_map(|(user, channel, topic, policy)| Step::Policy { user, channel, topic, policy }),
        2 => (byte(), any::<bool>()).prop_map(|(user, is_ended)| Step::Queue { user, is_ended }),
        1 => Just(Step::Reserve),
        1 => byte().prop_map(|channel| Step::Realm { channel }),
        1 => (byte(), any::<bool>()).prop_map(|(channel, is_active)| Step::Activity { channel, is_active }),
    ]
}

/// What is decided from: the same things once more, as plainly as possible.
#[derive(Default)]
struct Plain {
    users: u32,
    groups: u32,
    channels: u32,
    queues: Vec<String>,
    directs: BTreeMap<Vec<u32>, u32>,
    subscriptions: BTreeMap<(u32, u32), Subscription>,
    messages: BTreeMap<u32, Message>,
    newest: u32,
    /// (user, message) → delivered when it was sent.
    delivered: BTreeSet<(u32, u32)>,
    /// (user, message) → what was set since, historical included.
    flags: BTreeMap<(u32, u32), Flags>,
}

const TOPICS: [&str; 6] = ["tea", "Tea", "TEA", "", "Ärger", "ärger"];

impl Plain {
    fn user(&self, number: u8) -> u32 {
        1 + u32::from(number) % self.users
    }

    fn channel(&self, number: u8) -> u32 {
        1 + u32::from(number) % self.channels
    }

    fn users_of(&self, bits: u8) -> Vec<u32> {
        (1..=self.users).filter(|user| bits & (1 << (user % 8)) != 0).collect()
    }

    fn facts(&mut self, step: &Step) -> Vec<Fact> {
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
            Step::Policy { user, channel, topic, policy } => vec![Fact::TopicPolicySet {
                user: UserId(self.user(*user)),
                channel: ChannelId(self.channel(*channel)),
                topic: TOPICS[usize::from(*topic) % TOPICS.len()].into(),
                policy: [VisibilityPolicy::Inherit, VisibilityPolicy::Muted, VisibilityPolicy::Followed]
                    [usize::from(*policy) % 3],
            }],
            Step::Queue { user, is_ended } => self.queue(*user, *is_ended),
            Step::Reserve => vec![Fact::EventNumbersReserved(EventNumber(u64::from(self.newest) + 1_000))],
            Step::Realm { channel } => {
                vec![Fact::DefaultChannelsChanged(vec![ChannelId(self.channel(*channel))])]
            }
            Step::Activity { channel, is_active } => vec![Fact::ChannelActivityChanged {
                channel: ChannelId(self.channel(*channel)),
                is_recently_active: *is_active,
            }],
            other => self.directory_facts(other),
        }
    }

    /// Users, groups and channels.
    fn directory_facts(&mut self, step: &Step) -> Vec<Fact> {
        match step {
            Step::User { renamed: true } => {
                let mut record = user(self.users);
                record.full_name = format!("Renamed {}", self.newest);
                vec![Fact::UserChanged(Box::new(record))]
            }
            Step::User { renamed: false } => {
                self.users += 1;
                vec![Fact::UserCreated(Box::new(user(self.users)))]
            }
            Step::Group { below, members } => {
                let below: Vec<u32> =
                    (1..=self.groups).filter(|group| below & (1 << (group % 8)) != 0).collect();
                self.groups += 1;
                vec![Fact::GroupCreated(Box::new(group(self.groups, &self.users_of(*members), &below)))]
            }
            Step::Members { group, user, is_added } => {
                let group = model::GroupId(1 + u32::from(*group) % (self.groups + 1));
                let user = vec![UserId(self.user(*user))];
                let (added, removed) = if *is_added { (user, vec![]) } else { (vec![], user) };
                vec![Fact::GroupMembersChanged { group, added, removed }]
            }
            Step::Channel { privacy } => {
                self.channels += 1;
                let mut record = channel(self.channels);
                record.invite_only = privacy % 3 > 0;
                record.history_public_to_subscribers = privacy % 3 < 2;
                record.is_web_public = privacy % 12 == 0;
                vec![Fact::ChannelCreated(Box::new(record))]
            }
            _ => vec![],
        }
    }

    fn subscribe(&mut self, channel: u32, users: u8) -> Vec<Fact> {
        let mut subscribers = Vec::new();
        for user in self.users_of(users) {
            let after = MessageId(self.newest);
            let record = self.subscriptions.entry((channel, user)).or_insert_with(|| {
                let mut record = Subscription::start("#76ce90".into(), after);
                record.is_active = false;
                record.spans.clear();
                record
            });
            record.resume(after);
            subscribers.push((UserId(user), record.clone()));
        }
        vec![Fact::Subscribed { channel: ChannelId(channel), subscribers, by: UserId(1) }]
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

    fn send(&mut self, message: Message) -> Fact {
        let id = message.id.0;
        self.newest = id;
        for user in 1..=self.users {
            let is_delivered = match message.place.channel() {
                Some(channel) => {
                    self.subscriptions.get(&(channel.0, user)).is_some_and(|record| record.is_active)
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
            return self.queues.pop().map(|id| Fact::QueueEnded(QueueId(id.into()))).into_iter().collect();
        }
        let id = format!("{}:{}", self.newest, self.queues.len());
        self.queues.push(id.clone());
        vec![Fact::QueueRegistered(Box::new(queue(&id, self.user(user), 1)))]
    }

    /// The view says what the plain table says.
    fn check(&self, view: &View) -> Result<(), TestCaseError> {
        for user in (1..=self.users).map(UserId) {
            let all = view.delivered_among(user, &view.messages.all);
            for (id, message) in &self.messages {
                let is_delivered = self.delivered.contains(&(user.0, *id));
                prop_assert_eq!(view.is_delivered(user, message), is_delivered, "{} {}", user, id);
                prop_assert_eq!(all.contains(*id), is_delivered);
                let mut expected = self.flags.get(&(user.0, *id)).copied().unwrap_or_default();
                if is_delivered {
                    expected =
                        expected.with_if(Flag::ChannelWildcardMentioned, message.traits.channel_wildcard);
                } else if !expected.contains(Flag::Historical) {
                    expected = expected.with(Flag::Historical).with(Flag::Read);
                }
                prop_assert_eq!(view.flags_for(user, message), expected, "{} {}", user, id);
            }
            let mut delivered = view.direct_messages_of(user);
            for channel in (1..=self.channels).map(ChannelId) {
                delivered |= view.delivered_in_channel(user, channel);
            }
            prop_assert_eq!(&delivered, &all);
            let unread = self.messages.keys().filter(|id| {
                let set = self.flags.get(&(user.0, **id)).copied().unwrap_or_default();
                self.delivered.contains(&(user.0, **id)) && !set.contains(Flag::Read)
            });
            prop_assert_eq!(view.unread_of(user, &all), unread.copied().collect());
        }
        self.check_places(view)
    }

    fn check_places(&self, view: &View) -> Result<(), TestCaseError> {
        for (id, message) in &self.messages {
            prop_assert!(view.messages.all.contains(*id));
            prop_assert!(view.messages.senders[&message.sender].contains(*id));
            prop_assert_eq!(view.messages.with_link.contains(*id), message.traits.has_link);
            match &message.place {
                model::Place::Channel { channel, topic } => {
                    let topic = view.messages.topic(*channel, &TopicKey::new(topic));
                    prop_assert!(topic.is_some_and(|topic| topic.ids.contains(*id)));
                    prop_assert!(view.channel_ids(*channel).is_some_and(|ids| ids.contains(*id)));
                }
                model::Place::Direct => {
                    prop_assert!(view.messages.directs[&RecipientId(message.recipient.0)].contains(*id));
                }
            }
        }
        prop_assert_eq!(view.messages.all.len(), self.messages.len() as u64);
        prop_assert_eq!(view.queues.len(), self.queues.len());
        Ok(())
    }
}

fn check_same(live: &View, loaded: &View) -> Result<(), TestCaseError> {
    prop_assert_eq!(&loaded.directory, &live.directory);
    prop_assert_eq!(&loaded.messages, &live.messages);
    prop_assert_eq!(&loaded.queues, &live.queues);
    prop_assert_eq!(loaded.progress, live.progress);
    Ok(())
}

/// Runs frames; after some of them a batch is written, after some the process starts again.
fn run(
    frames: &[(Vec<Step>, u8)],
    trees: &Trees,
    plain: &mut Plain,
) -> Result<Run<MemoryLog>, TestCaseError> {
    let mut run = Run::new(memory_log());
    run.frame(first_facts());
    (plain.users, plain.channels, plain.newest) = (3, 2, 4_090);
    for (channel, user) in [(1, 1), (1, 2), (2, 1)] {
        plain.subscriptions.insert((channel, user), Subscription::start("#76ce90".into(), MessageId(0)));
    }
    for (steps, write) in frames {
        let facts: Vec<Fact> = steps.iter().flat_map(|step| plain.facts(step)).collect();
        run.frame(facts);
        match write % 16 {
            0 => {
                run.write_all(trees);
                let loaded = trees.load(REALM).map_err(|error| TestCaseError::fail(error.to_string()))?;
                let loaded = loaded.ok_or_else(|| TestCaseError::fail("nothing is in the trees"))?;
                check_same(run.view(), &loaded)?;
                run.view = Some(loaded);
            }
            count @ 1..8 => run.write(trees, usize::from(count)),
            _ => {}
        }
    }
    Ok(run)
}

fn folders() -> (TempDir, Trees, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let trees = trees(folder.path());
    (folder, trees, tempfile::tempdir().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn memory_trees_and_log_say_the_same(
        frames in proptest::collection::vec((proptest::collection::vec(step(), 0..4), any::<u8>()), 1..60),
    ) {
        let (_folder, trees, scratch) = folders();
        let mut plain = Plain::default();
        let mut run = run(&frames, &trees, &mut plain)?;
        plain.check(run.view())?;
        // Again and again: rows are absolute, so it makes no difference.
        let last: Vec<_> = run.waiting.iter().map(|applied| crate::Applied {
            realm: applied.realm,
            progress: applied.progress,
            rows: applied.rows.clone(),
            stored: Arc::default(),
        }).collect();
        run.write_all(&trees);
        let rows: Vec<_> = trees.rows(REALM).map(Result::unwrap).collect();
        trees.write(last).unwrap();
        prop_assert_eq!(&rows, &trees.rows(REALM).map(Result::unwrap).collect::<Vec<_>>());

        let loaded = trees.load(REALM).unwrap().unwrap();
        check_same(run.view(), &loaded)?;
        plain.check(&loaded)?;
        let compared = compare(&run.log, &trees, REALM, scratch.path()).unwrap();
        prop_assert!(compared.is_clean(), "{:?}", compared.listed);
        prop_assert_eq!(compared.rows, rows.len() as u64);
    }

    #[test]
    fn trees_that_stopped_anywhere_are_brought_up(
        frames in proptest::collection::vec((proptest::collection::vec(step(), 0..4), 1u8..16), 1..40),
    ) {
        let (_folder, trees, scratch) = folders();
        let mut plain = Plain::default();
        let run = run(&frames, &trees, &mut plain)?;
        // What waited is lost, as in a kill.
        let lagging = trees.load(REALM).unwrap();
        let view = replay(&run.log, &trees, REALM, lagging).unwrap().unwrap();
        check_same(run.view(), &view)?;
        let compared = compare(&run.log, &trees, REALM, scratch.path()).unwrap();
        prop_assert!(compared.is_clean(), "{:?}", compared.listed);
    }
}
