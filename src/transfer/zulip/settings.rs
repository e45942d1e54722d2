//! Settings of users and the organization, under their present and former names.

use super::organization::Builder;
use crate::transfer::rows::Row;
use model::{Fact, GroupSetting, Realm, RealmFact, SettingValue, Settings};
use rules::permissions::group_setting::system_group;
use rules::settings::{
    REALM_PERMISSIONS, REALM_SETTINGS, Setting, SettingKind, USER_SETTINGS, apply_user_default,
    user_default_settings,
};
use serde_json::Value;

/// Settings with names in the API that are stored as numbers, which count from this one.
pub const FIRST_NUMBERS: [(&str, i64); 3] = [
    ("topics_policy", 2),
    ("message_edit_history_visibility_policy", 1),
    ("resolved_topic_notice_auto_read_policy", 1),
];

/// Settings of the organization that refer to a channel, with the column that has its id.
pub const CHANNEL_COLUMNS: [(&str, &str); 4] = [
    ("new_stream_announcements_stream_id", "new_stream_announcements_stream"),
    ("signup_announcements_stream_id", "signup_announcements_stream"),
    ("zulip_update_announcements_stream_id", "zulip_update_announcements_stream"),
    ("moderation_request_channel_id", "moderation_request_channel"),
];

/// The groups that the numbers of a former policy stand for.
type GroupsByNumber = &'static [(i64, &'static str)];

/// Former policies: the column, the permission that has replaced it, and the group of each number.
const POLICIES: [(&str, &str, GroupsByNumber); 5] = [
    ("invite_to_realm_policy", "can_invite_users_group", COMMON),
    ("invite_to_stream_policy", "can_add_subscribers_group", COMMON),
    ("wildcard_mention_policy", "can_mention_many_users_group", WILDCARD),
    (
        "bot_creation_policy",
        "can_create_bots_group",
        &[(1, "role:members"), (2, "role:administrators"), (3, "role:administrators")],
    ),
    (
        "bot_creation_policy",
        "can_create_write_only_bots_group",
        &[(1, "role:members"), (2, "role:members"), (3, "role:administrators")],
    ),
];
const COMMON: GroupsByNumber = &[
    (1, "role:members"),
    (2, "role:administrators"),
    (3, "role:fullmembers"),
    (4, "role:moderators"),
    (6, "role:nobody"),
];
const WILDCARD: GroupsByNumber = &[
    (1, "role:everyone"),
    (2, "role:members"),
    (3, "role:fullmembers"),
    (5, "role:administrators"),
    (6, "role:nobody"),
    (7, "role:moderators"),
];

/// A value of a column as a setting; none if the setting cannot have it.
fn value_of(setting: &Setting, value: &Value) -> Option<SettingValue> {
    let found = match (value, setting.kind) {
        (Value::Null, _) => SettingValue::Null,
        (Value::Bool(value), _) => SettingValue::Bool(*value),
        (Value::String(text), _) => SettingValue::Text(text.clone()),
        (Value::Number(number), SettingKind::Word(names)) => {
            let first = FIRST_NUMBERS.iter().find(|(name, _)| *name == setting.name)?.1;
            let position = usize::try_from(number.as_i64()? - first).ok()?;
            SettingValue::Text((*names.get(position)?).to_owned())
        }
        (Value::Number(number), _) => SettingValue::Int(number.as_i64()?),
        (Value::Array(_) | Value::Object(_), _) => return None,
    };
    setting.check(&found).ok().map(|()| found)
}

/// The settings of a user that differ from the defaults of this server, and how many values no setting can have.
pub fn user_settings(row: &Row) -> (Settings, u64) {
    let (mut settings, mut refused) = (Settings::new(), 0);
    for setting in USER_SETTINGS.iter().filter(|setting| setting.kind != SettingKind::Timezone) {
        let Some(value) = row.0.get(setting.name).filter(|value| !value.is_null()) else { continue };
        match value_of(setting, value) {
            Some(value) if value == setting.default.to_value() => {}
            Some(value) => _ = settings.insert(setting.name.to_owned(), value),
            None => refused += 1,
        }
    }
    (settings, refused)
}

impl Builder<'_> {
    /// The organization's settings, defaults of new users and permissions.
    pub fn realm_settings(&mut self) {
        let row = self.tables.realm();
        let mut realm = Realm::clone(self.directory.realm());
        for setting in REALM_SETTINGS {
            let Some(value) = row.0.get(setting.name) else { continue };
            match value_of(setting, value) {
                Some(value) if value == setting.default.to_value() => {}
                Some(value) => _ = realm.settings.insert(setting.name.to_owned(), value),
                None if value.is_null() => {}
                None => self.report.change(
                    "settings of the organization with a value that is not known here have the default",
                    1,
                ),
            }
        }
        self.former_settings(&row, &mut realm);
        self.user_defaults(&mut realm);
        self.directory.put_realm(realm.clone());
        self.facts.push(Fact::Realm(RealmFact::Changed(Box::new(realm))));
    }

    fn former_settings(&mut self, row: &Row, realm: &mut Realm) {
        let mut text = |name: &str, value: &str| {
            realm.settings.insert(name.to_owned(), SettingValue::Text(value.to_owned()));
        };
        if row.is("mandatory_topics") && !row.has("topics_policy") {
            text("topics_policy", "disable_empty_topic");
        }
        if row.flag("allow_edit_history") == Some(false) && !row.has("message_edit_history_visibility_policy")
        {
            text("message_edit_history_visibility_policy", "none");
        }
        for (setting, column) in CHANNEL_COLUMNS {
            if let Some(channel) = self.channel(row.id(column)) {
                realm.settings.insert(setting.to_owned(), SettingValue::Int(channel.0.into()));
            }
        }
        for rule in &REALM_PERMISSIONS {
            if let Some(value) = self.group_setting(row.id(rule.name)) {
                self.put_permission(realm, rule.name, rule.default_group_name, value);
            }
        }
        for (column, permission, groups) in POLICIES {
            let number = row.int(column).filter(|_| !row.has(permission));
            let group = groups.iter().find(|(code, _)| Some(*code) == number);
            let rule = REALM_PERMISSIONS.iter().find(|rule| rule.name == permission);
            if let (Some((_, group)), Some(rule)) = (group, rule) {
                let value = system_group(&self.directory, group);
                self.put_permission(realm, permission, rule.default_group_name, value);
            }
        }
    }

    fn put_permission(&self, realm: &mut Realm, name: &str, default: &str, value: GroupSetting) {
        if value != system_group(&self.directory, default) {
            realm.settings.insert(name.to_owned(), SettingValue::Group(value));
        }
    }

    fn user_defaults(&mut self, realm: &mut Realm) {
        let Some(row) = self.tables.rows("zerver_realmuserdefault").first() else { return };
        for setting in user_default_settings() {
            if let Some(value) = row.0.get(setting.name).and_then(|value| value_of(setting, value)) {
                apply_user_default(realm, setting, value);
            }
        }
        let rows = self.tables.rows("zerver_realmuserdefault").len() as u64;
        self.report.carry("zerver_realmuserdefault", rows);
    }
}
