//! An organization's own emoji as clients read them (companions.md 2 and 10).

use super::list::push_object;
use model::picture::RealmEmoji;
use model::{RealmId, UserId};
use rules::custom_emoji::{emoji_url, still_url};
use serde::Serialize;

/// One of them.
#[derive(Clone, Debug, Serialize)]
struct EmojiJson<'e> {
    /// A string, as the key is.
    id: String,
    name: &'e str,
    source_url: String,
    still_url: Option<String>,
    deactivated: bool,
    author_id: Option<UserId>,
}

/// Writes an object with all of them, by id.
pub fn push_realm_emoji<'e>(
    out: &mut Vec<u8>,
    realm: RealmId,
    all: impl IntoIterator<Item = &'e RealmEmoji>,
) {
    let member = |emoji: &'e RealmEmoji| {
        let json = EmojiJson {
            id: emoji.id.to_string(),
            name: &emoji.name,
            source_url: emoji_url(realm, emoji),
            still_url: still_url(realm, emoji),
            deactivated: emoji.is_deactivated,
            author_id: emoji.author,
        };
        (emoji.id.to_string(), json)
    };
    push_object(out, all.into_iter().map(member));
}
