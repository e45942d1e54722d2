//! Whose phones get notifications, and of what they were told.

use super::Directory;
use crate::ids::{ChannelId, MessageId, UserId};
use crate::push::{PushDevice, PushFact, PushToken};
use crate::subscription::Subscription;
use crate::topic::{TopicKey, VisibilityPolicy};
use crate::user::User;
use imbl::{HashMap, OrdMap, OrdSet};
use std::hash::Hash;
use std::sync::Arc;

/// Messages that are remembered for one user; phones may go on showing older ones.
const SHOWN_MAX: usize = 200;

/// Everything about notifications in one organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PushRecords {
    tokens: OrdMap<UserId, Arc<[PushToken]>>,
    devices: OrdMap<UserId, Arc<[PushDevice]>>,
    shown: OrdMap<UserId, Arc<[MessageId]>>,
    noticed: Option<MessageId>,
    /// Topic → who follows it: asked for each message, and nobody else is looked at.
    followers: HashMap<(ChannelId, TopicKey), OrdSet<UserId>>,
    /// Channel → who wants to hear of everything in it.
    hearers: HashMap<ChannelId, OrdSet<UserId>>,
    /// Who wants to hear of everything in all of their channels.
    hearers_everywhere: OrdSet<UserId>,
}

impl PushRecords {
    /// Follows a user's record.
    pub(super) fn note_user(&mut self, user: &User) {
        let hears = user.bool_setting("enable_stream_push_notifications", false)
            || user.bool_setting("enable_stream_email_notifications", false);
        match hears {
            true => self.hearers_everywhere.insert(user.id),
            false => self.hearers_everywhere.remove(&user.id),
        };
    }

    /// Follows a subscription.
    pub(super) fn note_subscription(
        &mut self,
        channel: ChannelId,
        user: UserId,
        subscription: &Subscription,
    ) {
        let hears =
            subscription.push_notifications == Some(true) || subscription.email_notifications == Some(true);
        set_member(&mut self.hearers, channel, user, hears && subscription.is_active);
    }

    /// Follows a policy for a topic.
    pub(super) fn note_policy(
        &mut self,
        user: UserId,
        topic: (ChannelId, TopicKey),
        policy: VisibilityPolicy,
    ) {
        set_member(&mut self.followers, topic, user, policy == VisibilityPolicy::Followed);
    }
}

/// Puts a user into a set, or takes them out. A set without anybody is none: that is what reading from the rows gives.
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
    /// A user's phones of the older way, oldest first.
    pub fn push_tokens(&self, user: UserId) -> &[PushToken] {
        self.push.tokens.get(&user).map(|tokens| &**tokens).unwrap_or_default()
    }

    /// A user's phones, oldest first.
    pub fn push_devices(&self, user: UserId) -> &[PushDevice] {
        self.push.devices.get(&user).map(|devices| &**devices).unwrap_or_default()
    }

    /// Whether a user has a phone that the push service knows.
    pub fn has_phone(&self, user: UserId) -> bool {
        !self.push_tokens(user).is_empty()
            || self.push_devices(user).iter().any(|device| device.service_id().is_some())
    }

    /// Everybody who ever registered a phone that is still there.
    pub fn phone_owners(&self) -> impl Iterator<Item = UserId> {
        let (tokens, devices) = (&self.push.tokens, &self.push.devices);
        let only = devices.keys().filter(|user| !tokens.contains_key(*user));
        tokens.keys().chain(only).copied()
    }

    /// Whether anybody has registered a phone.
    pub fn has_phones(&self) -> bool {
        !self.push.tokens.is_empty() || !self.push.devices.is_empty()
    }

    /// Messages that a user's phones show, ascending.
    pub fn push_shown(&self, user: UserId) -> &[MessageId] {
        self.push.shown.get(&user).map(|messages| &**messages).unwrap_or_default()
    }

    /// Everybody whose phones show something.
    pub fn push_shown_to(&self) -> impl Iterator<Item = UserId> {
        self.push.shown.keys().copied()
    }

    /// Up to which message it has been decided who is notified; none if it never was.
    pub fn noticed_up_to(&self) -> Option<MessageId> {
        self.push.noticed
    }

    /// Sets which messages a user's phones show, ascending.
    pub fn put_push_shown(&mut self, user: UserId, messages: Vec<MessageId>) {
        if messages.is_empty() {
            self.push.shown.remove(&user);
        } else {
            self.push.shown.insert(user, messages.into());
        }
    }

    /// Who follows a topic.
    pub fn followers(&self, channel: ChannelId, topic: &TopicKey) -> impl Iterator<Item = UserId> {
        self.push.followers.get(&(channel, topic.clone())).into_iter().flatten().copied()
    }

    /// Who wants to hear of everything: in this channel, or wherever they are.
    pub fn hearers(&self, channel: ChannelId) -> impl Iterator<Item = UserId> {
        let here = self.push.hearers.get(&channel).into_iter().flatten();
        here.chain(&self.push.hearers_everywhere).copied()
    }

    /// Makes the records what a fact says.
    pub fn put_push(&mut self, fact: PushFact) {
        match fact {
            PushFact::TokensSet { user, tokens } if tokens.is_empty() => {
                self.push.tokens.remove(&user);
            }
            PushFact::TokensSet { user, tokens } => {
                self.push.tokens.insert(user, tokens.into());
            }
            PushFact::DevicesSet { user, devices, .. } if devices.is_empty() => {
                self.push.devices.remove(&user);
            }
            PushFact::DevicesSet { user, devices, .. } => {
                self.push.devices.insert(user, devices.into());
            }
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
            PushFact::NoticedUpTo(message) => self.push.noticed = Some(message),
        }
    }
}
