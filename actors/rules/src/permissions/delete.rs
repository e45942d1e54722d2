//! Who may delete a message or a topic (docs/api/messages.md#delete-a-message).

use crate::error::{EditError, RuleError};
use crate::permissions::channel::{Archived, ChannelRef, ReadableChannel, access_channel_content};
use crate::permissions::edit::check_may_modify;
use crate::permissions::group_setting::holds_realm;
use crate::permissions::roles::check_administrator;
use crate::settings::{ChannelPermission, RealmPermission, realm_int};
use crate::topics::normalize_topic;
use model::{Directory, Message, Timestamp, User};

/// Whether a user may delete a message; `received` as in `can_read`. The caller detects a concurrent deletion
/// (`EditError::AlreadyDeleted`).
pub fn check_delete(
    dir: &Directory,
    requester: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
    now: Timestamp,
) -> Result<(), RuleError> {
    check_may_modify(dir, requester, message, received)?;
    let channel = message.place.channel().and_then(|id| dir.channel(id));
    let holds = |of_realm: RealmPermission, of_channel: ChannelPermission| {
        holds_realm(dir, of_realm, requester.id)
            || channel.is_some_and(|channel| dir.holds(of_channel.of(channel), requester.id))
    };
    if holds(RealmPermission::DeleteAnyMessage, ChannelPermission::DeleteAnyMessage) {
        return Ok(());
    }
    let may_own = holds(RealmPermission::DeleteOwnMessage, ChannelPermission::DeleteOwnMessage);
    let is_own = message.sender == requester.id || dir.bot_owner(message.sender) == Some(requester.id);
    if !is_own || !may_own {
        return Err(EditError::DeleteNotPermitted.into());
    }
    // No grace period, unlike for edits.
    let limit = realm_int(dir.realm(), "message_content_delete_limit_seconds");
    let limit_millis = limit.map(|secs| u64::try_from(secs).unwrap_or(0).saturating_mul(1000));
    if limit_millis.is_some_and(|limit| now.millis_since(message.sent) > limit) {
        return Err(EditError::DeleteTimeOver.into());
    }
    Ok(())
}

