//! Which recipients of a message get a push notification or an e-mail (docs/api/push.md#what-is-notified).

use crate::settings::{Setting, user_row};
use crate::visibility::is_muted;
use model::{Flag, Flags, Subscription, User, VisibilityPolicy};

/// Seconds without activity after which a user is away.
pub const AWAY_SECS: u64 = 140;

// A wildcard mention reads them of thousands of users.
const ONLINE_PUSH: &Setting = user_row("enable_online_push_notifications");
const OFFLINE_PUSH: &Setting = user_row("enable_offline_push_notifications");
const FOLLOWED_PUSH: &Setting = user_row("enable_followed_topic_push_notifications");
const CHANNEL_PUSH: &Setting = user_row("enable_stream_push_notifications");
const OFFLINE_MAIL: &Setting = user_row("enable_offline_email_notifications");
const FOLLOWED_MAIL: &Setting = user_row("enable_followed_topic_email_notifications");
const CHANNEL_MAIL: &Setting = user_row("enable_stream_email_notifications");
const FOLLOWED_WILDCARD: &Setting = user_row("enable_followed_topic_wildcard_mentions_notify");
const WILDCARD: &Setting = user_row("wildcard_mentions_notify");

const MAIL_DELAY: &Setting = user_row("email_notifications_batching_period_seconds");

/// Seconds from a message to the e-mail about it.
pub fn mail_delay_secs(user: &User) -> u64 {
    u64::try_from(MAIL_DELAY.int_in(&user.settings).unwrap_or_default()).unwrap_or_default()
}

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

/// Which notifications a user has enabled, by push or by e-mail.
#[derive(Clone, Copy, Debug)]
struct Enabled {
    direct_and_mentions: bool,
    followed_topics: bool,
    /// All messages of the channel.
    all_messages: bool,
}

impl Receipt<'_> {
    /// Whether the user gets a push notification, and why.
    pub fn push(&self) -> Option<Trigger> {
        if self.is_excluded() || self.is_present && !self.wants(ONLINE_PUSH) {
            return None;
        }
        let own = self.subscription.and_then(|subscription| subscription.push_notifications);
        self.trigger(Enabled {
            direct_and_mentions: self.wants(OFFLINE_PUSH),
            followed_topics: self.wants(FOLLOWED_PUSH),
            all_messages: own.unwrap_or_else(|| self.wants(CHANNEL_PUSH)),
        })
    }

    /// Whether the user gets an e-mail if the message stays unread, and why.
    pub fn mail(&self) -> Option<Trigger> {
        if self.is_excluded() || self.is_present {
            return None;
        }
        let own = self.subscription.and_then(|subscription| subscription.email_notifications);
        self.trigger(Enabled {
            direct_and_mentions: self.wants(OFFLINE_MAIL),
            followed_topics: self.wants(FOLLOWED_MAIL),
            all_messages: own.unwrap_or_else(|| self.wants(CHANNEL_MAIL)),
        })
    }

    fn wants(&self, setting: &Setting) -> bool {
        setting.bool_in(&self.user.settings)
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

    /// The reason to notify the user of the message.
    fn trigger(&self, enabled: Enabled) -> Option<Trigger> {
        let Some(subscription) = self.subscription else {
            return enabled.direct_and_mentions.then_some(Trigger::Direct);
        };
        if enabled.direct_and_mentions && self.flags.contains(Flag::Mentioned) {
            return Some(Trigger::Mention);
        }
        let is_wildcard = self.flags.contains(Flag::ChannelWildcardMentioned)
            || self.flags.contains(Flag::TopicWildcardMentioned);
        let follows = self.policy == VisibilityPolicy::Followed;
        let is_visible = !is_muted(subscription.is_muted, self.policy);
        if enabled.direct_and_mentions && is_wildcard && is_visible {
            if follows && self.wants(FOLLOWED_WILDCARD) {
                return Some(Trigger::FollowedWildcard);
            }
            let own = subscription.wildcard_mentions_notify;
            if own.unwrap_or_else(|| self.wants(WILDCARD)) {
                return Some(Trigger::Wildcard);
            }
        }
        if enabled.followed_topics && follows {
            return Some(Trigger::FollowedTopic);
        }
        (enabled.all_messages && is_visible).then_some(Trigger::Channel)
    }
}

#[cfg(test)]
mod tests;
