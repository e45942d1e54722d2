//! Values of settings as texts for people.

use super::decided::{CHANGES_MAX, cut};
use crate::permissions::roles::shown_group_name;
use crate::settings::{SettingKind, realm_setting};
use model::{ChannelId, Directory, GroupSetting, PropertyChange, Role, SettingValue, UserId};

/// Users and groups of a permission that are named.
const NAMED_MAX: usize = 10;

/// The property of an account that a link in an e-mail confirms.
pub const ADDRESS: &str = "e-mail address";

/// To whom an invitation is that has no address.
pub const REUSABLE_LINK: &str = "a reusable link";

/// The changes of an action.
#[derive(Default)]
pub struct Changes(pub Vec<PropertyChange>);

impl Changes {
    /// Adds a property if its value differs.
    pub fn add(&mut self, name: &str, before: &str, after: &str) {
        if before != after && self.0.len() < CHANGES_MAX {
            let name = name.replace('_', " ");
            self.0.push(PropertyChange { name, before: cut(before), after: cut(after) });
        }
    }

    /// Adds a property that is on or off, if it differs.
    pub fn add_flag(&mut self, name: &str, before: bool, after: bool) {
        let word = |flag: bool| if flag { "on" } else { "off" };
        self.add(name, word(before), word(after));
    }
}

/// The name of a role.
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Administrator => "administrator",
        Role::Moderator => "moderator",
        Role::Member => "member",
        Role::Guest => "guest",
    }
}

/// A user with the address, or only the id where the account is unknown.
pub fn user_name(directory: &Directory, id: UserId) -> String {
    match directory.user(id) {
        Some(user) => format!("{} ({})", user.full_name, user.delivery_email),
        None => format!("user {id}"),
    }
}

/// A channel's name as clients write it.
pub fn channel_name(directory: &Directory, id: ChannelId) -> String {
    match directory.channel(id) {
        Some(channel) => format!("#{}", channel.name),
        None => format!("channel {id}"),
    }
}

/// The names of channels.
pub fn channel_names(directory: &Directory, channels: &[ChannelId]) -> String {
    joined(channels.iter().map(|id| channel_name(directory, *id)))
}

/// A value of a setting.
pub fn setting_text(directory: &Directory, value: &SettingValue) -> String {
    match value {
        SettingValue::Bool(flag) => if *flag { "on" } else { "off" }.to_owned(),
        SettingValue::Int(number) => number.to_string(),
        SettingValue::Text(text) => text.clone(),
        SettingValue::Group(group) => group_text(directory, group),
        SettingValue::Null => "unlimited".to_owned(),
    }
}

/// A value of a setting of the organization: of numbers, what they stand for.
pub fn realm_setting_text(directory: &Directory, name: &str, value: &SettingValue) -> String {
    let kind = realm_setting(name).map(|setting| setting.kind);
    let is_channel = matches!(kind, Some(SettingKind::Channel | SettingKind::PrivateChannel));
    match value {
        SettingValue::Int(days) if kind == Some(SettingKind::Retention) => days_text(*days),
        SettingValue::Int(id) if is_channel => {
            let id = u32::try_from(*id).ok();
            id.map_or_else(|| "none".to_owned(), |id| channel_name(directory, ChannelId(id)))
        }
        SettingValue::Bool(_)
        | SettingValue::Int(_)
        | SettingValue::Text(_)
        | SettingValue::Group(_)
        | SettingValue::Null => setting_text(directory, value),
    }
}

/// For how many days messages are kept; -1 stands for no end.
pub fn days_text(days: i64) -> String {
    match days {
        ..=0 => "unlimited".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// Who holds a permission.
pub fn group_text(directory: &Directory, setting: &GroupSetting) -> String {
    let group = |id: &model::GroupId| match directory.group(*id) {
        Some(group) if group.is_system => shown_group_name(group).to_lowercase(),
        Some(group) => group.name.clone(),
        None => format!("group {id}"),
    };
    match setting {
        GroupSetting::Group(id) => group(id),
        GroupSetting::Anonymous { members, subgroups } => {
            let users = members.iter().map(|id| user_name(directory, *id));
            let names: Vec<String> = subgroups.iter().map(group).chain(users).collect();
            if names.is_empty() { "no one".to_owned() } else { joined(names.into_iter()) }
        }
    }
}

/// Names with commas; how many are left out if there are many.
pub fn joined(names: impl Iterator<Item = String>) -> String {
    joined_of(names, 0)
}

/// The same of `count` names, of which the last ones may be missing.
pub fn joined_of(names: impl Iterator<Item = String>, count: usize) -> String {
    let all: Vec<String> = names.collect();
    let named = all.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().max(count).saturating_sub(all.len().min(NAMED_MAX)) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
