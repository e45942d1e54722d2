//! `saved_snippets`: the user's own saved snippets.

use crate::api::wire::snippet::{SnippetJson, snippet};
use model::event::TextChange;
use model::{SavedSnippet, SavedSnippetId};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum SavedSnippets<'e> {
    /// Snippets are saved one at a time.
    Add {
        saved_snippet: Option<SnippetJson<'e>>,
    },
    Update {
        saved_snippet: SnippetJson<'e>,
    },
    Remove {
        saved_snippet_id: SavedSnippetId,
    },
}

pub(super) fn changed(change: &TextChange<SavedSnippetId, SavedSnippet>) -> SavedSnippets<'_> {
    match change {
        TextChange::Added(added) => {
            SavedSnippets::Add { saved_snippet: added.first().map(|(id, record)| snippet(*id, record)) }
        }
        TextChange::Changed(id, record) => SavedSnippets::Update { saved_snippet: snippet(*id, record) },
        TextChange::Removed(id) => SavedSnippets::Remove { saved_snippet_id: *id },
    }
}
