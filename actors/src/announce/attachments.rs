//! Events of uploaded files, for their owners.

use super::context::Announcements;
use model::event::AttachmentChange;
use model::{AttachmentFact, AttachmentId, EventBody, UserId};

/// The events of a fact about uploaded files.
pub(super) fn announce(fact: &AttachmentFact, out: &mut Announcements<'_>) {
    match fact {
        AttachmentFact::Added(file) => {
            // In a replay it may be deleted by now, which has an event of its own.
            let Some(added) = out.context.view.listed_attachment(file.id) else { return };
            emit(file.owner, AttachmentChange::Added(added), out);
        }
        AttachmentFact::ClaimsChanged { claimed, released, .. } => {
            for file in claimed.iter().chain(released) {
                if out.seen_files.insert(*file) {
                    updated(*file, out);
                }
            }
        }
        AttachmentFact::Removed { attachment, owner, .. } => {
            // A message may have claimed it at the last moment.
            if out.context.view.directory.attachment(*attachment).is_none() {
                emit(*owner, AttachmentChange::Removed(*attachment), out);
            }
        }
        AttachmentFact::Kept { .. } => {}
    }
}

fn updated(file: AttachmentId, out: &mut Announcements<'_>) {
    let Some(updated) = out.context.view.listed_attachment(file) else { return };
    emit(updated.file.owner, AttachmentChange::Updated(updated), out);
}

fn emit(owner: UserId, change: AttachmentChange, out: &mut Announcements<'_>) {
    let space_used = out.context.view.directory.upload_space_used();
    out.to([owner], EventBody::Attachment { change, space_used });
}
