//! `millstream settings`: documents every setting of users and organizations, from the tables that the server uses.

use super::error::CliError;
use super::print::print_text;
use crate::reference::meanings::{OF_ORGANIZATIONS, OF_PERMISSIONS, OF_USERS, meaning};
use model::EventKind;
use rules::settings::{
    REALM_PERMISSIONS, REALM_SETTINGS, Setting, USER_SETTINGS, is_for_owners, setting_forms,
    user_default_settings,
};
use std::fmt::Write;

/// Print every user and organization setting as Markdown: type, allowed values, default, event, who may change it, meaning
#[derive(Debug, clap::Args)]
pub struct SettingsArgs {}

/// Prints the tables.
pub fn run(_: &SettingsArgs) -> Result<(), CliError> {
    print_text(&markdown())
}

fn markdown() -> String {
    let mut text = String::from(
        "# Settings\n\nValues as clients send them. In responses, `unlimited` seconds and `default` are null, and `unlimited` days are -1.\n",
    );
    push_personal(&mut text);
    push_organization(&mut text);
    push_permissions(&mut text);
    text
}

fn push_personal(text: &mut String) {
    let preset = |setting: &&Setting| user_default_settings().any(|preset| preset.name == setting.name);
    let own: Vec<String> = USER_SETTINGS
        .iter()
        .filter(|setting| !preset(setting))
        .map(|setting| format!("`{}`", setting.name))
        .collect();
    let defaults = EventKind::RealmUserSettingsDefaults.as_str();
    let _ = write!(
        text,
        "\n## Users\n\nUsers change their own settings with `PATCH /settings`. Administrators change the defaults of new users with \
         `PATCH /realm/user_settings_defaults` (event `{defaults}`), except for {}.\n",
        own.join(", ")
    );
    push_head(text);
    for setting in USER_SETTINGS {
        let events: Vec<String> =
            setting_forms(setting.name).map(|form| format!("`{}`", form.kind().as_str())).collect();
        push_row(text, setting, (&events.join(", "), "themselves"), meaning(OF_USERS, setting.name));
    }
}

fn push_organization(text: &mut String) {
    text.push_str(
        "\n## Organization\n\nChanged with `PATCH /realm`; `POST /register` returns them with the prefix `realm_`.\n",
    );
    push_head(text);
    for setting in REALM_SETTINGS {
        let about = meaning(OF_ORGANIZATIONS, setting.name);
        push_row(text, setting, (&realm_event(), who(setting.name)), about);
    }
}

fn push_permissions(text: &mut String) {
    text.push_str("\n## Permissions\n\nChanged with `PATCH /realm` as well.\n");
    push_head(text);
    for rule in &REALM_PERMISSIONS {
        let (name, allowed, default) = (rule.name, rule.allowed_text(), rule.default_group_name);
        let (event, who) = (realm_event(), who(name));
        let about = meaning(OF_PERMISSIONS, name);
        let _ = writeln!(text, "| `{name}` | group | {allowed} | `{default}` | {event} | {who} | {about} |");
    }
}

fn push_head(text: &mut String) {
    text.push_str("\n| name | type | allowed | default | event | changed by | meaning |\n|---|---|---|---|---|---|---|\n");
}

fn push_row(text: &mut String, setting: &Setting, (events, who): (&str, &str), about: &str) {
    let (name, kind) = (setting.name, setting.kind);
    let (typed, allowed, default) = (kind.type_name(), kind.allowed_text(), setting.default_text());
    let _ = writeln!(text, "| `{name}` | {typed} | {allowed} | {default} | {events} | {who} | {about} |");
}

fn realm_event() -> String {
    format!("`{}`", EventKind::Realm.as_str())
}

fn who(name: &str) -> &'static str {
    if is_for_owners(name) { "owners" } else { "administrators" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::meanings::{OF_CHANNEL_PERMISSIONS, OF_GROUP_PERMISSIONS};
    use rules::settings::SettingKind;
    use rules::settings::{CHANNEL_PERMISSIONS, GROUP_PERMISSIONS};

    #[test]
    fn every_setting_has_a_row_with_its_allowed_values() {
        let text = markdown();
        for setting in USER_SETTINGS.iter().chain(REALM_SETTINGS) {
            let start = format!(
                "| `{}` | {} | {} | {} |",
                setting.name,
                setting.kind.type_name(),
                setting.kind.allowed_text(),
                setting.default_text()
            );
            assert!(text.lines().any(|line| line.starts_with(&start)), "{start}");
        }
        for rule in &REALM_PERMISSIONS {
            let start = format!("| `{}` | group | {} |", rule.name, rule.allowed_text());
            assert!(text.lines().any(|line| line.starts_with(&start)), "{start}");
        }
        let rows = text.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, USER_SETTINGS.len() + REALM_SETTINGS.len() + REALM_PERMISSIONS.len());
        assert!(text.contains("except for `timezone`."), "{text}");
    }

    #[test]
    fn every_setting_and_every_choice_has_a_meaning() {
        for (settings, list) in [(USER_SETTINGS, OF_USERS), (REALM_SETTINGS, OF_ORGANIZATIONS)] {
            assert_eq!(settings.len(), list.len());
            for setting in settings {
                let about = meaning(list, setting.name);
                assert!(about.ends_with('.'), "{}", setting.name);
                let words: Vec<&str> = about.split([' ', ':', ',', ';', '.']).collect();
                let values: Vec<String> = match setting.kind {
                    SettingKind::Choice(codes) => codes.iter().map(i64::to_string).collect(),
                    SettingKind::Word(names) => names.iter().map(|name| (*name).to_owned()).collect(),
                    _ => Vec::new(),
                };
                for value in values {
                    assert!(words.contains(&value.as_str()), "{}: {value} is not explained", setting.name);
                }
            }
        }
        for (rules, list) in [
            (&REALM_PERMISSIONS[..], OF_PERMISSIONS),
            (&CHANNEL_PERMISSIONS[..], OF_CHANNEL_PERMISSIONS),
            (&GROUP_PERMISSIONS[..], OF_GROUP_PERMISSIONS),
        ] {
            assert_eq!(rules.len(), list.len());
            assert!(rules.iter().all(|rule| meaning(list, rule.name).ends_with('.')));
        }
    }
}
