//! Push devices, shown notifications, and who is notified of what.

use super::Directory;
use super::TopicPolicies;
use super::records::{PushRecords, put_list};
use crate::ids::{ChannelId, MessageId, UserId};
use crate::push::{PushDevice, PushFact, PushToken};
use crate::subscription::Subscription;
use crate::topic::{TopicKey, VisibilityPolicy};
use crate::user::User;
use imbl::{HashMap, OrdSet};
use std::hash::Hash;

/// Maximum number of shown messages that are stored for one user; devices may show older ones.
const SHOWN_MAX: usize = 200;

impl PushRecords {
    /// Updates the indexes from a user's record.
    pub(super) fn note_user(&mut self, user: &User) {
        let hears = user.bool_setting("enable_stream_push_notifications", false)
            || user.bool_setting("enable_stream_email_notifications", false);
        match hears {
            true => self.candidates_everywhere.insert(user.id),
            false => self.candidates_everywhere.remove(&user.id),
        };
    }

    /// Updates the indexes from a subscription.
    pub(super) fn note_subscription(
        &mut self,
        channel: ChannelId,
        user: UserId,
        subscription: &Subscription,
    ) {
        let hears =
            subscription.push_notifications == Some(true) || subscription.email_notifications == Some(true);
        set_member(&mut self.notification_candidates, channel, user, hears && subscription.is_active);
    }

    /// Updates the indexes from a topic policy.
    pub(super) fn note_policy(
        &mut self,
        user: UserId,
        topic: (ChannelId, TopicKey),
        policy: VisibilityPolicy,
    ) {
        let (channel, topic) = topic;
        if policy != VisibilityPolicy::Inherit {
            self.policies.entry(channel).or_default().entry(topic).or_default().insert(user, policy);
            return;
        }
        let Some(topics) = self.policies.get_mut(&channel) else { return };
        if let Some(policies) = topics.get_mut(&topic)
            && policies.remove(&user).is_some()
            && policies.is_empty()
        {
            topics.remove(&topic);
        }
        if topics.is_empty() {
            self.policies.remove(&channel);
        }
    }
}

/// Adds a user to a set or removes them. Empty sets are removed, as in a directory loaded from storage.
fn set_member<K: Hash + Eq + Clone>(
    sets: &mut HashMap<K, OrdSet<UserId>>,
    key: K,
    user: UserId,
    is_in: bool,
) {
    if is_in {
        sets.entry(key).or_default().insert(user);
    } else if let Some(set) = sets.get_mut(&key)
        && set.remove(&user).is_some()
        && set.is_empty()
    {
        sets.remove(&key);
    }
}

impl Directory {
    /// A user's legacy push tokens, oldest first.
    pub fn push_tokens(&self, user: UserId) -> &[PushToken] {
        self.push.tokens.get(&user).map(|tokens| &**tokens).unwrap_or_default()
    }

    /// A user's devices, oldest first.
    pub fn push_devices(&self, user: UserId) -> &[PushDevice] {
        self.push.devices.get(&user).map(|devices| &**devices).unwrap_or_default()
    }

    /// Whether a user has a device that is registered with the push service.
    pub fn has_phone(&self, user: UserId) -> bool {
        !self.push_tokens(user).is_empty()
            || self.push_devices(user).iter().any(|device| device.service_id().is_some())
    }

    /// Ids of the messages that a user's devices show, ascending.
    pub fn push_shown(&self, user: UserId) -> &[MessageId] {
        self.push.shown.get(&user).map(|messages| &**messages).unwrap_or_default()
    }

    /// All users whose devices show a notification.
    pub fn push_shown_to(&self) -> impl Iterator<Item = UserId> {
        self.push.shown.keys().copied()
    }

    /// The last message for which notifications have been decided; none initially.
    pub fn notification_cursor(&self) -> Option<MessageId> {
        self.push.notification_cursor
    }

    /// Replaces the ids of the messages that a user's devices show, ascending.
    pub fn put_push_shown(&mut self, user: UserId, messages: Vec<MessageId>) {
        put_list(&mut self.push.shown, user, messages);
    }

    /// The policies for a topic, by user; none if it has none.
    pub fn topic_policies(&self, channel: ChannelId, topic: &str) -> Option<&TopicPolicies> {
        self.push.policies.get(&channel)?.get(&*TopicKey::fold(topic))
    }

    /// The followers of a topic.
    pub fn followers(&self, channel: ChannelId, topic: &str) -> impl Iterator<Item = UserId> {
        let policies = self.topic_policies(channel, topic).into_iter().flatten();
        policies.filter(|(_, policy)| **policy == VisibilityPolicy::Followed).map(|(user, _)| *user)
    }

    /// The users who are notified of every message in this channel or in all channels.
    pub fn notification_candidates(&self, channel: ChannelId) -> impl Iterator<Item = UserId> {
        let here = self.push.notification_candidates.get(&channel).into_iter().flatten();
        here.chain(&self.push.candidates_everywhere).copied()
    }

    /// How many those are; who is notified of both counts twice.
    pub fn notification_candidates_max(&self, channel: ChannelId) -> usize {
        let here = self.push.notification_candidates.get(&channel).map_or(0, OrdSet::len);
        here + self.push.candidates_everywhere.len()
    }

    /// Applies a fact about notifications.
    pub fn put_push(&mut self, fact: PushFact) {
        match fact {
            PushFact::TokensSet { user, tokens } => put_list(&mut self.push.tokens, user, tokens),
            PushFact::DevicesSet { user, devices, .. } => put_list(&mut self.push.devices, user, devices),
            PushFact::Shown { message, users } => {
                for user in users {
                    let mut messages = self.push_shown(user).to_vec();
                    if let Err(position) = messages.binary_search(&message) {
                        messages.insert(position, message);
                    }
                    let forgotten = messages.len().saturating_sub(SHOWN_MAX);
                    self.put_push_shown(user, messages.split_off(forgotten));
                }
            }
            PushFact::Unshown { user, messages } => {
                let shown = self.push_shown(user).iter();
                let rest = shown.copied().filter(|id| !messages.contains(id)).collect();
                self.put_push_shown(user, rest);
            }
            PushFact::NotificationCursorMoved(message) => self.push.notification_cursor = Some(message),
            PushFact::MissedNoted { message, users, due } => {
                users.into_iter().for_each(|user| self.note_missed(user, message, due));
            }
            PushFact::MissedNotedByMany { message, users, due } => {
                self.put_missed_by_many(due, message, Some(users));
            }
            PushFact::MissedDecided { users } => self.end_pending_mails(&users),
        }
    }
}
