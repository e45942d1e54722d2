//! Visibility of topics: muted topics, automatic policies (docs/api/messages.md#automatic-topic-policy), and policies of
//! topics that move (docs/api/topics.md#visibility-policies).

use crate::error::RuleError;
use crate::permissions::channel::sees_channel;
use crate::settings;
use model::directory::TopicPolicies;
use model::{Channel, ChannelId, Directory, TopicKey, User, UserId, UserTopic, VisibilityPolicy};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of topics for which one account has a policy.
const TOPIC_POLICIES_MAX: usize = 10_000;

/// Whether a topic is muted for a user: by its own policy, or because the channel is.
pub fn is_muted(is_channel_muted: bool, policy: VisibilityPolicy) -> bool {
    match policy {
        VisibilityPolicy::Muted => true,
        VisibilityPolicy::Unmuted | VisibilityPolicy::Followed => false,
        VisibilityPolicy::Inherit => is_channel_muted,
    }
}

/// Parses an API code: `NotListed`.
pub fn parse_policy(code: i64) -> Result<VisibilityPolicy, RuleError> {
    match code {
        0 => Ok(VisibilityPolicy::Inherit),
        1 => Ok(VisibilityPolicy::Muted),
        2 => Ok(VisibilityPolicy::Unmuted),
        3 => Ok(VisibilityPolicy::Followed),
        _ => Err(RuleError::NotListed { name: "visibility_policy" }),
    }
}

/// Whether a user may have another policy than none for a topic with the policy `before`. At the limit, policies that are set
/// automatically are not set.
pub fn has_room_for_policy(dir: &Directory, user: UserId, before: VisibilityPolicy) -> bool {
    before != VisibilityPolicy::Inherit || dir.topic_count_of_user(user) < TOPIC_POLICIES_MAX
}

/// Whether a user may change the policy of a topic from `before` to `policy`: `TooManyTopicPolicies`.
pub fn check_room_for_policy(
    dir: &Directory,
    user: UserId,
    before: VisibilityPolicy,
    policy: VisibilityPolicy,
) -> Result<(), RuleError> {
    if policy == VisibilityPolicy::Inherit || has_room_for_policy(dir, user, before) {
        return Ok(());
    }
    Err(RuleError::TooManyTopicPolicies { limit: TOPIC_POLICIES_MAX })
}

/// The muted topics of a user with their channels, for clients that know these by name. Those of channels that the user may no
/// longer see are left out: a channel may have got another name since.
pub fn muted_topics<'d>(
    dir: &'d Directory,
    user: &'d User,
) -> impl Iterator<Item = (&'d Channel, &'d UserTopic)> {
    let muted = dir.topics_of_user(user.id).filter(|(_, _, topic)| topic.policy == VisibilityPolicy::Muted);
    // Topics are in the order of channels: access is checked once for each channel.
    let mut last: Option<(ChannelId, Option<&'d Arc<Channel>>)> = None;
    muted.filter_map(move |(id, _, topic)| {
        let channel = match last {
            Some((known, channel)) if known == id => channel,
            _ => dir.channel(id).filter(|channel| sees_channel(dir, user, channel)),
        };
        last = Some((id, channel));
        Some((&**channel?, &**topic))
    })
}

/// The input of the automatic policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    pub is_channel_muted: bool,
    /// The user's policy for the topic before.
    pub policy: VisibilityPolicy,
    /// The message is the first one of its topic.
    pub starts_topic: bool,
}

/// Code of both automatic settings for any participation.
const PARTICIPATION: i64 = 1;
/// Code of both for sending.
const SENDING: i64 = 2;
/// Code of both for starting a topic.
const INITIATION: i64 = 3;

/// The policy that a sender gets for the topic by sending to it; none if it is unchanged.
pub fn automatic_policy(sender: &User, participation: Participation) -> Option<VisibilityPolicy> {
    let is_due = |code| match code {
        PARTICIPATION | SENDING => true,
        INITIATION => participation.starts_topic,
        _ => false,
    };
    policy_for(sender, participation, is_due)
}

/// The policy that a user gets for the topic by reacting or voting in it; none if it is unchanged.
pub fn policy_of_participant(user: &User, participation: Participation) -> Option<VisibilityPolicy> {
    policy_for(user, participation, |code| code == PARTICIPATION)
}

