//! An organization in memory: readers use it, and frames change it once they are durable.
//!
//! Only `apply` changes it, deterministically (no clock, no randomness, no order of a hash map), and returns the row
//! changes that bring the trees to the same state. After a restart, `load` reads the rows.

mod apply;
mod apply_accounts;
mod apply_attachments;
mod apply_audit;
mod apply_directory;
mod apply_invitations;
mod apply_jobs;
mod apply_moves;
mod apply_pictures;
mod apply_push;
mod apply_users;
mod arrivals;
mod audit_log;
mod checkpoint;
pub mod chunk;
mod claims;
mod compact;
mod compose;
pub(crate) mod compression;
mod deleted;
mod flag_blocks;
mod flags;
mod index;
mod jobs;
pub mod key;
mod load;
mod message_blocks;
mod message_bytes;
mod message_change_rows;
mod message_changes;
mod message_record;
mod move_index;
mod moves;
mod newest;
pub mod packed;
mod places;
mod read_cache;
mod reading;
mod recent;
pub mod record;
pub mod records;
mod rows;
mod store;
mod topic;
mod user_flags;
mod versions;

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod push_tests;
#[cfg(test)]
mod tests;

pub use arrivals::ids_of;
pub use audit_log::{AUDIT_LOG_BYTES_MAX, AuditLog};
pub use claims::Claims;
pub use flag_blocks::FlagBlock;
pub use index::{ChannelMessages, Location, MessageIndex, MessageIndexRow};
pub use jobs::{JOBS_FAILED_MAX, JOBS_WAITING_MAX, Jobs};
pub use load::load;
pub use message_bytes::message_bytes;
pub use message_changes::Changes;
pub use moves::{MoveRecord, Relocation};
pub use read_cache::ReadCache;
pub use recent::{BodiesRevision, RecentMessages};
pub use records::{EditedRow, ReactionRow};
pub use rows::{Row, RowChange, Rows};
pub use topic::TopicMessages;
pub use user_flags::{FlaggedUsers, UserMessages};
pub use versions::RecentVersions;

use arrivals::Arrivals;
use chunk::OpenChunk;
use model::{ChannelId, Directory, EventNumber, MessageId, QueueId, QueueRecord, RealmId, Sequence};
use move_index::Moves;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which frames the rows of an organization reflect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The newest frame that the rows reflect.
    pub sequence: Sequence,
    /// The newest event number used by a frame.
    pub last_event: EventNumber,
    /// Event numbers up to this one may have been used for events that are not in the log.
    pub reserved_events: EventNumber,
    /// The newest assigned message id, even if that message was deleted: ids are never reused.
    pub last_message: MessageId,
}

/// An organization in memory.
#[derive(Debug, Default)]
pub struct View {
    /// Everything but the messages. A clone is a snapshot.
    pub directory: Directory,
    pub messages: MessageIndex,
    pub queues: BTreeMap<QueueId, Arc<QueueRecord>>,
    /// Records of the newest messages, and of all that are not in the trees yet, without moves applied: see
    /// [`View::compose`].
    pub recent: RecentMessages,
    /// Archived channels whose messages are not all marked as read yet.
    pub pending_reads: BTreeSet<ChannelId>,
    /// Pending and failed jobs.
    pub jobs: Jobs,
    /// Which messages name which uploaded files.
    pub claims: Claims,
    /// The newest entries of the audit log.
    pub audit_log: AuditLog,
    /// The newest applied frame.
    pub progress: Progress,
    /// The chunks to which the next message is added.
    pub(crate) chunks: OpenChunks,
    /// Versions of edited messages that are not in the trees yet.
    pub versions: RecentVersions,
    /// Messages whose content was edited.
    edited: RoaringBitmap,
    /// Messages with submessages besides the first.
    with_submessage: RoaringBitmap,
    deleted: RoaringBitmap,
    moves: Moves,
    arrivals: Arrivals,
}

/// The newest chunk of each table that has chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenChunks {
    pub bodies: OpenChunk,
    pub index_rows: OpenChunk,
}

impl View {
    /// The organization's id.
    pub fn realm(&self) -> RealmId {
        self.directory.realm().id
    }
}
