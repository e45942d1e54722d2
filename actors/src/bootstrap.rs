//! The first frame of an organization: the record, the system groups and the system bots.

use crate::bot_notices::SYSTEM_BOTS;
use crate::error::DomainError;
use crate::realm::{NewUser, join_groups, new_user};
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
    pub name: String,
    /// Domain of generated addresses and of the system bots.
    pub email_domain: String,
}

/// The facts that create an organization. System groups have the ids 1 to 8, in their order; system bots are users 1 to 3.
pub fn realm_facts(id: RealmId, new: &NewRealm, now: Timestamp) -> Vec<Fact> {
    let realm = Realm::new(id, &new.subdomain, &new.name, &new.email_domain, now);
    let mut facts = vec![Fact::Realm(RealmFact::Created(Box::new(realm)))];
    facts.extend(system_groups().into_iter().map(|group| Fact::Group(GroupFact::Created(Box::new(group)))));
    for (index, (address, name)) in SYSTEM_BOTS.iter().enumerate() {
        let email = format!("{address}@{}", new.email_domain);
        let bot = Some(Bot { kind: BotKind::Generic, owner: None, is_system: true });
        let bot = NewUser { bot, ..NewUser::new(email, *name, Role::Member) };
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
    let no_one = GroupSetting::Group(GroupId(1));
    let group = |index: usize, (name, description): (&str, &str)| UserGroup {
        is_system: true,
        subgroups: if index >= 2 { BTreeSet::from([GroupId(index as u32)]) } else { BTreeSet::new() },
        // Members may mention all groups; wildcard rules decide who may notify everyone.
        ..UserGroup::new(GroupId(index as u32 + 1), name, description, GroupPermissions::all(no_one.clone()))
    };
    SYSTEM_GROUPS.iter().enumerate().map(|(index, names)| group(index, *names)).collect()
}

/// Characters of a subdomain.
pub const SUBDOMAIN_LENGTH_MAX: usize = 40;

/// What a subdomain can be, in words that follow its name.
pub fn subdomain_rule() -> String {
    format!(
        "it has at most {SUBDOMAIN_LENGTH_MAX} characters, which are lower-case letters (a to z), digits and hyphens, without a hyphen \
         at the beginning or the end"
    )
}

/// Refuses names that cannot be part of a host name.
///
/// # Errors
/// `Rule` with `SettingInvalid` naming `subdomain`.
pub fn check_subdomain(subdomain: &str) -> Result<(), DomainError> {
    let is_valid = subdomain.len() <= SUBDOMAIN_LENGTH_MAX
        && subdomain.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !subdomain.starts_with('-')
        && !subdomain.ends_with('-');
    if is_valid { Ok(()) } else { Err(rules::RuleError::SettingInvalid { name: "subdomain".into() }.into()) }
}
