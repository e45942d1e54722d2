//! User statuses as clients read them: only the parts that are set
//! (docs/api/presence-and-status.md#set-the-own-status).

use model::{Directory, User};
use rules::settings::{Setting, user_row};
use serde::Serialize;

// A registration reads it for each user.
const SHOWS_PRESENCE: &Setting = user_row("presence_enabled");

/// The status object of the API; empty if nothing is set.
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

/// A user's status. Users who hide their presence are away.
pub fn status<'a>(directory: &'a Directory, user: &User) -> StatusJson<'a> {
    let record = directory.status(user.id);
    let emoji = record.and_then(|status| status.emoji.as_ref());
    StatusJson {
        away: (!SHOWS_PRESENCE.bool_in(&user.settings)).then_some(true),
        status_text: record.map(|status| status.text.as_str()).filter(|text| !text.is_empty()),
        emoji_name: emoji.map(|emoji| emoji.name.as_str()),
        emoji_code: emoji.map(|emoji| emoji.code.as_str()),
        reaction_type: emoji.map(|emoji| emoji.kind.as_str()),
    }
}

/// All active users with a status, and the status.
pub fn statuses(directory: &Directory) -> impl Iterator<Item = (&User, StatusJson<'_>)> {
    let people = directory.users().filter(|user| user.is_active);
    let found = people.map(|user| (&**user, status(directory, user)));
    found.filter(|(_, status)| *status != StatusJson::default())
}
