//! Who may send direct messages to whom (docs/api/messages.md#direct-message-permissions).

use crate::error::RuleError;
use crate::permissions::group_setting::{holds_realm, realm_group_setting};
use crate::permissions::users::{api_email, find_user_by_email, sees_user};
use crate::settings::RealmPermission;
use model::{Directory, GroupSetting, User, UserId};
use std::collections::BTreeSet;

/// Maximum number of participants of a new direct message, the sender included. Stored conversations may have more.
const PARTICIPANTS_MAX: usize = 250;

/// Finds the participants of a direct message by ids. The result is sorted and includes the sender. `NoRecipients`,
/// `InvalidUserId`, `TooManyParticipants`.
pub fn find_recipients_by_id(dir: &Directory, sender: &User, ids: &[i64]) -> Result<Vec<UserId>, RuleError> {
    let users = ids.iter().map(|id| {
        let user = u32::try_from(*id).ok().and_then(|id| dir.user(UserId(id)));
        user.map(|user| user.id).ok_or(RuleError::InvalidUserId { id: *id })
    });
    participants(sender.id, users.collect::<Result<_, _>>()?)
}

/// Finds the participants of a direct message by addresses that the sender may see, likewise; blank ones are ignored.
/// `NoRecipients`, `InvalidEmail`, `TooManyParticipants`.
pub fn find_recipients_by_email(
    dir: &Directory,
    sender: &User,
    emails: &[impl AsRef<str>],
) -> Result<Vec<UserId>, RuleError> {
    let emails =
        emails.iter().map(|email| crate::text::strip(email.as_ref())).filter(|email| !email.is_empty());
    let users = emails.map(|email| {
        let found = find_user_by_email(dir, Some(sender), email).map(|user| user.id);
        found.ok_or_else(|| RuleError::InvalidEmail { email: email.to_owned() })
    });
    participants(sender.id, users.collect::<Result<_, _>>()?)
}

fn participants(sender: UserId, mut users: BTreeSet<UserId>) -> Result<Vec<UserId>, RuleError> {
    if users.is_empty() {
        return Err(RuleError::NoRecipients);
    }
    users.insert(sender);
    if users.len() > PARTICIPANTS_MAX {
        return Err(RuleError::TooManyParticipants { limit: PARTICIPANTS_MAX });
    }
    Ok(users.into_iter().collect())
}

/// Whether a user may send to these participants (sorted, including the sender). A conversation exists once it has a
/// message.
pub fn check_direct(
    dir: &Directory,
    sender: &User,
    participants: &[UserId],
    conversation_exists: bool,
) -> Result<(), RuleError> {
    let mut others = others(dir, sender, participants);
    if !others.clone().all(|other| sees_user(dir, sender, other)) {
        return Err(RuleError::RecipientsInaccessible);
    }
    check_authorized(dir, sender, participants, conversation_exists)?;
    match others.find(|other| !other.is_active) {
        Some(other) => Err(RuleError::RecipientDeactivated { email: api_email(dir, other).into_owned() }),
        None => Ok(()),
    }
}

/// Whether the settings of the organization allow the direct messages of a user to these participants (sorted, including
/// the sender), deactivated ones included. `DirectMessagesDisabled`, `DirectMessagesUnauthorized`,
/// `DirectInitiationNotPermitted`.
pub fn check_authorized(
    dir: &Directory,
    sender: &User,
    participants: &[UserId],
    conversation_exists: bool,
) -> Result<(), RuleError> {
    if sender.is_bot() || others(dir, sender, participants).all(User::is_bot) {
        return Ok(());
    }
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

/// The participants other than the sender.
fn others<'d>(
    dir: &'d Directory,
    sender: &User,
    participants: &'d [UserId],
) -> impl Iterator<Item = &'d User> + Clone {
    let sender = sender.id;
    let users = participants.iter().filter_map(move |id| dir.user(*id)).map(|user| &**user);
    users.filter(move |user| user.id != sender)
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
    fn recipients_include_the_sender() {
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
    fn new_messages_have_a_limited_number_of_participants() {
        let mut dir = fixture::directory();
        // With the sender one more than there may be.
        let ids: Vec<i64> = (1_000..1_250).collect();
        for id in 1_000..1_250 {
            dir.put_user(fixture::user(UserId(id), &format!("person{id}"), Role::Member));
        }
        let sender = dir.user(MEMBER).unwrap();
        let refused = RuleError::TooManyParticipants { limit: PARTICIPANTS_MAX };
        assert_eq!(find_recipients_by_id(&dir, sender, &ids), Err(refused.clone()));
        let emails: Vec<String> = ids.iter().map(|id| format!("person{id}@example.org")).collect();
        assert_eq!(find_recipients_by_email(&dir, sender, &emails), Err(refused));
        // Each counts once, and the sender is one of them.
        let mut most = ids[1..].to_vec();
        most.extend_from_slice(&ids[1..]);
        most.push(MEMBER.0.into());
        let found = find_recipients_by_id(&dir, sender, &most).unwrap();
        assert_eq!(found.len(), PARTICIPANTS_MAX);
        // A conversation with more stays permitted.
        let stored: Vec<UserId> = std::iter::once(MEMBER).chain((1_000..1_250).map(UserId)).collect();
        assert_eq!(check_direct(&dir, sender, &stored, true), Ok(()));
    }

    #[test]
    fn sending_direct_messages_needs_permission() {
        let group = |name: &str| SettingValue::Group(fixture::group(name));
        let no_users = [("direct_message_permission_group", group("role:nobody"))];
        let owners = [("direct_message_permission_group", group("role:owners"))];
        let members = [("can_access_all_users_group", group("role:members"))];
        let initiators = [("direct_message_initiator_group", group("role:owners"))];
        let deactivated = RuleError::RecipientDeactivated { email: "former@example.org".into() };
        let none: [(&str, SettingValue); 0] = [];
        type Case<'c> = (&'c [(&'c str, SettingValue)], UserId, &'c [UserId], bool, Result<(), RuleError>);
        let cases: &[Case] = &[
            (&none, MEMBER, &[MEMBER, OTHER_MEMBER], false, Ok(())),
            (&none, MEMBER, &[MEMBER], false, Ok(())),
            (&none, MEMBER, &[MEMBER, FORMER], false, Err(deactivated)),
            (&no_users, MEMBER, &[MEMBER, OTHER_MEMBER], true, Err(RuleError::DirectMessagesDisabled)),
            (&no_users, MEMBER, &[MEMBER, BOT], false, Ok(())),
            (&no_users, MEMBER, &[MEMBER], false, Ok(())),
            (&no_users, SYSTEM_BOT, &[MEMBER, SYSTEM_BOT], false, Ok(())),
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
