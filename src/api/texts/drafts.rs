//! `/drafts`: unsent messages of the requester (docs/api/saved-texts.md#drafts).

use super::draft_fields::{parse_draft, parse_drafts};
use crate::api::wire::draft::draft;
use crate::api::wire::list::push_list;
use crate::http::{
    ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok,
};
use actors::commands;
use model::DraftId;
use rules::drafts::DraftRequest;
use serde::Serialize;

/// Drafts to store.
pub struct NewDrafts(Vec<DraftRequest>);

impl FromFields for NewDrafts {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        parse_drafts(&fields.required_json("drafts")?.root()).map(Self)
    }
}

/// A draft that replaces another one.
pub struct Replacement(DraftRequest);

impl FromFields for Replacement {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        parse_draft(&fields.required_json("draft")?.root()).map(Self)
    }
}

#[derive(Serialize)]
struct Created {
    ids: Vec<DraftId>,
}

/// `count` and `drafts`, the one that was changed last at the end.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let (directory, owner) = (caller.realm.directory(), caller.user.id);
    let mut drafts: Vec<_> = directory.drafts(owner).collect();
    drafts.sort_by_key(|(id, record)| (record.edited, *id));
    let mut envelope = Envelope::with_capacity(256).raw_field("count", drafts.len().to_string().as_bytes());
    let items = drafts.iter().map(|(id, record)| draft(owner, *id, record));
    push_list(envelope.open_field("drafts"), items);
    envelope.reply()
}

/// Stores drafts; `ids` are in the order of the request.
pub async fn create(caller: Caller, Params(NewDrafts(drafts)): Params<NewDrafts>) -> HandlerResult {
    let command = commands::CreateDrafts { user: caller.user.id, drafts };
    reply(&Created { ids: caller.realm.execute(command).await? })
}

/// Replaces a draft.
pub async fn update(
    caller: Caller,
    Path(id): Path<DraftId>,
    Params(Replacement(draft)): Params<Replacement>,
) -> HandlerResult {
    caller.realm.execute(commands::UpdateDraft { user: caller.user.id, id, draft }).await?;
    reply_ok()
}

/// Deletes a draft.
pub async fn delete(caller: Caller, Path(id): Path<DraftId>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::DeleteDraft { user: caller.user.id, id }).await?;
    reply_ok()
}
