//! Who may send direct messages to whom (docs/api/messages.md#direct-message-permissions).

use crate::error::RuleError;
use crate::permissions::group_setting::{holds_realm, realm_group_setting};
use crate::permissions::users::{api_email, find_user_by_email, sees_user};
use crate::settings::RealmPermission;
use model::{Directory, GroupSetting, User, UserId};

/// Finds the people of a direct message by id. The result has the sender in it, is sorted and without doubles.
/// `NoRecipients`, `InvalidUserId`.
pub fn find_recipients_by_id(dir: &Directory, sender: &User, ids: &[i64]) -> Result<Vec<UserId>, RuleError> {
    let mut users = Vec::with_capacity(ids.len() + 1);
    for id in ids {
        let user = u32::try_from(*id).ok().and_then(|id| dir.user(UserId(id)));
        users.push(user.ok_or(RuleError::InvalidUserId { id: *id })?.id);
    }
    participants(sender.id, users)
}

/// Finds the people of a direct message by addresses that the sender may see, likewise; blank ones do not count.
/// `NoRecipients`, `InvalidEmail`.
pub fn find_recipients_by_email(
    dir: &Directory,
    sender: &User,
    emails: &[impl AsRef<str>],
) -> Result<Vec<UserId>, RuleError> {
    let mut users = Vec::with_capacity(emails.len() + 1);
    for email in
        emails.iter().map(|email| crate::text::strip(email.as_ref())).filter(|email| !email.is_empty())
    {
        let missing = || RuleError::InvalidEmail { email: email.to_owned() };
        users.push(find_user_by_email(dir, Some(sender), email).ok_or_else(missing)?.id);
    }
    participants(sender.id, users)
}

fn participants(sender: UserId, mut users: Vec<UserId>) -> Result<Vec<UserId>, RuleError> {
    if users.is_empty() {
        return Err(RuleError::NoRecipients);
    }
    users.push(sender);
    users.sort_unstable();
    users.dedup();
    Ok(users)
}

/// Whether somebody may write to these participants (sorted, the sender included). A conversation exists once it
/// has a message.
pub fn check_direct(
    dir: &Directory,
    sender: &User,
    participants: &[UserId],
    conversation_exists: bool,
) -> Result<(), RuleError> {
    let people: Vec<&User> = participants.iter().filter_map(|id| dir.user(*id)).map(|user| &**user).collect();
    let others = || people.iter().copied().filter(|user| user.id != sender.id);
    if !others().all(|other| sees_user(dir, sender, other)) {
        return Err(RuleError::RecipientsInaccessible);
    }
    let is_with_bots_only = others().all(User::is_bot);
    if !sender.is_bot() && !is_with_bots_only {
        check_authorized(dir, sender, participants, conversation_exists)?;
    }
    match others().find(|other| !other.is_active) {
        Some(gone) => Err(RuleError::RecipientDeactivated { email: api_email(dir, gone).into_owned() }),
        None => Ok(()),
    }
}

fn check_authorized(
    dir: &Directory,
    sender: &User,
    participants: &[UserId],
    conversation_exists: bool,
) -> Result<(), RuleError> {
    let authorizers = realm_group_setting(dir, RealmPermission::DirectMessage);
    if !participants.iter().any(|user| dir.holds(&authorizers, *user)) {
        return Err(match is_nobody(dir, &authorizers) {
            true => RuleError::DirectMessagesDisabled,
            false => RuleError::DirectMessagesUnauthorized,
        });
    }
    if !conversation_exists && !holds_realm(dir, RealmPermission::DirectMessageInitiator, sender.id) {
        return Err(RuleError::DirectInitiationNotPermitted);
    }
    Ok(())
}

