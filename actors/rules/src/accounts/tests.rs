use super::*;
use crate::fixture::{
    self, ADMINISTRATOR, BOT, FORMER, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
};
use model::SettingValue;

const SECOND_OWNER: UserId = UserId(20);

fn with_second_owner() -> Directory {
    let mut dir = fixture::directory();
    dir.put_user(fixture::user(SECOND_OWNER, "second", Role::Owner));
    dir
}

fn role(role: Role) -> AccountUpdate {
    AccountUpdate { role: Some(role), ..AccountUpdate::default() }
}

fn update(dir: &Directory, by: UserId, about: UserId, change: AccountUpdate) -> Result<User, String> {
    let by = dir.user(by).unwrap();
    check_account_update(dir, by, about, change).map_err(|error| error.to_string())
}

#[test]
fn who_may_change_an_account() {
    let dir = fixture::directory();
    let name = || AccountUpdate { full_name: Some(" New  Name ".into()), ..AccountUpdate::default() };
    for (by, about, allowed) in [
        (OWNER, MEMBER, true),
        (ADMINISTRATOR, OWNER, true),
        (ADMINISTRATOR, FORMER, true),
        (MODERATOR, MEMBER, false),
        (MEMBER, OTHER_MEMBER, false),
        (MEMBER, MEMBER, false),
        (GUEST, MEMBER, false),
        (MEMBER, BOT, true),
        (OTHER_MEMBER, BOT, false),
    ] {
        let changed = update(&dir, by, about, name()).map(|user| user.full_name);
        let expected =
            if allowed { Ok("New  Name".to_owned()) } else { Err("Insufficient permission".to_owned()) };
        assert_eq!(changed, expected, "{by:?} {about:?}");
    }
    for about in [SYSTEM_BOT, UserId(99)] {
        assert_eq!(update(&dir, OWNER, about, name()), Err("No such user".to_owned()));
    }
}

#[test]
fn only_owners_change_who_is_an_owner_and_one_remains() {
    let one = fixture::directory();
    let two = with_second_owner();
    let only = "The owner permission cannot be removed from the only organization owner.";
    let owner = "Must be an organization owner";
    let administrator = "Must be an organization administrator";
    for (dir, by, about, to, refusal) in [
        (&one, OWNER, MEMBER, Role::Owner, None),
        (&one, ADMINISTRATOR, MEMBER, Role::Owner, Some(owner)),
        (&one, ADMINISTRATOR, OWNER, Role::Member, Some(owner)),
        (&one, ADMINISTRATOR, OWNER, Role::Owner, None),
        (&one, OWNER, OWNER, Role::Administrator, Some(only)),
        (&two, OWNER, OWNER, Role::Administrator, None),
        (&two, OWNER, SECOND_OWNER, Role::Guest, None),
        (&one, ADMINISTRATOR, ADMINISTRATOR, Role::Guest, None),
        (&one, ADMINISTRATOR, MEMBER, Role::Moderator, None),
        (&one, MEMBER, BOT, Role::Administrator, Some(administrator)),
    ] {
        let changed = update(dir, by, about, role(to));
        assert_eq!(changed.as_ref().err().map(String::as_str), refusal, "{by:?} {about:?} {to:?}");
        assert!(refusal.is_some() || changed.unwrap().role == to);
    }
}

#[test]
fn only_flagged_accounts_change_addresses() {
    let mut dir = fixture::directory();
    let email = |email: &str| AccountUpdate { new_email: Some(email.into()), ..AccountUpdate::default() };
    let not_allowed = "User not authorized to change user emails";
    assert_eq!(update(&dir, OWNER, MEMBER, email("new@example.org")), Err(not_allowed.to_owned()));
    assert!(update(&dir, OWNER, MEMBER, email(" member@example.org ")).is_ok(), "it is that already");
    let mut owner = User::clone(dir.user(OWNER).unwrap());
    owner.settings.insert(CAN_CHANGE_USER_EMAILS.into(), SettingValue::Bool(true));
    dir.put_user(owner);
    let changed = update(&dir, OWNER, MEMBER, email("new@example.org")).unwrap();
    assert_eq!(changed.delivery_email, "new@example.org");
    assert!(update(&dir, OWNER, MEMBER, email("MEMBER@example.org")).is_ok(), "spelled in another way");
    for (address, msg) in [
        ("nonsense", "Invalid new email address."),
        ("Other@example.org", "New email value error: Already has an account."),
    ] {
        assert_eq!(update(&dir, OWNER, MEMBER, email(address)), Err(msg.to_owned()));
    }
}