/// Finds the channel of a topic that an administrator deletes, with the part of its history that the administrator can
/// read, and the topic's normalized name. `AdministratorRequired`, `InvalidChannelId`.
pub fn access_topic_to_delete<'d, 't>(
    dir: &'d Directory,
    requester: &User,
    channel: i64,
    topic: &'t str,
) -> Result<(ReadableChannel<'d>, &'t str), RuleError> {
    check_administrator(requester)?;
    let channel = access_channel_content(dir, requester, ChannelRef::Id(channel), Archived::Refused)?;
    Ok((channel, normalize_topic(topic)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        self, ADMINISTRATOR, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
    };
    use model::{Channel, DirectConversation, GroupSetting, Place, RecipientId, SettingValue, UserId};

    const SENT: Timestamp = Timestamp(1_000_000);

    fn within_limit() -> Timestamp {
        SENT.plus_secs(600)
    }

    fn check(dir: &Directory, requester: UserId, sender: UserId, now: Timestamp) -> Result<(), RuleError> {
        let mut message = fixture::message(5, sender, fixture::in_channel(1, "lunch"));
        message.sent = SENT;
        check_delete(dir, dir.user(requester).unwrap(), &message, || true, now)
    }

    #[test]
    fn deleting_messages_needs_permission() {
        let refused = Err(RuleError::Edit(EditError::DeleteNotPermitted));
        let over = Err(RuleError::Edit(EditError::DeleteTimeOver));
        let only = |user| GroupSetting::only(user);
        let unchanged: fn(&mut Channel) = |_| {};
        // requester, sender, holders of `can_delete_own_message_group`, channel, seconds since sending → outcome
        type Case = (UserId, UserId, Option<GroupSetting>, fn(&mut Channel), u64, Result<(), RuleError>);
        let any_in_channel: fn(&mut Channel) = |channel| {
            channel.permissions.delete_any_message = GroupSetting::only(OTHER_MEMBER);
        };
        let own_in_channel: fn(&mut Channel) = |channel| {
            channel.permissions.delete_own_message = GroupSetting::only(MEMBER);
        };
        let cases: Vec<Case> = vec![
            (ADMINISTRATOR, MEMBER, None, unchanged, 1_000_000, Ok(())),
            (OWNER, MEMBER, None, unchanged, 0, Ok(())),
            (MODERATOR, MEMBER, None, unchanged, 0, refused.clone()),
            (MEMBER, MEMBER, None, unchanged, 600, Ok(())),
            (MEMBER, MEMBER, None, unchanged, 601, over.clone()),
            (MEMBER, BOT, None, unchanged, 600, Ok(())),
            (MEMBER, BOT, None, unchanged, 601, over.clone()),
            (OTHER_MEMBER, BOT, None, unchanged, 0, refused.clone()),
            (BOT, MEMBER, None, unchanged, 0, refused.clone()),
            (MEMBER, SYSTEM_BOT, None, unchanged, 0, refused.clone()),
            (OTHER_MEMBER, MEMBER, None, any_in_channel, 1_000_000, Ok(())),
            (MEMBER, MEMBER, Some(only(OWNER)), unchanged, 0, refused.clone()),
            (MEMBER, MEMBER, Some(only(OWNER)), own_in_channel, 0, Ok(())),
            (MEMBER, MEMBER, Some(only(OWNER)), own_in_channel, 601, over),
            (OTHER_MEMBER, MEMBER, None, own_in_channel, 0, refused),
        ];
        for (requester, sender, own, change, secs, expected) in cases {
            let mut dir = fixture::directory();
            let mut channel = fixture::channel(1, "general");
            change(&mut channel);
            dir.put_channel(channel);
            if let Some(own) = own {
                fixture::set_realm(&mut dir, "can_delete_own_message_group", SettingValue::Group(own));
            }
            let found = check(&dir, requester, sender, SENT.plus_secs(secs));
            assert_eq!(found, expected, "{requester} {sender} {secs}");
        }
    }

    #[test]
    fn inaccessible_messages_are_invalid() {
        let mut dir = fixture::directory();
        let mut channel = fixture::channel(1, "general");
        dir.put_channel(channel.clone());
        assert_eq!(check(&dir, GUEST, GUEST, SENT), Err(RuleError::InvalidMessage));
        channel.is_archived = true;
        dir.put_channel(channel);
        assert_eq!(check(&dir, OWNER, MEMBER, SENT), Err(RuleError::InvalidMessage));
    }

    #[test]
    fn direct_messages_have_only_permissions_of_the_organization() {
        let mut dir = fixture::directory();
        let recipient = RecipientId(1000);
        dir.put_direct(DirectConversation { recipient, users: vec![ADMINISTRATOR, MEMBER, OTHER_MEMBER] });
        let mut message = fixture::message(5, MEMBER, Place::Direct);
        message.sent = SENT;
        let check =
            |requester| check_delete(&dir, dir.user(requester).unwrap(), &message, || true, within_limit());
        assert_eq!(check(MEMBER), Ok(()));
        assert_eq!(check(ADMINISTRATOR), Ok(()));
        assert_eq!(check(OTHER_MEMBER), Err(EditError::DeleteNotPermitted.into()));
        assert_eq!(check(OWNER), Err(RuleError::InvalidMessage));
    }

    #[test]
    fn topics_are_deleted_by_administrators_who_can_read_them() {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(1, "general"));
        let mut secret = fixture::channel(2, "secret");
        secret.invite_only = true;
        dir.put_channel(secret);
        let mut old = fixture::channel(3, "old");
        old.is_archived = true;
        dir.put_channel(old);
        for (requester, channel, expected) in [
            (ADMINISTRATOR, 1, Ok(("general", ""))),
            (MODERATOR, 1, Err(RuleError::AdministratorRequired)),
            (MODERATOR, 99, Err(RuleError::AdministratorRequired)),
            (OWNER, 2, Err(RuleError::InvalidChannelId)),
            (OWNER, 3, Err(RuleError::InvalidChannelId)),
            (OWNER, 99, Err(RuleError::InvalidChannelId)),
        ] {
            let found = access_topic_to_delete(&dir, dir.user(requester).unwrap(), channel, " (no topic) ");
            let found = found.map(|(channel, topic)| (channel.channel().name.as_str(), topic));
            assert_eq!(found, expected, "{requester} {channel}");
        }
    }
}
