//! Default personal settings of new accounts (docs/api/organization.md#update-defaults-for-new-users). Existing accounts
//! do not change.

use super::user::USER_SETTINGS;
use super::{Setting, SettingKind};
use model::{Realm, SettingValue, Settings, USER_DEFAULT_PREFIX};

/// Settings that have a default for new users: all but the time zone, which differs by user.
pub fn user_default_settings() -> impl Iterator<Item = &'static Setting> {
    USER_SETTINGS.iter().filter(|setting| setting.kind != SettingKind::Timezone)
}

fn stored_name(setting: &Setting) -> String {
    format!("{USER_DEFAULT_PREFIX}{}", setting.name)
}

/// The default of a setting for new users.
pub fn user_default(realm: &Realm, setting: &Setting) -> SettingValue {
    let chosen = realm.settings.get(&stored_name(setting));
    chosen.cloned().unwrap_or_else(|| setting.default.to_value())
}

/// All defaults for new users, in the order of the table.
pub fn user_defaults(realm: &Realm) -> impl Iterator<Item = (&'static str, SettingValue)> {
    user_default_settings().map(move |setting| (setting.name, user_default(realm, setting)))
}

/// Changes a default for new users. A value that equals the built-in default is not stored.
pub fn apply_user_default(realm: &mut Realm, setting: &Setting, value: SettingValue) {
    if value == setting.default.to_value() {
        realm.settings.remove(&stored_name(setting));
    } else {
        realm.settings.insert(stored_name(setting), value);
    }
}

/// The settings of a new account.
pub fn starting_settings(realm: &Realm) -> Settings {
    let chosen = user_default_settings().filter_map(|setting| {
        let value = realm.settings.get(&stored_name(setting))?;
        Some((setting.name.to_owned(), value.clone()))
    });
    chosen.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{REALM_SETTINGS, user_setting};
    use super::*;
    use crate::fixture;

    #[test]
    fn new_accounts_start_with_the_chosen_defaults() {
        let mut realm = fixture::realm();
        let sends = user_setting("enter_sends").unwrap();
        assert_eq!(user_default(&realm, sends), SettingValue::Bool(false));
        assert!(starting_settings(&realm).is_empty());
        apply_user_default(&mut realm, sends, SettingValue::Bool(true));
        assert_eq!(user_default(&realm, sends), SettingValue::Bool(true));
        let started = starting_settings(&realm);
        assert_eq!((started.len(), started.get("enter_sends")), (1, Some(&SettingValue::Bool(true))));
        apply_user_default(&mut realm, sends, SettingValue::Bool(false));
        assert!(realm.settings.is_empty());
        assert_eq!(user_defaults(&realm).count(), USER_SETTINGS.len() - 1);
    }

    #[test]
    fn no_setting_of_the_organization_has_the_prefix() {
        let prefixed = |setting: &Setting| setting.name.starts_with(USER_DEFAULT_PREFIX);
        assert!(!REALM_SETTINGS.iter().any(prefixed));
    }
}
