//! Which recipients of a message get a push notification or an e-mail (docs/api/push.md#what-is-notified).

use crate::settings::user_bool;
use crate::visibility::is_muted;
use model::{Flag, Flags, Subscription, User, VisibilityPolicy};

/// Seconds without activity after which a user is away.
pub const AWAY_SECS: u64 = 140;

/// The reason of a notification; the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// A direct message.
    Direct,
    /// A mention by name or through a group.
    Mention,
    /// A wildcard mention in a followed topic.
    FollowedWildcard,
    /// A wildcard mention in the topic or the channel.
    Wildcard,
    /// A message in a followed topic.
    FollowedTopic,
    /// A message in a channel with notifications of all messages.
    Channel,
}

/// A message and one of its recipients.
#[derive(Clone, Copy, Debug)]
pub struct Receipt<'a> {
    pub user: &'a User,
    pub sender: &'a User,
    /// The user's settings for the channel; none for direct messages.
    pub subscription: Option<&'a Subscription>,
    /// The user's policy for the topic.
    pub policy: VisibilityPolicy,
    pub flags: Flags,
    pub mutes_sender: bool,
    /// Active within [`AWAY_SECS`].
    pub is_present: bool,
}

impl Receipt<'_> {
    /// Whether the user gets a push notification, and why.
    pub fn push(&self) -> Option<Trigger> {
        if self.is_excluded() || self.is_present && !self.wants("enable_online_push_notifications") {
            return None;
        }
        let always = self.wants("enable_offline_push_notifications");
        let followed = self.wants("enable_followed_topic_push_notifications");
        let own = self.subscription.and_then(|subscription| subscription.push_notifications);
        let channel = own.unwrap_or_else(|| self.wants("enable_stream_push_notifications"));
        self.trigger(always, followed, channel)
    }

    /// Whether the user gets an e-mail if the message stays unread, and why.
    pub fn mail(&self) -> Option<Trigger> {
        if self.is_excluded() || self.is_present {
            return None;
        }
        let always = self.wants("enable_offline_email_notifications");
        let followed = self.wants("enable_followed_topic_email_notifications");
        let own = self.subscription.and_then(|subscription| subscription.email_notifications);
        let channel = own.unwrap_or_else(|| self.wants("enable_stream_email_notifications"));
        self.trigger(always, followed, channel)
    }

    fn wants(&self, setting: &str) -> bool {
        user_bool(self.user, setting)
    }

    /// Whether the user never gets a notification of the message: sent, read or muted by the user.
    fn is_excluded(&self) -> bool {
        let user = self.user;
        user.is_bot()
            || !user.is_active
            || user.id == self.sender.id
            || self.mutes_sender
            || self.flags.contains(Flag::Read)
            || self.flags.contains(Flag::Historical)
    }

    /// `always`, `followed`, `channel`: whether the user wants notifications of direct messages and mentions, of followed
    /// topics, and of all messages.
    fn trigger(&self, always: bool, followed: bool, channel: bool) -> Option<Trigger> {
        let Some(subscription) = self.subscription else { return always.then_some(Trigger::Direct) };
        if always && self.flags.contains(Flag::Mentioned) {
            return Some(Trigger::Mention);
        }
        let is_wildcard = self.flags.contains(Flag::ChannelWildcardMentioned)
            || self.flags.contains(Flag::TopicWildcardMentioned);
        let follows = self.policy == VisibilityPolicy::Followed;
        let is_visible = !is_muted(subscription.is_muted, self.policy);
        if always && is_wildcard && is_visible {
            if follows && self.wants("enable_followed_topic_wildcard_mentions_notify") {
                return Some(Trigger::FollowedWildcard);
            }
            let own = subscription.wildcard_mentions_notify;
            if own.unwrap_or_else(|| self.wants("wildcard_mentions_notify")) {
                return Some(Trigger::Wildcard);
            }
        }
        if followed && follows {
            return Some(Trigger::FollowedTopic);
        }
        (channel && is_visible).then_some(Trigger::Channel)
    }
}

#[cfg(test)]
mod tests;
