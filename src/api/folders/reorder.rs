//! `PATCH /channel_folders`: the order of all folders (docs/api/channels.md#channel-folders).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;

/// All folders in their new order.
pub struct ReorderFolders(Vec<i64>);

impl FromFields for ReorderFolders {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ids("order")?.into_iter().map(i64::from).collect()))
    }
}

/// Sets the order of all folders.
pub async fn reorder_folders(
    caller: Caller,
    Params(ReorderFolders(order)): Params<ReorderFolders>,
) -> HandlerResult {
    caller.execute(commands::ReorderFolders { by: caller.user.id, order }).await
}
