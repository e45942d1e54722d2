//! Which users a requester may see, and by which e-mail address (docs/api/permissions.md#visibility-of-users,
//! docs/api/permissions.md#e-mail-addresses).

use crate::permissions::group_setting::holds_realm;
use crate::settings::{RealmPermission, Setting, user_row};
use model::{Directory, Subscription, User, UserId};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The users that a viewer may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserScope {
    All,
    /// For restricted guests: bots, and users who share a channel or a direct conversation with the guest.
    Only(BTreeSet<UserId>),
}

impl UserScope {
    /// Whether it includes a user.
    pub fn contains(&self, id: UserId) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(&id),
        }
    }
}

/// Whether a viewer may see only some users: guests outside `can_access_all_users_group`.
pub fn is_restricted(dir: &Directory, viewer: &User) -> bool {
    viewer.is_guest() && !holds_realm(dir, RealmPermission::AccessAllUsers, viewer.id)
}

/// The users that a viewer may see, for lists; see `sees_user` for a single user.
pub fn user_scope(dir: &Directory, viewer: &User) -> UserScope {
    if !is_restricted(dir, viewer) {
        return UserScope::All;
    }
    let mut ids = BTreeSet::from([viewer.id]);
    ids.extend(dir.users().filter(|user| user.is_bot()).map(|user| user.id));
    for (channel, subscription) in dir.subscriptions_of_user(viewer.id) {
        if subscription.is_active {
            ids.extend(dir.subscriber_ids(channel));
        }
    }
    for direct in dir.directs_of(viewer.id) {
        ids.extend(direct.users.iter().copied());
    }
    UserScope::Only(ids)
}

/// The name of hidden users (docs/api/permissions.md#visibility-of-users).
pub const UNKNOWN_NAME: &str = "Unknown user";

/// A user's name as a reader sees it: that of hidden and missing users is [`UNKNOWN_NAME`].
pub fn shown_name<'d>(dir: &'d Directory, reader: &User, user: UserId) -> &'d str {
    let seen = dir.user(user).filter(|user| sees_user(dir, reader, user));
    seen.map_or(UNKNOWN_NAME, |user| &user.full_name)
}

/// Whether a viewer may see a user. Expensive for restricted guests only.
pub fn sees_user(dir: &Directory, viewer: &User, user: &User) -> bool {
    if viewer.id == user.id || user.is_bot() || !is_restricted(dir, viewer) {
        return true;
    }
    let shares_channel = |(channel, subscription): (_, &Arc<Subscription>)| {
        subscription.is_active && user.is_active && dir.is_subscribed(channel, user.id)
    };
    dir.subscriptions_of_user(viewer.id).any(shares_channel)
        || dir.directs_of(viewer.id).any(|direct| direct.users.binary_search(&user.id).is_ok())
}

const ADDRESS_VISIBILITY: &Setting = user_row("email_address_visibility");
/// Codes of this setting.
const EVERYONE: i64 = 1;
const MEMBERS: i64 = 2;
const ADMINISTRATORS: i64 = 3;
const MODERATORS: i64 = 5;

/// A user's real address, if the viewer may see it (none: a viewer without an account). Users always see their own
/// address and those of bots.
pub fn shown_delivery_email<'u>(dir: &Directory, viewer: Option<&User>, user: &'u User) -> Option<&'u str> {
    let may_see = match viewer {
        Some(viewer) if viewer.id == user.id => true,
        Some(viewer) => sees_address(viewer, user) && sees_user(dir, viewer, user),
        None => user.is_bot() || is_address_public(user),
    };
    may_see.then_some(user.delivery_email.as_str())
}

fn sees_address(viewer: &User, user: &User) -> bool {
    if user.is_bot() {
        return true;
    }
    match ADDRESS_VISIBILITY.int_in(&user.settings) {
        Some(EVERYONE) => true,
        Some(MEMBERS) => !viewer.is_guest(),
        Some(ADMINISTRATORS) => viewer.is_administrator(),
        Some(MODERATORS) => viewer.is_moderator(),
        _ => false,
    }
}

