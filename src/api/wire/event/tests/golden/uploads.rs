//! Events of uploaded files.

use super::*;
use model::event::AttachmentChange;
use model::{Attachment, AttachmentId, AttachmentUse, ListedAttachment};

fn listed(uses: &[u32]) -> ListedAttachment {
    let file = Attachment {
        id: AttachmentId(3),
        owner: fixture::IAGO,
        path_id: "1/ab/x/cat-ü.png".into(),
        name: TEXT.into(),
        size: 5_000_000_000,
        content_type: "image/png".into(),
        created: Timestamp(5_999),
        image: None,
        unclaimed_since: None,
    };
    let named = |id: &u32| AttachmentUse { message: MessageId(*id), sent: Timestamp(7_999) };
    ListedAttachment { file: file.into(), uses: uses.iter().map(named).collect() }
}

fn changed(change: AttachmentChange) -> EventBody {
    EventBody::Attachment { change, space_used: 7 }
}

/// An event of each kind.
pub(super) fn events() -> Vec<EventBody> {
    vec![
        changed(AttachmentChange::Added(listed(&[]))),
        changed(AttachmentChange::Updated(listed(&[1, 2]))),
        changed(AttachmentChange::Removed(AttachmentId(3))),
    ]
}
