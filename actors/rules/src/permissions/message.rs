//! Which messages a user may read, and which mentions a message may contain (docs/api/permissions.md#message-access,
//! docs/api/messages.md#wildcard-mentions).

use crate::error::RuleError;
use crate::permissions::channel::{History, history_of, is_granted_content};
use crate::permissions::group_setting::holds_realm;
use crate::permissions::spectators::is_shown_to_spectators;
use crate::settings::RealmPermission;
pub use model::ConversationId;
use model::{Channel, Directory, RecipientId, SubscriptionSpan, User, UserGroup, UserId};

/// Wildcard mentions of at most this many subscribers or participants need no permission.
pub const WILDCARD_PEOPLE_MAX: usize = 15;

/// Whether a user may read a message. `received` is called only for protected history: whether the message was delivered
/// to the user, by a subscription or a later move.
pub fn can_read(
    dir: &Directory,
    user: &User,
    conversation: ConversationId,
    received: impl FnOnce() -> bool,
) -> bool {
    match conversation {
        ConversationId::Direct(recipient) => is_participant(dir, recipient, user.id),
        ConversationId::Channel(id) => {
            let Some(channel) = dir.channel(id) else { return false };
            match history_of(dir, user, channel) {
                None => false,
                Some(History::Whole) => true,
                Some(History::Delivered(_)) => dir.is_subscribed(id, user.id) && received(),
            }
        }
    }
}

/// Whether a message is readable without an account: in a web-public channel, if the organization allows spectators.
pub fn is_publicly_readable(dir: &Directory, conversation: ConversationId) -> bool {
    let ConversationId::Channel(id) = conversation else { return false };
    dir.channel(id).is_some_and(|channel| is_shown_to_spectators(dir, channel))
}

/// Refuses a message that the user may not read like a missing one: `InvalidMessage`.
pub fn check_may_read(
    dir: &Directory,
    user: &User,
    conversation: ConversationId,
    received: impl FnOnce() -> bool,
) -> Result<(), RuleError> {
    if can_read(dir, user, conversation, received) { Ok(()) } else { Err(RuleError::InvalidMessage) }
}

fn is_participant(dir: &Directory, recipient: RecipientId, user: UserId) -> bool {
    dir.direct(recipient).is_some_and(|direct| direct.users.binary_search(&user).is_ok())
}

/// The channels in a user's own history (docs/api/narrow.md#searched-messages), each with the spans of delivered
/// messages: public ones for non-guests, subscribed ones, and those with content access by a group.
pub fn own_channel_history<'d>(
    dir: &'d Directory,
    user: &'d User,
) -> impl Iterator<Item = (&'d Channel, &'d [SubscriptionSpan])> {
    dir.subscriptions_of_user(user.id).filter_map(move |(id, subscription)| {
        let channel = dir.channel(id)?;
        keeps_own_history(dir, user, channel).then_some((&**channel, subscription.spans.as_slice()))
    })
}

/// Whether the messages of a channel that a user received or flagged are still in the user's own history.
pub fn keeps_own_history(dir: &Directory, user: &User, channel: &Channel) -> bool {
    if dir.is_subscribed(channel.id, user.id) {
        return true;
    }
    // Protected history needs a current subscription.
    let is_protected = channel.invite_only && !channel.history_public_to_subscribers;
    !is_protected && ((!channel.invite_only && !user.is_guest()) || is_granted_content(dir, user, channel))
}

/// The users whom a wildcard mention notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wildcard {
    /// All subscribers of the channel.
    Channel,
    /// All participants of the topic, the sender included.
    Topic,
}

/// Whether a user may notify this many others with a wildcard mention.
pub fn check_wildcard(
    dir: &Directory,
    sender: &User,
    wildcard: Wildcard,
    people: usize,
) -> Result<(), RuleError> {
    if people <= WILDCARD_PEOPLE_MAX || holds_realm(dir, RealmPermission::MentionManyUsers, sender.id) {
        return Ok(());
    }
    match wildcard {
        Wildcard::Channel => Err(RuleError::ChannelWildcardNotPermitted),
        Wildcard::Topic => Err(RuleError::TopicWildcardNotPermitted),
    }
}