fn is_nobody(dir: &Directory, setting: &GroupSetting) -> bool {
    matches!(setting, GroupSetting::Group(id) if dir.group(*id).is_some_and(|group| group.name == "role:nobody"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, BOT, FORMER, GUEST, MEMBER, OTHER_MEMBER, OWNER, SYSTEM_BOT};
    use model::{Role, SettingValue};

    #[test]
    fn recipients_are_found_with_the_sender() {
        let mut dir = fixture::directory();
        let mut owner = fixture::user(OWNER, "owner", Role::Owner);
        owner.settings.insert("email_address_visibility".into(), SettingValue::Int(4));
        dir.put_user(owner);
        let sender = dir.user(MEMBER).unwrap();
        let by_id = |ids: &[i64]| find_recipients_by_id(&dir, sender, ids);
        assert_eq!(by_id(&[6, 1, 6]), Ok(vec![OWNER, MEMBER, GUEST]));
        assert_eq!(by_id(&[4]), Ok(vec![MEMBER]));
        assert_eq!(by_id(&[]), Err(RuleError::NoRecipients));
        for id in [99_999, -1, i64::MAX] {
            assert_eq!(by_id(&[id]), Err(RuleError::InvalidUserId { id }));
        }
        let by_email = |emails: &[&str]| find_recipients_by_email(&dir, sender, emails);
        let found = by_email(&[" GUEST@example.org", "user1@chat.example.org", "Member@example.org"]);
        assert_eq!(found, Ok(vec![OWNER, MEMBER, GUEST]));
        assert_eq!(by_email(&["", " "]), Err(RuleError::NoRecipients));
        for hidden in ["x@y", "owner@example.org"] {
            assert_eq!(by_email(&[hidden]), Err(RuleError::InvalidEmail { email: hidden.into() }));
        }
    }

    #[test]
    fn who_writes_to_whom() {
        let group = |name: &str| SettingValue::Group(fixture::group(name));
        let nobody = [("direct_message_permission_group", group("role:nobody"))];
        let owners = [("direct_message_permission_group", group("role:owners"))];
        let members = [("can_access_all_users_group", group("role:members"))];
        let initiators = [("direct_message_initiator_group", group("role:owners"))];
        let gone = RuleError::RecipientDeactivated { email: "former@example.org".into() };
        let none: [(&str, SettingValue); 0] = [];
        type Case<'c> = (&'c [(&'c str, SettingValue)], UserId, &'c [UserId], bool, Result<(), RuleError>);
        let cases: &[Case] = &[
            (&none, MEMBER, &[MEMBER, OTHER_MEMBER], false, Ok(())),
            (&none, MEMBER, &[MEMBER], false, Ok(())),
            (&none, MEMBER, &[MEMBER, FORMER], false, Err(gone)),
            (&nobody, MEMBER, &[MEMBER, OTHER_MEMBER], true, Err(RuleError::DirectMessagesDisabled)),
            (&nobody, MEMBER, &[MEMBER, BOT], false, Ok(())),
            (&nobody, MEMBER, &[MEMBER], false, Ok(())),
            (&nobody, SYSTEM_BOT, &[MEMBER, SYSTEM_BOT], false, Ok(())),
            (&owners, MEMBER, &[MEMBER, OTHER_MEMBER], true, Err(RuleError::DirectMessagesUnauthorized)),
            (&owners, MEMBER, &[OWNER, MEMBER], false, Ok(())),
            (
                &initiators,
                MEMBER,
                &[MEMBER, OTHER_MEMBER],
                false,
                Err(RuleError::DirectInitiationNotPermitted),
            ),
            (&initiators, MEMBER, &[MEMBER, OTHER_MEMBER], true, Ok(())),
            (&members, GUEST, &[MEMBER, GUEST], false, Err(RuleError::RecipientsInaccessible)),
            (&members, GUEST, &[GUEST, BOT], false, Ok(())),
        ];
        for (settings, sender, people, exists, expected) in cases {
            let mut dir = fixture::directory();
            for (name, value) in *settings {
                fixture::set_realm(&mut dir, name, value.clone());
            }
            let sender = dir.user(*sender).unwrap();
            assert_eq!(&check_direct(&dir, sender, people, *exists), expected, "{settings:?} {people:?}");
        }
    }
}