/// The policy that the sender gets of a message that is moved and becomes the first one of a topic; none if it is
/// unchanged.
pub fn policy_of_starter(user: &User, participation: Participation) -> Option<VisibilityPolicy> {
    policy_for(user, participation, |code| code == INITIATION)
}

/// The effect of both automatic settings; `is_due` decides by their codes. Bots get no policy.
fn policy_for(
    user: &User,
    participation: Participation,
    is_due: impl Fn(i64) -> bool,
) -> Option<VisibilityPolicy> {
    let Participation { is_channel_muted, policy, .. } = participation;
    if user.is_bot() || policy == VisibilityPolicy::Followed {
        return None;
    }
    if is_due(settings::user_int(user, "automatically_follow_topics_policy")) {
        return Some(VisibilityPolicy::Followed);
    }
    let unmute = settings::user_int(user, "automatically_unmute_topics_in_muted_streams_policy");
    (is_muted(is_channel_muted, policy) && is_due(unmute)).then_some(VisibilityPolicy::Unmuted)
}

/// The policy that a user gets for the topic by a mention by name; none if it is unchanged.
pub fn policy_when_mentioned(user: &User, policy: VisibilityPolicy) -> Option<VisibilityPolicy> {
    let follows = !user.is_bot() && settings::user_bool(user, "automatically_follow_topics_where_mentioned");
    (follows && policy != VisibilityPolicy::Followed).then_some(VisibilityPolicy::Followed)
}

/// Changes of one user's policies when all of a topic moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyMove {
    pub user: UserId,
    /// The old topic had a policy, which is removed.
    pub resets_old: bool,
    /// The new policy of the new topic; none if it is unchanged.
    pub new: Option<VisibilityPolicy>,
}

/// The policy of a topic after another one moved into it. A topic without messages gets the policy of the other one; a
/// topic with messages gets the more visible of the two: followed, unmuted, none, muted.
fn merged_policy(
    moved: VisibilityPolicy,
    stays: VisibilityPolicy,
    destination_had_messages: bool,
) -> VisibilityPolicy {
    use VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
    // Without a policy for the old topic, a policy that was set in advance for the new one stays.
    if !destination_had_messages {
        return if moved == Inherit { stays } else { moved };
    }
    let visible_first = [Followed, Unmuted, Inherit, Muted];
    visible_first.into_iter().find(|policy| *policy == moved || *policy == stays).unwrap_or(Inherit)
}

/// What the messages of a topic that moves are to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedFor {
    /// Readable before and afterwards.
    Kept,
    /// Readable only before.
    Lost,
    /// Not readable before: the user must not learn of the move, nor the new name.
    Unseen,
}

/// Changes of all users' policies when all of a topic (as far as the requester can see it) moves, by user. Users who lose
/// access lose the policy of the old topic; for those who never had any, nothing changes. Moves within the same topic change
/// nothing. Costs a step for each policy of the two topics.
pub fn move_policies(
    dir: &Directory,
    (old_channel, old_topic): (ChannelId, &str),
    (new_channel, new_topic): (ChannelId, &str),
    destination_had_messages: bool,
    moved_for: impl Fn(UserId) -> MovedFor,
) -> Vec<PolicyMove> {
    let mut moves = Vec::new();
    if old_channel == new_channel && TopicKey::new(old_topic) == TopicKey::new(new_topic) {
        return moves;
    }
    let of_old = dir.topic_policies(old_channel, old_topic);
    let of_new = dir.topic_policies(new_channel, new_topic);
    let users = [of_old, of_new].into_iter().flatten().flat_map(|policies| policies.keys().copied());
    let users: BTreeSet<UserId> = users.collect();
    let policy_in = |policies: Option<&TopicPolicies>, user: UserId| {
        policies.and_then(|policies| policies.get(&user)).copied().unwrap_or_default()
    };
    for user in users {
        let (moved, stays) = (policy_in(of_old, user), policy_in(of_new, user));
        let resets_old = moved != VisibilityPolicy::Inherit;
        let merged = match moved_for(user) {
            MovedFor::Unseen => continue,
            MovedFor::Lost => stays,
            MovedFor::Kept => merged_policy(moved, stays, destination_had_messages),
        };
        let new = (merged != stays).then_some(merged);
        if resets_old || new.is_some() {
            moves.push(PolicyMove { user, resets_old, new });
        }
    }
    moves
}

