//! `realm_emoji`: all custom emoji of the organization, deactivated ones included.

use super::writer::EventWriter;
use crate::api::wire::emoji::{EmojiJson, realm_emoji};
use model::picture::RealmEmoji;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum RealmEmojiEvent<'e> {
    Update { realm_emoji: BTreeMap<u32, EmojiJson<'e>> },
}

pub(super) fn update<'e>(writer: &EventWriter<'_>, all: &'e [Arc<RealmEmoji>]) -> RealmEmojiEvent<'e> {
    let realm_emoji = realm_emoji(writer.directory.realm().id, all.iter().map(|emoji| &**emoji));
    RealmEmojiEvent::Update { realm_emoji }
}
