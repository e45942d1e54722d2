//! What differs between two versions of a record.

use super::values::{
    ADDRESS, Changes, channel_names, days_text, group_text, joined, realm_setting_text, role_name,
    setting_text, user_name,
};
use crate::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};
use crate::permissions::group_setting::realm_group_setting;
use crate::settings::{ChannelPermission, GroupPermission, RealmPermission, realm_values, user_defaults};
use model::{Channel, ChannelFolder, Directory, Realm, User, UserGroup, UserId};

/// What differs in an organization's record; activity is not among it.
pub fn of_realm(before: &Directory, is: &Realm) -> Changes {
    let mut after = before.clone();
    after.put_realm(is.clone());
    let (was, is) = (before.realm(), after.realm());
    let mut changes = Changes::default();
    changes.add("name", &was.name, &is.name);
    changes.add("description", &was.description, &is.description);
    for ((name, before_value), (_, after_value)) in realm_values(was).zip(realm_values(is)) {
        if before_value != after_value {
            let text = |value| realm_setting_text(before, name, value);
            changes.add(name, &text(&before_value), &text(&after_value));
        }
    }
    for permission in RealmPermission::ALL {
        let (was, is) = (realm_group_setting(before, permission), realm_group_setting(&after, permission));
        if was != is {
            changes.add(permission.rule().name, &group_text(before, &was), &group_text(before, &is));
        }
    }
    for ((name, before_value), (_, after_value)) in user_defaults(was).zip(user_defaults(is)) {
        if before_value != after_value {
            let name = format!("default for new users: {name}");
            changes.add(&name, &setting_text(before, &before_value), &setting_text(before, &after_value));
        }
    }
    if was.default_channels != is.default_channels {
        let names = |realm: &Realm| channel_names(before, &realm.default_channels);
        changes.add("default channels", &names(was), &names(is));
    }
    changes
}

/// What differs in an account's record. Personal settings, and the name that users choose for themselves, are left out;
/// passwords and keys are actions of their own.
pub fn of_user(before: &Directory, was: &User, is: &User, by: Option<UserId>) -> Changes {
    let mut changes = Changes::default();
    if by != Some(is.id) {
        changes.add("name", &was.full_name, &is.full_name);
    }
    changes.add(ADDRESS, &was.delivery_email, &is.delivery_email);
    changes.add("role", role_name(was.role), role_name(is.role));
    let owner = |user: &User| user.owner().map(|owner| user_name(before, owner)).unwrap_or_default();
    changes.add("owner", &owner(was), &owner(is));
    for mark in [CAN_CREATE_USERS, CAN_CHANGE_USER_EMAILS] {
        changes.add_flag(mark, was.bool_setting(mark, false), is.bool_setting(mark, false));
    }
    changes
}

/// What differs in a group's record; members, subgroups and activity are not among it.
pub fn of_group(directory: &Directory, was: &UserGroup, is: &UserGroup) -> Changes {
    let mut changes = Changes::default();
    changes.add("name", &was.name, &is.name);
    changes.add("description", &was.description, &is.description);
    for permission in GroupPermission::ALL {
        let (before, after) = (permission.of(was), permission.of(is));
        if before != after {
            changes.add(
                permission.rule().name,
                &group_text(directory, before),
                &group_text(directory, after),
            );
        }
    }
    if was.subgroups != is.subgroups {
        let names = |group: &UserGroup| {
            let names = group.subgroups.iter().map(|id| {
                directory.group(*id).map_or_else(|| format!("group {id}"), |group| group.name.clone())
            });
            joined(names)
        };
        changes.add("subgroups", &names(was), &names(is));
    }
    changes
}

/// What differs in a channel's record; archiving is not among it.
pub fn of_channel(directory: &Directory, was: &Channel, is: &Channel) -> Changes {
    let mut changes = Changes::default();
    changes.add("name", &was.name, &is.name);
    changes.add("description", &was.description, &is.description);
    changes.add("privacy", privacy(was), privacy(is));
    let days = |channel: &Channel| match channel.message_retention_days {
        None => "as the organization".to_owned(),
        Some(days) => days_text(i64::from(days)),
    };
    changes.add("message retention", &days(was), &days(is));
    changes.add("topics policy", was.topics_policy.as_str(), is.topics_policy.as_str());
    let folder = |channel: &Channel| {
        let folder = channel.folder.and_then(|id| directory.folder(id));
        folder.map(|folder| folder.name.clone()).unwrap_or_default()
    };
    changes.add("folder", &folder(was), &folder(is));
    for permission in ChannelPermission::ALL {
        let (before, after) = (permission.of(was), permission.of(is));
        if before != after {
            changes.add(
                permission.rule().name,
                &group_text(directory, before),
                &group_text(directory, after),
            );
        }
    }
    changes
}

/// What differs in a folder's record; archiving is not among it.
pub fn of_folder(was: &ChannelFolder, is: &ChannelFolder) -> Changes {
    let mut changes = Changes::default();
    changes.add("name", &was.name, &is.name);
    changes.add("description", &was.description, &is.description);
    changes
}

/// Who may find and read a channel.
pub fn privacy(channel: &Channel) -> &'static str {
    match (channel.is_web_public, channel.invite_only, channel.history_public_to_subscribers) {
        (true, _, _) => "web-public",
        (false, false, _) => "public",
        (false, true, true) => "private with shared history",
        (false, true, false) => "private with protected history",
    }
}
