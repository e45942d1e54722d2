//! Which recipients of a message get a push notification or an e-mail (docs/api/push.md#what-is-notified).

use crate::settings::user_bool;
use crate::visibility::is_muted;
use model::{Flag, Flags, Subscription, User, VisibilityPolicy};

/// Seconds since the last sign of activity after which somebody is away.
pub const AWAY_SECS: u64 = 140;

/// Why somebody is told. The first that holds counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// It was written to them.
    Direct,
    /// They are mentioned, by name or through a group.
    Mention,
    /// Everybody is mentioned in a topic that they follow.
    FollowedWildcard,
    /// Everybody in the topic or the channel is mentioned.
    Wildcard,
    /// They follow the topic.
    FollowedTopic,
    /// They want to hear of everything in the channel.
    Channel,
}

/// A message as one of those has it who received it.
#[derive(Clone, Copy, Debug)]
pub struct Receipt<'a> {
    /// Who.
    pub user: &'a User,
    /// Who wrote it.
    pub sender: &'a User,
    /// What they have set for the channel; none for direct messages.
    pub subscription: Option<&'a Subscription>,
    /// Their policy for the topic.
    pub policy: VisibilityPolicy,
    /// What the message is to them.
    pub flags: Flags,
    /// They mute the sender.
    pub mutes_sender: bool,
    /// They are here: active within [`AWAY_SECS`].
    pub is_present: bool,
}

impl Receipt<'_> {
    /// Whether a phone shows it, and why.
    pub fn push(&self) -> Option<Trigger> {
        if self.is_out_of_question() || self.is_present && !self.wants("enable_online_push_notifications") {
            return None;
        }
        let always = self.wants("enable_offline_push_notifications");
        let followed = self.wants("enable_followed_topic_push_notifications");
        let own = self.subscription.and_then(|subscription| subscription.push_notifications);
        let channel = own.unwrap_or_else(|| self.wants("enable_stream_push_notifications"));
        self.trigger(always, followed, channel)
    }

    /// Whether an e-mail tells of it if it is still unread a while later, and why.
    pub fn mail(&self) -> Option<Trigger> {
        if self.is_out_of_question() || self.is_present {
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

    /// Nobody hears of what they wrote, read or do not want to hear.
    fn is_out_of_question(&self) -> bool {
        let user = self.user;
        user.is_bot()
            || !user.is_active
            || user.id == self.sender.id
            || self.mutes_sender
            || self.flags.contains(Flag::Read)
            || self.flags.contains(Flag::Historical)
    }

    /// `always`: told of what is meant for them. `followed`: told of topics that they follow. `channel`: of everything.
    fn trigger(&self, always: bool, followed: bool, channel: bool) -> Option<Trigger> {
        let Some(subscription) = self.subscription else { return always.then_some(Trigger::Direct) };
        if always && self.flags.contains(Flag::Mentioned) {
            return Some(Trigger::Mention);
        }
        let is_wildcard = self.flags.contains(Flag::ChannelWildcardMentioned)
            || self.flags.contains(Flag::TopicWildcardMentioned);
        let follows = self.policy == VisibilityPolicy::Followed;
        let is_heard = !is_muted(subscription.is_muted, self.policy);
        if always && is_wildcard && is_heard {
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
        (channel && is_heard).then_some(Trigger::Channel)
    }
}

#[cfg(test)]
mod tests;