fn is_address_public(user: &User) -> bool {
    ADDRESS_VISIBILITY.int_in(&user.settings) == Some(EVERYONE)
}

/// A user's API address, the same for all viewers: the real one if everyone may see it, otherwise `user{id}@{domain}`.
pub fn api_email<'u>(dir: &Directory, user: &'u User) -> Cow<'u, str> {
    if user.is_bot() || is_address_public(user) {
        Cow::Borrowed(&user.delivery_email)
    } else {
        Cow::Owned(dir.made_up_email(user.id))
    }
}

/// Finds a user by the API address, or by the real address if the viewer may see it: otherwise it could be guessed.
pub fn find_user_by_email<'d>(
    dir: &'d Directory,
    viewer: Option<&User>,
    email: &str,
) -> Option<&'d Arc<User>> {
    let user = dir.user_by_email(email)?;
    let is_real = user.delivery_email.to_lowercase() == email.to_lowercase();
    (!is_real || shown_delivery_email(dir, viewer, user).is_some()).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        self, ADMINISTRATOR, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
    };
    use model::{DirectConversation, RecipientId, SettingValue};

    #[test]
    fn restricted_guests_see_users_with_shared_conversations() {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(1, "general"));
        fixture::subscribe(&mut dir, 1, GUEST, 0);
        fixture::subscribe(&mut dir, 1, MEMBER, 0);
        dir.put_direct(DirectConversation { recipient: RecipientId(9), users: vec![MODERATOR, GUEST] });
        let known = |dir: &Directory, viewer| -> Vec<UserId> {
            let viewer = dir.user(viewer).unwrap();
            let scope = user_scope(dir, viewer);
            let found: Vec<UserId> =
                dir.users().filter(|user| sees_user(dir, viewer, user)).map(|user| user.id).collect();
            for user in dir.users() {
                assert_eq!(scope.contains(user.id), found.contains(&user.id), "{}", user.full_name);
            }
            found
        };
        assert_eq!(known(&dir, GUEST).len(), 9);
        let members = SettingValue::Group(fixture::group("role:members"));
        fixture::set_realm(&mut dir, "can_access_all_users_group", members);
        assert_eq!(known(&dir, GUEST), [MODERATOR, MEMBER, GUEST, BOT, SYSTEM_BOT]);
        assert_eq!(known(&dir, OTHER_MEMBER).len(), 9);
        fixture::unsubscribe(&mut dir, 1, GUEST, 5);
        assert_eq!(known(&dir, GUEST), [MODERATOR, GUEST, BOT, SYSTEM_BOT]);
    }

    #[test]
    fn addresses_are_shown_by_setting_of_their_owner() {
        let viewers = [OWNER, ADMINISTRATOR, MODERATOR, OTHER_MEMBER, GUEST, MEMBER];
        for (visibility, shown) in [
            (1, [true, true, true, true, true, true]),
            (2, [true, true, true, true, false, true]),
            (3, [true, true, false, false, false, true]),
            (4, [false, false, false, false, false, true]),
            (5, [true, true, true, false, false, true]),
        ] {
            let mut dir = fixture::directory();
            let mut user = fixture::member();
            user.settings.insert("email_address_visibility".into(), SettingValue::Int(visibility));
            dir.put_user(user.clone());
            let found = viewers.map(|viewer| {
                shown_delivery_email(&dir, dir.user(viewer).map(|user| &**user), &user).is_some()
            });
            assert_eq!(found, shown, "{visibility}");
            assert_eq!(shown_delivery_email(&dir, None, &user).is_some(), visibility == 1);
            let expected = if visibility == 1 { "member@example.org" } else { "user4@chat.example.org" };
            assert_eq!(api_email(&dir, &user), expected);
        }
    }
}
