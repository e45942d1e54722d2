//! Uploaded files as clients read them (docs/api/uploads.md).

use model::{AttachmentId, ListedAttachment, MessageId};
use serde::Serialize;

/// The attachment object of the API. Times are in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct AttachmentJson<'a> {
    id: AttachmentId,
    name: &'a str,
    path_id: &'a str,
    size: u64,
    create_time: u64,
    messages: Vec<UseJson>,
}

/// A message that names a file.
#[derive(Clone, Copy, Debug, Serialize)]
struct UseJson {
    id: MessageId,
    date_sent: u64,
}

/// The JSON of an uploaded file. Times are whole seconds, as everywhere in the API.
pub fn attachment(listed: &ListedAttachment) -> AttachmentJson<'_> {
    let file = &*listed.file;
    let named =
        |named: &model::AttachmentUse| UseJson { id: named.message, date_sent: named.sent.secs() * 1000 };
    AttachmentJson {
        id: file.id,
        name: &file.name,
        path_id: &file.path_id,
        size: file.size,
        create_time: file.created.secs() * 1000,
        messages: listed.uses.iter().map(named).collect(),
    }
}
