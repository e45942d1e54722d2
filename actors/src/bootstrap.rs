//! The first frame of an organization: the record, the system groups and the server's own bots.

use crate::error::DomainError;
use crate::realm::NewUser;
use crate::realm::{join_groups, new_user};
use model::group::{GroupPermissions, SYSTEM_GROUPS};
use model::{
    Bot, BotKind, Directory, Fact, GroupFact, GroupId, GroupSetting, Realm, RealmFact, RealmId, Role,
    Timestamp, UserFact, UserGroup, UserId,
};
use std::collections::BTreeSet;

/// An organization to be created.
#[derive(Clone, Debug)]
pub struct NewRealm {
    /// Short name in the host name; empty for the organization at the root.
    pub subdomain: String,
    /// What people call it.
    pub name: String,
    /// Domain of made-up addresses and of the server's own bots.
    pub email_domain: String,
}

/// The server's own bots: address before the `@`, and name.
pub const SYSTEM_BOTS: [(&str, &str); 3] = [
    ("notification-bot", "Notification Bot"),
    ("welcome-bot", "Welcome Bot"),
    ("emailgateway", "Email Gateway"),
];

/// The facts that bring an organization into being. System groups have the ids 1 to 8, in their order;
/// the server's own bots are users 1 to 3.
pub fn realm_facts(id: RealmId, new: &NewRealm, now: Timestamp) -> Vec<Fact> {
    let realm = Realm::new(id, &new.subdomain, &new.name, &new.email_domain, now);
    let mut facts = vec![Fact::Realm(RealmFact::Created(Box::new(realm)))];
    facts.extend(system_groups().into_iter().map(|group| Fact::Group(GroupFact::Created(Box::new(group)))));
    for (index, (address, name)) in SYSTEM_BOTS.iter().enumerate() {
        let bot = NewUser {
            email: format!("{address}@{}", new.email_domain),
            full_name: (*name).to_owned(),
            role: Role::Member,
            bot: Some(Bot { kind: BotKind::Generic, owner: None, is_system: true }),
            password_hash: None,
            timezone: String::new(),
            channels: Vec::new(),
        };
        facts.push(Fact::User(UserFact::Created(Box::new(new_user(UserId(index as u32 + 1), &bot, now)))));
    }
    facts
}

/// The facts that create the first user of an organization, for its first frames.
pub fn first_user(directory: &Directory, new: &NewUser) -> Vec<Fact> {
    let now = directory.realm().created;
    let id = directory.users().map(|user| user.id).max().unwrap_or_default().next();
    let user = new_user(id, new, now);
    let groups = join_groups(directory, &user, now);
    std::iter::once(Fact::User(UserFact::Created(Box::new(user)))).chain(groups).collect()
}

/// Each wider group has the next stricter one as its subgroup; `role:nobody` has none.
fn system_groups() -> Vec<UserGroup> {
    let nobody = GroupSetting::Group(GroupId(1));
    let group = |index: usize, (name, description): (&str, &str)| UserGroup {
        is_system: true,
        subgroups: if index >= 2 { BTreeSet::from([GroupId(index as u32)]) } else { BTreeSet::new() },
        // Members may mention all groups; wildcard rules decide who may notify everyone.
        ..UserGroup::new(GroupId(index as u32 + 1), name, description, GroupPermissions::all(nobody.clone()))
    };
    SYSTEM_GROUPS.iter().enumerate().map(|(index, names)| group(index, *names)).collect()
}

/// Refuses names that cannot be part of a host name.
///
/// # Errors
/// `Rule` with `SettingInvalid` naming `subdomain`.
pub fn check_subdomain(subdomain: &str) -> Result<(), DomainError> {
    let is_valid = subdomain.len() <= 40
        && subdomain.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !subdomain.starts_with('-')
        && !subdomain.ends_with('-');
    if is_valid { Ok(()) } else { Err(rules::RuleError::SettingInvalid { name: "subdomain".into() }.into()) }
}
