//! Who holds the permissions of an organization that a seed makes, and what its people may therefore do.

use super::builder::SeedBuilder;
use super::content::{Seed, SeedPermission};
use super::received::Received;
use crate::bootstrap::{NewRealm, realm_facts};
use model::{Directory, Fact, GroupFact, GroupSetting, Realm, RealmId, SettingValue, Timestamp, UserFact};
use rules::RuleError;
use rules::permissions::group_setting::{ProposedGroupSetting, check_group_setting};
use std::collections::HashMap;

impl<'s> SeedBuilder<'s> {
    /// The first part of a seed.
    pub(super) fn new(directory: &Directory, seed: &'s Seed<'s>) -> Self {
        Self {
            seed,
            now: directory.realm().created,
            directory: directory.clone(),
            linkifiers: Vec::new(),
            newest: HashMap::new(),
            received: Received::default(),
            threads: Vec::new(),
        }
    }

    /// The permissions as settings. A seed that an earlier version accepted may name what is refused by now: the default then.
    pub(super) fn permissions(&self) -> Vec<(String, SettingValue)> {
        let stored = self.seed.permissions.iter().filter_map(|seed| {
            let holders = seed_holders(&self.directory, seed).ok()?;
            Some((seed.permission.rule().name.to_owned(), SettingValue::Group(holders)))
        });
        stored.collect()
    }
}

/// Those who hold a permission, as it is stored. The users and groups of the seed are in the directory.
///
/// # Errors
/// Those of `check_group_setting`.
pub fn seed_holders(directory: &Directory, seed: &SeedPermission<'_>) -> Result<GroupSetting, RuleError> {
    let user = |email: &&str| directory.user_by_email(email).map(|user| user.id.0.into());
    let group = |name: &&str| directory.group_by_name(name).map(|group| group.id.0.into());
    let members: Option<Vec<i64>> = seed.users.iter().map(user).collect();
    let subgroups: Option<Vec<i64>> = seed.groups.iter().map(group).collect();
    let members = members.ok_or(RuleError::InvalidMember { id: 0 })?;
    let subgroups = subgroups.ok_or(RuleError::InvalidUserGroup)?;
    check_group_setting(
        directory,
        seed.permission.rule(),
        &ProposedGroupSetting::Listed { members, subgroups },
    )
}

/// The accounts, groups and settings of the organization that a seed makes, without its channels and messages: what decides who may
/// do something in it.
pub fn seed_directory(new: &NewRealm, seed: &Seed<'_>) -> Directory {
    let (id, now) = (RealmId::default(), Timestamp::default());
    let realm = Realm::new(id, &new.subdomain, &new.name, &new.email_domain, now);
    let mut directory = Directory::new(realm);
    for fact in realm_facts(id, new, now) {
        if let Fact::Group(GroupFact::Created(group)) = fact {
            directory.put_group(*group);
        } else if let Fact::User(UserFact::Created(user)) = fact {
            directory.put_user(*user);
        }
    }
    let mut builder = SeedBuilder::new(&directory, seed);
    builder.users();
    builder.groups();
    let mut realm = Realm::clone(builder.directory.realm());
    realm.settings.extend(seed.settings.iter().map(|(name, value)| ((*name).into(), value.clone())));
    realm.settings.extend(builder.permissions());
    builder.directory.put_realm(realm);
    builder.directory
}
