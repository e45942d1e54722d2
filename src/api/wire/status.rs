//! What people say about themselves, as clients read it: only what is set (companions.md 2 and 5).

use crate::api::wire::json::{push_field, push_text_field};
use model::event::StatusChange;
use model::{Directory, StatusEmoji, User};
use rules::settings::user_bool;
use serde::Serialize;

/// What stands for an emoji that was taken away.
const NO_EMOJI_KIND: &str = "unicode_emoji";

/// A status; without anything set it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    away: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reaction_type: Option<&'a str>,
}

/// A user's status. Whoever hides their presence is away.
pub fn status<'a>(directory: &'a Directory, user: &User) -> StatusJson<'a> {
    let record = directory.status(user.id);
    let emoji = record.and_then(|status| status.emoji.as_ref());
    StatusJson {
        away: (!user_bool(user, "presence_enabled")).then_some(true),
        status_text: record.map(|status| status.text.as_str()).filter(|text| !text.is_empty()),
        emoji_name: emoji.map(|emoji| emoji.name.as_str()),
        emoji_code: emoji.map(|emoji| emoji.code.as_str()),
        reaction_type: emoji.map(|emoji| emoji.kind.as_str()),
    }
}

/// Everybody who has something set and is not gone, with it.
pub fn statuses(directory: &Directory) -> impl Iterator<Item = (&User, StatusJson<'_>)> {
    let people = directory.users().filter(|user| user.is_active);
    let found = people.map(|user| (&**user, status(directory, user)));
    found.filter(|(_, status)| *status != StatusJson::default())
}

/// Writes the fields of an event: those that changed, empty where nothing is set any more.
pub fn changed_status(out: &mut Vec<u8>, change: &StatusChange) {
    if let Some(away) = change.away {
        push_field(out, "away", &away);
    }
    if let Some(text) = &change.text {
        push_text_field(out, "status_text", text);
    }
    if let Some(emoji) = &change.emoji {
        let none = || StatusEmoji { name: String::new(), code: String::new(), kind: NO_EMOJI_KIND.into() };
        let StatusEmoji { name, code, kind } = emoji.clone().unwrap_or_else(none);
        push_text_field(out, "emoji_name", &name);
        push_text_field(out, "emoji_code", &code);
        push_text_field(out, "reaction_type", &kind);
    }
}
