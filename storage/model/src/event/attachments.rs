//! Changes of uploaded files, as events report them.

use crate::attachment::ListedAttachment;
use crate::ids::AttachmentId;

/// What happened to an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentChange {
    /// It is new.
    Added(ListedAttachment),
    /// Other messages name it than before.
    Updated(ListedAttachment),
    /// It was deleted.
    Removed(AttachmentId),
}

impl AttachmentChange {
    /// Number of messages that the event lists.
    pub fn uses(&self) -> usize {
        match self {
            Self::Added(listed) | Self::Updated(listed) => listed.uses.len(),
            Self::Removed(_) => 0,
        }
    }
}
