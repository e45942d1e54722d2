//! `user_status`: the parts of a user's status that changed.

use model::UserId;
use model::event::StatusChange;
use serde::Serialize;

/// The type of the emoji in the place of one that was removed.
const NO_EMOJI_TYPE: &str = "unicode_emoji";

#[derive(Serialize)]
pub(super) struct UserStatus<'e> {
    user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    away: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_text: Option<&'e str>,
    #[serde(flatten)]
    emoji: Option<Emoji<'e>>,
}

#[derive(Serialize)]
struct Emoji<'e> {
    emoji_name: &'e str,
    emoji_code: &'e str,
    reaction_type: &'e str,
}

pub(super) fn changed(user_id: UserId, change: &StatusChange) -> UserStatus<'_> {
    let emoji = change.emoji.as_ref().map(|emoji| match emoji {
        Some(set) => Emoji { emoji_name: &set.name, emoji_code: &set.code, reaction_type: &set.kind },
        None => Emoji { emoji_name: "", emoji_code: "", reaction_type: NO_EMOJI_TYPE },
    });
    UserStatus { user_id, away: change.away, status_text: change.text.as_deref(), emoji }
}
