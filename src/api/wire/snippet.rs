//! Saved snippets as clients read them (docs/api/saved-texts.md#saved-snippets).

use model::{SavedSnippet, SavedSnippetId};
use serde::Serialize;

/// The saved snippet object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct SnippetJson<'a> {
    id: SavedSnippetId,
    title: &'a str,
    content: &'a str,
    date_created: u64,
}

/// The JSON of a saved snippet.
pub fn snippet(id: SavedSnippetId, record: &SavedSnippet) -> SnippetJson<'_> {
    SnippetJson { id, title: &record.title, content: &record.content, date_created: record.created.secs() }
}
