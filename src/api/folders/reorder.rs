//! `PATCH /channel_folders`: the order of all folders (docs/api/channels.md#channel-folders).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;

/// The parameter.
pub struct ReorderFolders {
    order: Vec<i64>,
}

impl FromFields for ReorderFolders {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { order: fields.required_ids("order")?.into_iter().map(i64::from).collect() })
    }
}

/// Nothing but success.
pub async fn reorder_folders(caller: Caller, Params(params): Params<ReorderFolders>) -> HandlerResult {
    caller.realm.execute(commands::ReorderFolders { by: caller.user.id, order: params.order }).await?;
    reply_ok()
}
