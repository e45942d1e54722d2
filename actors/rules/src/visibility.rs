//! What users see of topics: what counts as muted, and which policies the server sets by itself
//! (endpoints.md 1, "Automatic visibility policy").

use crate::settings;
use model::{User, VisibilityPolicy};

/// Whether a topic is muted for somebody: by its own policy, or because the channel is.
pub fn is_muted(is_channel_muted: bool, policy: VisibilityPolicy) -> bool {
    match policy {
        VisibilityPolicy::Muted => true,
        VisibilityPolicy::Unmuted | VisibilityPolicy::Followed => false,
        VisibilityPolicy::Inherit => is_channel_muted,
    }
}

/// What the automatic policies ask about a message in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    /// The sender muted the channel.
    pub is_channel_muted: bool,
    /// The sender's policy for the topic before.
    pub policy: VisibilityPolicy,
    /// The message is the first one of its topic.
    pub starts_topic: bool,
}

/// When something is done by itself: the codes of both automatic settings.
fn is_due(code: i64, starts_topic: bool) -> bool {
    match code {
        // Taking part, and sending.
        1 | 2 => true,
        // Starting the topic.
        3 => starts_topic,
        _ => false,
    }
}

/// The policy that a sender gets for the topic by writing in it; none if nothing changes. Bots get none.
pub fn automatic_policy(sender: &User, participation: Participation) -> Option<VisibilityPolicy> {
    let Participation { is_channel_muted, policy, starts_topic } = participation;
    if sender.is_bot() || policy == VisibilityPolicy::Followed {
        return None;
    }
    if is_due(settings::user_int(sender, "automatically_follow_topics_policy"), starts_topic) {
        return Some(VisibilityPolicy::Followed);
    }
    let unmute = settings::user_int(sender, "automatically_unmute_topics_in_muted_streams_policy");
    let is_hidden = is_channel_muted || policy == VisibilityPolicy::Muted;
    let unmutes = is_hidden && policy != VisibilityPolicy::Unmuted && is_due(unmute, starts_topic);
    unmutes.then_some(VisibilityPolicy::Unmuted)
}

/// The policy that somebody gets for the topic by being mentioned by name in it; none if nothing changes.
pub fn policy_when_mentioned(user: &User, policy: VisibilityPolicy) -> Option<VisibilityPolicy> {
    let follows = !user.is_bot() && settings::user_bool(user, "automatically_follow_topics_where_mentioned");
    (follows && policy != VisibilityPolicy::Followed).then_some(VisibilityPolicy::Followed)
}

/// Which muted messages `first_unread` passes over (endpoints.md 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedMuting {
    /// None: the narrow is about direct messages.
    Nothing,
    /// Topics muted by themselves: the narrow names a channel, so that it is muted does not matter.
    Topics,
    /// Whatever counts as muted.
    TopicsAndChannels,
}

impl SkippedMuting {
    /// Whether unread messages of a topic are passed over.
    pub fn skips(self, is_channel_muted: bool, policy: VisibilityPolicy) -> bool {
        match self {
            Self::Nothing => false,
            Self::Topics => policy == VisibilityPolicy::Muted,
            Self::TopicsAndChannels => is_muted(is_channel_muted, policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
    use model::SettingValue;

    #[test]
    fn muted_by_topic_or_channel() {
        for (channel, policy, muted) in [
            (false, Inherit, false),
            (true, Inherit, true),
            (false, Muted, true),
            (true, Unmuted, false),
            (true, Followed, false),
        ] {
            assert_eq!(is_muted(channel, policy), muted);
            assert_eq!(SkippedMuting::TopicsAndChannels.skips(channel, policy), muted);
            assert_eq!(SkippedMuting::Topics.skips(channel, policy), policy == Muted);
            assert!(!SkippedMuting::Nothing.skips(channel, policy));
        }
    }

    #[test]
    fn sending_follows_and_unmutes_as_set() {
        // follow, unmute, channel muted, policy before, starts the topic → policy after
        for (follow, unmute, is_channel_muted, policy, starts_topic, expected) in [
            (3, 2, false, Inherit, true, Some(Followed)),
            (3, 2, false, Inherit, false, None),
            (3, 2, true, Inherit, false, Some(Unmuted)),
            (3, 2, false, Muted, false, Some(Unmuted)),
            (3, 2, true, Unmuted, false, None),
            (3, 2, true, Followed, true, None),
            (1, 4, false, Inherit, false, Some(Followed)),
            (2, 4, false, Muted, false, Some(Followed)),
            (1, 1, true, Unmuted, false, Some(Followed)),
            (4, 3, true, Inherit, false, None),
            (4, 3, true, Inherit, true, Some(Unmuted)),
            (4, 1, false, Inherit, true, None),
            (4, 4, true, Muted, true, None),
        ] {
            let mut sender = fixture::member();
            for (name, code) in [
                ("automatically_follow_topics_policy", follow),
                ("automatically_unmute_topics_in_muted_streams_policy", unmute),
            ] {
                sender.settings.insert(name.into(), SettingValue::Int(code));
            }
            let participation = Participation { is_channel_muted, policy, starts_topic };
            assert_eq!(
                automatic_policy(&sender, participation),
                expected,
                "{follow} {unmute} {participation:?}"
            );
        }
    }

    #[test]
    fn mentions_follow_unless_told_not_to() {
        let mut user = fixture::member();
        assert_eq!(policy_when_mentioned(&user, Inherit), Some(Followed));
        assert_eq!(policy_when_mentioned(&user, Followed), None);
        user.settings.insert("automatically_follow_topics_where_mentioned".into(), SettingValue::Bool(false));
        assert_eq!(policy_when_mentioned(&user, Inherit), None);
        let dir = fixture::directory();
        let bot = dir.user(fixture::BOT).unwrap();
        assert_eq!(policy_when_mentioned(bot, Inherit), None);
        let first = Participation { is_channel_muted: false, policy: Inherit, starts_topic: true };
        assert_eq!(automatic_policy(bot, first), None);
    }
}
