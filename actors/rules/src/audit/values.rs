//! Values of settings as texts for people.

use super::decided::{CHANGES_MAX, cut};
use model::{ChannelId, Directory, GroupSetting, PropertyChange, Role, SettingValue, UserId};

/// Users and groups of a permission that are named.
const NAMED_MAX: usize = 10;

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

/// Who holds a permission.
pub fn group_text(directory: &Directory, setting: &GroupSetting) -> String {
    let group = |id: &model::GroupId| match directory.group(*id) {
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
    let all: Vec<String> = names.collect();
    let named = all.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
