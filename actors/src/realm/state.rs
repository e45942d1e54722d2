//! What an organization's actor must know to decide, ahead of the disk, and the decisions. No actor,
//! no clock, no storage.

use super::messages::NewUser;
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{ChannelId, Directory, Fact, QueueId, Role, Subscription, Timestamp, User, UserId};
use rules::permissions::roles::system_groups_of;
use std::collections::HashSet;
use std::sync::Arc;

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

    /// Whether a channel name is taken, or about to be.
    pub fn is_channel_name_taken(&self, directory: &Directory, name: &str) -> bool {
        directory.channel_by_name(name).is_some() || self.channel_names.contains(&name.to_lowercase())
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