/// Whether a user may mention a group with notification. System bots may mention any group.
pub fn check_group_mention(dir: &Directory, sender: &User, group: &UserGroup) -> Result<(), RuleError> {
    if sender.is_system_bot() || dir.holds(&group.permissions.mention, sender.id) {
        return Ok(());
    }
    Err(RuleError::GroupMentionNotPermitted { name: group.name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{ChannelId, DirectConversation, GroupSetting, MessageId};

    const NEVER: fn() -> bool = || panic!("called although delivery does not matter");

    #[test]
    fn direct_messages_are_readable_by_participants_only() {
        let mut dir = fixture::directory();
        let recipient = RecipientId(1000);
        dir.put_direct(DirectConversation { recipient, users: vec![fixture::MEMBER, fixture::GUEST] });
        for id in fixture::ALL_USERS {
            let expected = id == fixture::MEMBER || id == fixture::GUEST;
            let user = dir.user(id).unwrap();
            assert_eq!(can_read(&dir, user, ConversationId::Direct(recipient), NEVER), expected, "{id}");
        }
        assert!(!can_read(
            &dir,
            dir.user(fixture::MEMBER).unwrap(),
            ConversationId::Direct(RecipientId(1)),
            NEVER
        ));
        assert!(!is_publicly_readable(&dir, ConversationId::Direct(recipient)));
    }

    #[test]
    fn protected_history_needs_delivery_and_a_current_subscription() {
        let mut dir = fixture::directory();
        let mut channel = fixture::channel(1, "secret");
        channel.invite_only = true;
        channel.history_public_to_subscribers = false;
        channel.permissions.subscribe = GroupSetting::only(fixture::OTHER_MEMBER);
        dir.put_channel(channel);
        fixture::subscribe(&mut dir, 1, fixture::MEMBER, 10);
        fixture::subscribe(&mut dir, 1, fixture::GUEST, 10);
        fixture::unsubscribe(&mut dir, 1, fixture::GUEST, 20);
        let channel = ChannelId(1);
        let received =
            |user, id| dir.subscription(channel, user).is_some_and(|own| own.received(MessageId(id)));
        let reads = |user, id| {
            can_read(&dir, dir.user(user).unwrap(), ConversationId::Channel(channel), || received(user, id))
        };
        assert_eq!([10, 11, 500].map(|id| reads(fixture::MEMBER, id)), [false, true, true]);
        assert_eq!([10, 11, 500].map(|id| reads(fixture::GUEST, id)), [false; 3]);
        assert_eq!([10, 11, 500].map(|id| reads(fixture::OTHER_MEMBER, id)), [false; 3]);
        assert_eq!([10, 11, 500].map(|id| reads(fixture::OWNER, id)), [false; 3]);
    }

    #[test]
    fn own_history_has_only_accessible_channels() {
        let mut dir = fixture::directory();
        for (id, invite_only, shared) in [(1, false, true), (2, true, true), (3, true, false)] {
            let mut channel = fixture::channel(id, &format!("channel {id}"));
            channel.invite_only = invite_only;
            channel.history_public_to_subscribers = shared;
            if id > 1 {
                channel.permissions.subscribe = GroupSetting::only(fixture::OTHER_MEMBER);
            }
            dir.put_channel(channel);
            for user in [fixture::MEMBER, fixture::OTHER_MEMBER, fixture::GUEST] {
                fixture::subscribe(&mut dir, id, user, 0);
            }
        }
        let found = |dir: &Directory, user| -> Vec<u32> {
            own_channel_history(dir, dir.user(user).unwrap()).map(|(channel, _)| channel.id.0).collect()
        };
        assert_eq!(found(&dir, fixture::GUEST), [1, 2, 3]);
        for user in [fixture::MEMBER, fixture::OTHER_MEMBER, fixture::GUEST] {
            for id in 1..=3 {
                fixture::unsubscribe(&mut dir, id, user, 9);
            }
        }
        assert_eq!(found(&dir, fixture::MEMBER), [1]);
        assert_eq!(found(&dir, fixture::OTHER_MEMBER), [1, 2]);
        assert!(found(&dir, fixture::GUEST).is_empty());
    }

    #[test]
    fn mentions_of_many_need_permission() {
        let dir = fixture::directory();
        let member = dir.user(fixture::MEMBER).unwrap();
        let administrator = dir.user(fixture::ADMINISTRATOR).unwrap();
        assert_eq!(check_wildcard(&dir, member, Wildcard::Channel, 15), Ok(()));
        assert_eq!(
            check_wildcard(&dir, member, Wildcard::Channel, 16),
            Err(RuleError::ChannelWildcardNotPermitted)
        );
        assert_eq!(
            check_wildcard(&dir, member, Wildcard::Topic, 16),
            Err(RuleError::TopicWildcardNotPermitted)
        );
        assert_eq!(check_wildcard(&dir, administrator, Wildcard::Topic, 1000), Ok(()));
        let mut group = UserGroup::clone(dir.group_by_name("role:members").unwrap());
        assert!(check_group_mention(&dir, member, &group).is_err());
        assert!(check_group_mention(&dir, dir.user(fixture::SYSTEM_BOT).unwrap(), &group).is_ok());
        group.permissions.mention = GroupSetting::only(fixture::MEMBER);
        assert!(check_group_mention(&dir, member, &group).is_ok());
    }
}
