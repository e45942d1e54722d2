//! `GET /attachments`: the requester's own uploaded files (docs/api/uploads.md#list-own-files).

use crate::api::wire::attachment::attachment;
use crate::api::wire::list::push_list;
use crate::http::admission::Admission;
use crate::http::{Caller, Envelope, HandlerResult, Params};

/// Expected memory of a file in a list and in its JSON, in bytes.
const FILE_BYTES: usize = 512;

/// `attachments`, oldest first, and `upload_space_used`: the bytes of all files of the organization.
pub async fn list(admission: Admission, caller: Caller, _: Params<()>) -> HandlerResult {
    let count = caller.realm.directory().attachment_count_of(caller.user.id);
    let held = admission.reserve_list(count, FILE_BYTES).await?;
    let own = caller.realm.attachments_of(caller.user.id);
    let mut envelope = Envelope::with_capacity(256 * own.len());
    push_list(envelope.open_field("attachments"), own.iter().map(attachment));
    let space_used = caller.realm.directory().upload_space_used();
    let reply = envelope.field("upload_space_used", &space_used)?.reply()?;
    Ok(match held {
        Some(held) => reply.holding(held)?,
        None => reply,
    })
}
