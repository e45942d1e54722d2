//! `DELETE /attachments/{attachment_id}`: deletes a file of the requester (docs/api/uploads.md#delete-a-file).

use super::delete_bytes;
use crate::http::{App, Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands::RemoveAttachment;
use model::AttachmentId;

/// Deletes record and bytes. Links to the file stay in messages and lead nowhere.
pub async fn remove(app: App, caller: Caller, Path(id): Path<AttachmentId>, _: Params<()>) -> HandlerResult {
    let path_id = caller.realm.execute(RemoveAttachment { user: caller.user.id, id }).await?;
    delete_bytes(&app, &path_id).await;
    reply_ok()
}
