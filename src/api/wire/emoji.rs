//! JSON of custom emoji (docs/api/emoji.md#custom-emoji).

use model::picture::RealmEmoji;
use model::{RealmId, UserId};
use rules::custom_emoji::{emoji_url, still_url};
use serde::Serialize;
use std::collections::BTreeMap;

/// A custom emoji.
#[derive(Clone, Debug, Serialize)]
pub struct EmojiJson<'e> {
    id: String,
    name: &'e str,
    source_url: String,
    still_url: Option<String>,
    deactivated: bool,
    author_id: Option<UserId>,
}

/// The value of `realm_emoji`: all of them, by id.
pub fn realm_emoji<'e>(
    realm: RealmId,
    all: impl Iterator<Item = &'e RealmEmoji>,
) -> BTreeMap<u32, EmojiJson<'e>> {
    let json = |emoji: &'e RealmEmoji| EmojiJson {
        id: emoji.id.to_string(),
        name: &emoji.name,
        source_url: emoji_url(realm, emoji),
        still_url: still_url(realm, emoji),
        deactivated: emoji.is_deactivated,
        author_id: emoji.author,
    };
    all.map(|emoji| (emoji.id, json(emoji))).collect()
}
