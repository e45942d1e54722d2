//! `attachment`: the user's own uploaded files.

use crate::api::wire::attachment::{AttachmentJson, attachment};
use model::AttachmentId;
use model::event::AttachmentChange;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Attachment<'e> {
    Add { attachment: AttachmentJson<'e>, upload_space_used: u64 },
    Update { attachment: AttachmentJson<'e>, upload_space_used: u64 },
    Remove { attachment: Deleted, upload_space_used: u64 },
}

#[derive(Serialize)]
pub(super) struct Deleted {
    id: AttachmentId,
}

pub(super) fn changed(change: &AttachmentChange, upload_space_used: u64) -> Attachment<'_> {
    match change {
        AttachmentChange::Added(listed) => {
            Attachment::Add { attachment: attachment(listed), upload_space_used }
        }
        AttachmentChange::Updated(listed) => {
            Attachment::Update { attachment: attachment(listed), upload_space_used }
        }
        AttachmentChange::Removed(id) => {
            Attachment::Remove { attachment: Deleted { id: *id }, upload_space_used }
        }
    }
}
