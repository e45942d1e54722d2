//! What an organization's actor must know to decide, ahead of the disk, and the decisions. No actor,
//! no clock, no storage.

use super::messages::{NewChannel, NewUser};
use crate::draft::{Destination, Draft, mention_flags};
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{
    ChannelId, Directory, Fact, Flag, Flags, Place, QueueId, Role, Subscription, Timestamp, User, UserId,
};
use rules::permissions::roles::system_groups_of;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The topic of notices about a channel.
const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// What was decided about names and queues and is not durable yet.
#[derive(Clone, Debug, Default)]
pub struct RealmState {
    channel_names: HashSet<String>,
    emails: HashSet<String>,
    ended_queues: HashSet<QueueId>,
}

impl RealmState {
    /// Decides a new user: the record, the groups of the role, and the first subscriptions.
    ///
    /// # Errors
    /// `EmailInUse`.
    pub fn create_user(
        &self,
        directory: &Directory,
        new: NewUser,
        ids: &mut Sequencer,
        now: Timestamp,
    ) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let is_taken = directory.user_by_email(&new.email).is_some();
        if is_taken || self.emails.contains(&new.email.to_lowercase()) {
            return Err(DomainError::EmailInUse(new.email));
        }
        let last = ids.last_message();
        let user = new_user(ids.take_user(), &new, now);
        let mut facts = vec![Fact::UserCreated(Box::new(user.clone()))];
        facts.extend(join_groups(directory, &user, now));
        let mut used: Vec<&str> = Vec::new();
        for channel in first_channels(directory, &new) {
            let color = rules::colors::pick_color(used.iter().copied());
            used.push(color);
            let subscribers = vec![(user.id, Subscription::start(color.to_owned(), last))];
            facts.push(Fact::Subscribed { channel, subscribers, by: user.id });
        }
        Ok((Arc::new(user), facts))
    }

    /// Decides a new channel with its first subscribers and its first message.
    ///
    /// # Errors
    /// `ChannelExists`.
    pub fn create_channel(
        &self,
        directory: &Directory,
        new: NewChannel,
        ids: &mut Sequencer,
        now: Timestamp,
    ) -> Result<(ChannelId, Vec<Fact>), DomainError> {
        let mut channel = new.channel;
        let is_taken = directory.channel_by_name(&channel.name).is_some();
        if is_taken || self.channel_names.contains(&channel.name.to_lowercase()) {
            return Err(DomainError::ChannelExists(channel.name));
        }
        channel.id = ids.take_channel();
        channel.recipient = ids.take_recipient();
        channel.created = now;
        let last = ids.last_message();
        let (id, recipient) = (channel.id, channel.recipient);
        let notice_topic = notice_topic(&channel);
        let mut facts = vec![Fact::ChannelCreated(Box::new(channel))];
        let start = |(user, color)| (user, Subscription::start(color, last));
        let subscribers: Vec<(UserId, Subscription)> = new.subscribers.into_iter().map(start).collect();
        let readers: Vec<UserId> = subscribers.iter().map(|(user, _)| *user).collect();
        if !subscribers.is_empty() {
            facts.push(Fact::Subscribed { channel: id, subscribers, by: new.by });
        }
        if new.is_default {
            let mut defaults = directory.realm().default_channels.clone();
            defaults.push(id);
            facts.push(Fact::DefaultChannelsChanged(defaults));
        }
        if let Some(notice) = new.notice.filter(|_| !readers.is_empty())
            && let Some(sender) = directory.user(notice.sender)
        {
            let mut flags = mention_flags(&notice.rendered, directory, |user| readers.contains(&user));
            mark_read(&mut flags, notice.read_by, &readers);
            let draft = Draft {
                sender: sender.clone(),
                content: notice.content,
                rendered: notice.rendered,
                client: "Internal".into(),
                read_by_sender: false,
                echo: None,
            };
            let place = Place::Channel { channel: id, topic: notice_topic.to_owned() };
            let destination = Destination { recipient, place, topic_links: Vec::new() };
            let message = draft.into_message(ids.take_message()?, now, destination, flags);
            facts.push(Fact::MessageSent { message: Arc::new(message), echo: None });
        }
        Ok((id, facts))
    }

    /// Whether a queue has ended, and the end is not durable yet.
    pub fn has_ended(&self, queue: &QueueId) -> bool {
        self.ended_queues.contains(queue)
    }

    /// Remembers names that are on their way to the disk, and forgets them when they have arrived.
    pub fn apply(&mut self, facts: &[Fact], is_durable: bool) {
        for fact in facts {
            if let Fact::QueueEnded(queue) = fact {
                if is_durable {
                    self.ended_queues.remove(queue);
                } else {
                    self.ended_queues.insert(queue.clone());
                }
            }
            let (set, name) = match fact {
                Fact::ChannelCreated(channel) | Fact::ChannelChanged(channel) => {
                    (&mut self.channel_names, &channel.name)
                }
                Fact::UserCreated(user) => (&mut self.emails, &user.delivery_email),
                _ => continue,
            };
            if is_durable {
                set.remove(&name.to_lowercase());
            } else {
                set.insert(name.to_lowercase());
            }
        }
    }
}

/// A channel without named topics has its notices in the one it has.
fn notice_topic(channel: &model::Channel) -> &'static str {
    if channel.topics_policy == model::TopicsPolicy::EmptyTopicOnly { "" } else { CHANNEL_EVENTS_TOPIC }
}

/// Who caused a notice has read it.
fn mark_read(flags: &mut BTreeMap<UserId, Flags>, user: UserId, readers: &[UserId]) {
    if readers.contains(&user) {
        let entry = flags.entry(user).or_default();
        *entry = entry.with(Flag::Read);
    }
}

/// A user's record.
pub(crate) fn new_user(id: UserId, new: &NewUser, now: Timestamp) -> User {
    User {
        id,
        delivery_email: new.email.clone(),
        full_name: new.full_name.clone(),
        role: new.role,
        is_active: true,
        bot: new.bot.clone(),
        joined: now,
        timezone: new.timezone.clone(),
        avatar_version: 1,
        password_hash: new.password_hash.clone(),
        api_key_rotation: 0,
        settings: Default::default(),
        profile_data: Default::default(),
    }
}

/// The facts that make a new user a direct member of the system groups of the role.
pub(crate) fn join_groups(directory: &Directory, user: &User, now: Timestamp) -> Vec<Fact> {
    let waiting_days = rules::settings::realm_int(directory.realm(), "waiting_period_threshold").unwrap_or(0);
    let names = system_groups_of(user, waiting_days.unsigned_abs(), now);
    let groups = names.iter().filter_map(|name| directory.group_by_name(name));
    groups
        .map(|group| Fact::GroupMembersChanged { group: group.id, added: vec![user.id], removed: Vec::new() })
        .collect()
}

/// Default channels for people who are not guests, and the ones asked for.
fn first_channels(directory: &Directory, new: &NewUser) -> Vec<ChannelId> {
    let mut channels = new.channels.clone();
    if new.bot.is_none() && new.role != Role::Guest {
        channels.extend(&directory.realm().default_channels);
    }
    channels.sort();
    channels.dedup();
    channels.retain(|id| directory.channel(*id).is_some_and(|channel| !channel.is_archived));
    channels
}
