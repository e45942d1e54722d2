//! The settings of a seed must exist where they are given, and have values that the API accepts.

use super::content::SeedDocument;
use super::document_path::At;
use super::forms::{Holders, Value};
use super::mistake::{Checked, each, refuse};
use super::near_name::did_you_mean;
use model::group::SYSTEM_GROUPS;
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};
use rules::settings::{
    REALM_PERMISSIONS, REALM_SETTINGS, RealmPermission, Setting, USER_SETTINGS, realm_setting, user_setting,
};
use std::collections::{BTreeMap, HashSet};

/// What accounts may do that no endpoint gives them; settings of users in a seed.
const RIGHTS: [&str; 2] = [CAN_CREATE_USERS, CAN_CHANGE_USER_EMAILS];

/// Checks the settings of the organization. Whether a permission may have a value that names groups is checked later.
pub(super) fn check_realm_settings(at: &At<'_>, seed: &SeedDocument, accounts: &HashSet<&str>) -> Checked {
    let own = seed.groups.iter().map(|group| group.name.as_str());
    let groups: HashSet<&str> = own.chain(SYSTEM_GROUPS.map(|(name, _)| name)).collect();
    for (name, value) in &seed.settings {
        if RealmPermission::from_name(name).is_some() {
            check_holders(at, (name, value), accounts, &groups)?;
        } else if let Some(setting) = realm_setting(name) {
            check_value(&at.name(name), setting, value)?;
        } else if user_setting(name).is_some() || RIGHTS.contains(&name.as_str()) {
            let why =
                format!("{name} is a setting of a user: it belongs in the `settings` of one of `users`");
            refuse(&at.name(name), why)?;
        } else {
            let known = REALM_SETTINGS.iter().map(|setting| setting.name);
            refuse_unknown(at, name, known.chain(REALM_PERMISSIONS.iter().map(|rule| rule.name)))?;
        }
    }
    Ok(())
}

/// Checks the settings of a user.
pub(super) fn check_user_settings(at: &At<'_>, settings: &BTreeMap<String, Value>) -> Checked {
    for (name, value) in settings {
        if RIGHTS.contains(&name.as_str()) {
            let is_flag = matches!(value, Value::Flag(_));
            if !is_flag {
                refuse(&at.name(name), format!("{name} must be true or false"))?;
            }
        } else if let Some(setting) = user_setting(name) {
            check_value(&at.name(name), setting, value)?;
        } else if realm_setting(name).is_some() || RealmPermission::from_name(name).is_some() {
            let why = format!("{name} is a setting of the organization: it belongs in its `settings`");
            refuse(&at.name(name), why)?;
        } else {
            refuse_unknown(at, name, USER_SETTINGS.iter().map(|setting| setting.name).chain(RIGHTS))?;
        }
    }
    Ok(())
}

fn refuse_unknown<'n>(at: &At<'_>, name: &str, known: impl Iterator<Item = &'n str>) -> Checked {
    let near = did_you_mean(name, known);
    refuse(&at.name(name), format!("there is no setting {name}; see `millstream settings`{near}"))
}

fn check_value(at: &At<'_>, setting: &Setting, value: &Value) -> Checked {
    match value.stored(setting).is_some_and(|stored| setting.check(&stored).is_ok()) {
        true => Ok(()),
        false => refuse(at, format!("{} must be {}", setting.name, allowed(&setting.kind.allowed_text()))),
    }
}

/// The allowed values of a setting, of which the Markdown has a list.
fn allowed(markdown: &str) -> String {
    let plain = markdown.replace('`', "");
    match plain.rsplit_once(", ") {
        Some((first, last)) if markdown.starts_with('`') && !last.starts_with("or ") => {
            format!("{first} or {last}")
        }
        _ => plain,
    }
}

fn check_holders(
    at: &At<'_>,
    (name, value): (&str, &Value),
    accounts: &HashSet<&str>,
    groups: &HashSet<&str>,
) -> Checked {
    let group = |at: &At<'_>, group: &String| match groups.contains(group.as_str()) {
        true => Ok(()),
        false => {
            let system = SYSTEM_GROUPS.map(|(name, _)| name).join(", ");
            let why = format!("there is no group {group} in `groups`, and those of the system are {system}");
            refuse(at, why)
        }
    };
    let value_at = at.key(name);
    match value {
        Value::Text(name) => group(&value_at, name),
        Value::Holders(Holders { users, groups }) => {
            each(&value_at.key("users"), users, |at, email| match accounts.contains(email.as_str()) {
                true => Ok(()),
                false => refuse(at, format!("there is no account {email} in `users` or `bots`")),
            })?;
            each(&value_at.key("groups"), groups, group)
        }
        Value::Flag(_) | Value::Number(_) => refuse(
            &at.name(name),
            format!("{name} must be the name of a group, or have `users` and `groups`"),
        ),
    }
}