/// The muted messages that the anchor `first_unread` skips (docs/api/messages.md#fetch-messages).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedMuting {
    /// None, for narrows to direct messages.
    Nothing,
    /// Topics with a muting policy, for narrows to a channel, muted or not.
    Topics,
    TopicsAndChannels,
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
        }
    }

    fn set(dir: &mut Directory, user: UserId, channel: u32, name: &str, policy: VisibilityPolicy) {
        let topic = UserTopic { name: name.into(), policy, updated: model::Timestamp(1) };
        dir.put_topic(user, ChannelId(channel), topic);
    }

    #[test]
    fn accounts_have_policies_up_to_the_limit() {
        let mut dir = fixture::directory();
        let user = fixture::MEMBER;
        (0..TOPIC_POLICIES_MAX - 1).for_each(|n| set(&mut dir, user, 1, &format!("topic {n}"), Muted));
        assert_eq!(check_room_for_policy(&dir, user, Inherit, Followed), Ok(()));
        set(&mut dir, user, 1, "last", Followed);
        let full = Err(RuleError::TooManyTopicPolicies { limit: TOPIC_POLICIES_MAX });
        assert_eq!(check_room_for_policy(&dir, user, Inherit, Followed), full);
        assert!(!has_room_for_policy(&dir, user, Inherit));
        // Changing and removing one needs no room.
        assert_eq!(check_room_for_policy(&dir, user, Muted, Followed), Ok(()));
        assert_eq!(check_room_for_policy(&dir, user, Inherit, Inherit), Ok(()));
        assert_eq!(check_room_for_policy(&dir, fixture::OWNER, Inherit, Muted), Ok(()));
        set(&mut dir, user, 1, "LAST", Unmuted);
        assert!(!has_room_for_policy(&dir, user, Inherit));
        set(&mut dir, user, 1, "last", Inherit);
        set(&mut dir, user, 1, "last", Inherit);
        assert_eq!(dir.topic_count_of_user(user), TOPIC_POLICIES_MAX - 1);
    }

    #[test]
    fn muted_topics_of_hidden_channels_are_left_out() {
        let mut dir = fixture::directory();
        let mut hidden = fixture::channel(2, "secret");
        hidden.invite_only = true;
        dir.put_channel(fixture::channel(1, "Verona"));
        dir.put_channel(hidden);
        for (channel, name, policy) in [(1, "lunch", Muted), (1, "dinner", Followed), (2, "plans", Muted)] {
            set(&mut dir, fixture::MEMBER, channel, name, policy);
        }
        set(&mut dir, fixture::OWNER, 2, "plans", Muted);
        let names = |user: UserId| -> Vec<(&str, &str)> {
            let muted = muted_topics(&dir, dir.user(user).unwrap());
            muted.map(|(channel, topic)| (channel.name.as_str(), topic.name.as_str())).collect()
        };
        assert_eq!(names(fixture::MEMBER), [("Verona", "lunch")]);
        assert_eq!(names(fixture::OWNER), [("secret", "plans")]);
    }

    #[test]
    fn sending_follows_and_unmutes_by_setting() {
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
    fn policies_have_codes() {
        for policy in [Inherit, Muted, Unmuted, Followed] {
            assert_eq!(parse_policy(policy.code().into()), Ok(policy));
        }
        for code in [-1, 4, 99] {
            let refused = parse_policy(code).unwrap_err();
            assert_eq!(refused, RuleError::NotListed { name: "visibility_policy" });
        }
    }

    #[test]
    fn policies_merge_to_the_more_visible() {
        // moved, stays → into a topic without messages, with messages
        for (moved, stays, empty, full) in [
            (Followed, Inherit, Followed, Followed),
            (Muted, Inherit, Muted, Inherit),
            (Inherit, Muted, Muted, Inherit),
            (Muted, Muted, Muted, Muted),
            (Unmuted, Followed, Unmuted, Followed),
            (Muted, Unmuted, Muted, Unmuted),
            (Inherit, Followed, Followed, Followed),
            (Inherit, Inherit, Inherit, Inherit),
        ] {
            assert_eq!(merged_policy(moved, stays, false), empty, "{moved:?} {stays:?}");
            assert_eq!(merged_policy(moved, stays, true), full, "{moved:?} {stays:?}");
        }
    }

    #[test]
    fn policies_move_with_their_topic() {
        let mut dir = fixture::directory();
        let mut set = |user, channel, name: &str, policy| {
            let topic = model::UserTopic { name: name.into(), policy, updated: model::Timestamp(1) };
            dir.put_topic(user, ChannelId(channel), topic);
        };
        set(fixture::MEMBER, 1, "Lunch", Followed);
        set(fixture::OTHER_MEMBER, 1, "lunch", Muted);
        set(fixture::OWNER, 2, "dinner", Muted);
        set(fixture::GUEST, 1, "lunch", Followed);
        set(fixture::MODERATOR, 1, "else", Followed);
        set(fixture::ADMINISTRATOR, 1, "lunch", Followed);
        let (old, new) = ((ChannelId(1), "lunch"), (ChannelId(2), "Dinner"));
        let moved_for = |user| match user {
            fixture::GUEST => MovedFor::Lost,
            fixture::ADMINISTRATOR => MovedFor::Unseen,
            _ => MovedFor::Kept,
        };
        let moves = |user, resets_old, new| PolicyMove { user, resets_old, new };
        assert_eq!(
            move_policies(&dir, old, new, false, moved_for),
            [
                moves(fixture::MEMBER, true, Some(Followed)),
                moves(fixture::OTHER_MEMBER, true, Some(Muted)),
                moves(fixture::GUEST, true, None),
            ]
        );
        assert_eq!(
            move_policies(&dir, old, new, true, moved_for),
            [
                moves(fixture::OWNER, false, Some(Inherit)),
                moves(fixture::MEMBER, true, Some(Followed)),
                moves(fixture::OTHER_MEMBER, true, None),
                moves(fixture::GUEST, true, None),
            ]
        );
        assert!(move_policies(&dir, old, (ChannelId(1), "LUNCH"), true, moved_for).is_empty());
    }

    #[test]
    fn moving_a_topic_asks_only_about_users_with_policies() {
        let mut dir = fixture::directory();
        for (user, channel, name) in
            [(fixture::MEMBER, 1, "lunch"), (fixture::OWNER, 2, "dinner"), (fixture::MODERATOR, 2, "lunch")]
        {
            let topic =
                model::UserTopic { name: name.into(), policy: Followed, updated: model::Timestamp(1) };
            dir.put_topic(user, ChannelId(channel), topic);
        }
        let asked = std::cell::RefCell::new(BTreeSet::new());
        let moved_for = |user| {
            asked.borrow_mut().insert(user);
            MovedFor::Kept
        };
        move_policies(&dir, (ChannelId(1), "lunch"), (ChannelId(2), "dinner"), true, moved_for);
        assert_eq!(asked.into_inner(), BTreeSet::from([fixture::MEMBER, fixture::OWNER]));
    }

    #[test]
    fn reacting_and_starting_by_a_move_follow_by_setting() {
        // follow, unmute, channel muted, policy before → of a participant, of a starter
        for (follow, unmute, is_channel_muted, policy, participant, starter) in [
            (3, 2, false, Inherit, None, Some(Followed)),
            (1, 2, false, Inherit, Some(Followed), None),
            (2, 2, true, Inherit, None, None),
            (4, 1, true, Inherit, Some(Unmuted), None),
            (4, 3, false, Muted, None, Some(Unmuted)),
            (4, 3, false, Inherit, None, None),
            (1, 3, false, Followed, None, None),
            (4, 1, true, Unmuted, None, None),
        ] {
            let mut user = fixture::member();
            for (name, code) in [
                ("automatically_follow_topics_policy", follow),
                ("automatically_unmute_topics_in_muted_streams_policy", unmute),
            ] {
                user.settings.insert(name.into(), SettingValue::Int(code));
            }
            let participation = Participation { is_channel_muted, policy, starts_topic: true };
            let found =
                (policy_of_participant(&user, participation), policy_of_starter(&user, participation));
            assert_eq!(found, (participant, starter), "{follow} {unmute} {is_channel_muted} {policy:?}");
        }
    }

    #[test]
    fn mentions_follow_unless_disabled() {
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