#[test]
fn names_are_checked_and_blank_ones_change_nothing() {
    let dir = fixture::directory();
    let name = |name: &str| AccountUpdate { full_name: Some(name.into()), ..AccountUpdate::default() };
    for (raw, expected) in [
        (" member ", Ok("member")),
        ("", Err("Name too short!")),
        (" \n", Err("Name too short!")),
        ("x", Err("Name too short!")),
        ("a@b", Err("Invalid characters in name!")),
        ("Ada|12", Err("Invalid format!")),
    ] {
        let changed = update(&dir, ADMINISTRATOR, MEMBER, name(raw)).map(|user| user.full_name);
        assert_eq!(changed, expected.map(str::to_owned).map_err(str::to_owned), "{raw:?}");
    }
}

#[test]
fn who_may_deactivate_an_account() {
    let one = fixture::directory();
    let two = with_second_owner();
    for (dir, by, about, refusal) in [
        (&one, ADMINISTRATOR, MEMBER, None),
        (&one, ADMINISTRATOR, ADMINISTRATOR, None),
        (&one, OWNER, GUEST, None),
        (&one, MODERATOR, GUEST, Some("Insufficient permission")),
        (&one, MEMBER, UserId(99), Some("No such user")),
        (&one, ADMINISTRATOR, OWNER, Some("Must be an organization owner")),
        (&one, OWNER, OWNER, Some("Cannot deactivate the only organization owner")),
        (&two, OWNER, SECOND_OWNER, None),
        (&one, OWNER, BOT, Some("No such user")),
        (&one, OWNER, SYSTEM_BOT, Some("No such user")),
        (&one, OWNER, UserId(99), Some("No such user")),
        (&one, OWNER, FORMER, Some("User is deactivated")),
    ] {
        let decided =
            check_deactivation(dir, dir.user(by).unwrap(), about).map_err(|error| error.to_string());
        assert_eq!(decided.err().as_deref(), refusal, "{by:?} {about:?}");
    }
}

#[test]
fn the_last_owner_and_the_last_user_cannot_leave() {
    let dir = fixture::directory();
    let own = |dir: &Directory, id| {
        check_own_deactivation(dir, dir.user(id).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(own(&dir, MEMBER), Ok(()));
    assert_eq!(own(&dir, OWNER), Err("Cannot deactivate the only organization owner.".to_owned()));
    assert_eq!(own(&with_second_owner(), OWNER), Ok(()));
    let mut alone = Directory::new(fixture::realm());
    alone.put_user(fixture::member());
    assert_eq!(own(&alone, MEMBER), Err("Cannot deactivate the only user.".to_owned()));
    // A deactivated owner does not count.
    let mut former = with_second_owner();
    former.put_user(User { is_active: false, ..User::clone(former.user(SECOND_OWNER).unwrap()) });
    assert!(own(&former, OWNER).is_err());
}

#[test]
fn who_may_reactivate_an_account() {
    let dir = fixture::directory();
    for (by, about, refusal) in [
        (ADMINISTRATOR, FORMER, None),
        (MODERATOR, FORMER, Some("Insufficient permission")),
        (ADMINISTRATOR, MEMBER, None),
        (ADMINISTRATOR, UserId(99), Some("No such user")),
    ] {
        let decided =
            check_reactivation(&dir, dir.user(by).unwrap(), about).map_err(|error| error.to_string());
        assert_eq!(decided.err().as_deref(), refusal, "{by:?} {about:?}");
    }
}

#[test]
fn bots_are_deactivated_with_their_owner() {
    let mut dir = fixture::directory();
    assert_eq!(accounts_to_deactivate(&dir, MEMBER), [BOT, MEMBER]);
    assert_eq!(accounts_to_deactivate(&dir, OTHER_MEMBER), [OTHER_MEMBER]);
    dir.put_user(User { is_active: false, ..User::clone(dir.user(BOT).unwrap()) });
    assert_eq!(accounts_to_deactivate(&dir, MEMBER), [MEMBER]);
}
