//! Files that users upload to name them in messages (docs/api/uploads.md).
//!
//! The bytes are in the blob store under [`Attachment::path_id`], which is never reused for other bytes. Which messages name
//! a file is stored apart from it, because it changes with messages.

use crate::ids::{AttachmentId, MessageId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub id: AttachmentId,
    /// The user who uploaded it.
    pub owner: UserId,
    /// `{realm}/{2 random characters}/{24 random characters}/{sanitized name}`: the path below `/user_uploads/`.
    pub path_id: String,
    /// Name of the file as the client sent it, at most 255 bytes.
    pub name: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Media type as the client sent it, or as the name suggests.
    pub content_type: String,
    pub created: Timestamp,
    /// Present for pictures whose head could be read.
    pub image: Option<ImageInfo>,
    /// Since when no message names the file; none while one does.
    pub unclaimed_since: Option<Timestamp>,
}

/// What is known of an uploaded picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageInfo {
    /// In pixels, as the picture is shown: after its EXIF orientation.
    pub width: u32,
    /// In pixels, as the picture is shown: after its EXIF orientation.
    pub height: u32,
    /// Whether it has more than one frame.
    pub is_animated: bool,
    /// The EXIF orientation of the stored bytes, 1 to 8; 1 for none.
    pub orientation: u8,
}

/// A message that names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentUse {
    pub message: MessageId,
    /// When the message was sent.
    pub sent: Timestamp,
}

/// Number of messages of a file that lists and events name; the newest.
pub const USES_LISTED_MAX: usize = 200;

/// A file with the newest messages that name it, as its owner reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAttachment {
    pub file: Arc<Attachment>,
    /// At most [`USES_LISTED_MAX`], by id.
    pub uses: Vec<AttachmentUse>,
}

/// A change of uploaded files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttachmentFact {
    /// A file was uploaded; its id was taken with it.
    Added(Box<Attachment>),
    /// A message names other files than before: it was sent, edited or is deleted.
    ClaimsChanged {
        message: MessageId,
        /// When the message was sent.
        sent: Timestamp,
        /// Files that the message names now, and did not before.
        claimed: Vec<AttachmentId>,
        /// Files that the message no longer names.
        released: Vec<AttachmentId>,
    },
    /// A file was deleted. Messages that name it have a link to nothing.
    Removed {
        attachment: AttachmentId,
        owner: UserId,
        /// Deleted by the server because no message names it; has no effect if a message claimed it meanwhile.
        if_unclaimed: bool,
    },
    /// A file without messages is still needed, for a draft or a scheduled message: it counts as unclaimed only since now.
    Kept { attachment: AttachmentId },
}

impl AttachmentFact {
    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Added(_) | Self::Removed { .. } => 1,
            Self::ClaimsChanged { claimed, released, .. } => (claimed.len() + released.len()) as u64,
            Self::Kept { .. } => 0,
        }
    }
}
