//! `drafts`: the user's own drafts.

use crate::api::wire::draft::{DraftJson, draft};
use model::event::TextChange;
use model::{DraftId, SavedDraft, UserId};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Drafts<'e> {
    Add { drafts: Vec<DraftJson<'e>> },
    Update { draft: DraftJson<'e> },
    Remove { draft_id: DraftId },
}

pub(super) fn changed(owner: UserId, change: &TextChange<DraftId, SavedDraft>) -> Drafts<'_> {
    match change {
        TextChange::Added(added) => {
            Drafts::Add { drafts: added.iter().map(|(id, record)| draft(owner, *id, record)).collect() }
        }
        TextChange::Changed(id, record) => Drafts::Update { draft: draft(owner, *id, record) },
        TextChange::Removed(id) => Drafts::Remove { draft_id: *id },
    }
}
