//! An organization in memory: what everybody reads, and what frames change once they are durable.
//!
//! `apply` is the only thing that changes it, with no clock, no randomness and no hash-map order, and it
//! gives the rows that make the trees say the same. After a restart, `load` reads the rows back.

mod apply;
mod apply_accounts;
mod apply_directory;
mod apply_invitations;
mod apply_moves;
mod apply_pictures;
mod apply_profiles;
mod apply_push;
mod arrivals;
mod changed;
pub mod chunk;
mod compose;
mod deleted;
mod flag_blocks;
mod index;
mod jobs;
mod load;
mod moves;
mod reading;
mod recent;
mod rows;
mod topic;

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod push_tests;
#[cfg(test)]
mod tests;

pub use flag_blocks::FlagBlock;
pub use index::{ChannelMessages, Location, MessageIndex, MessageIndexRow, UserMessages};
pub use jobs::{JOBS_FAILED_MAX, JOBS_WAITING_MAX, Jobs};
pub use load::load;
pub use moves::{MoveRecord, Relocation};
pub use recent::RecentMessages;
pub use rows::{Row, RowChange, Rows};
pub use topic::TopicMessages;

use arrivals::Arrivals;
use chunk::OpenChunk;
use model::{Directory, EventNumber, MessageId, QueueId, QueueRecord, RealmId, Sequence};
use moves::Moves;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far the rows of an organization have come; the row of `Table::Progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The newest frame that the rows reflect.
    pub sequence: Sequence,
    /// The newest event number that a frame has used.
    pub last_event: EventNumber,
    /// Event numbers up to this one may have been given to events outside the log.
    pub reserved_events: EventNumber,
    /// The newest message id that was given out, be the message gone by now: ids are never used again.
    pub last_message: MessageId,
}

/// An organization in memory.
#[derive(Debug)]
pub struct View {
    /// Everybody and everything but the messages. Cloning it is a snapshot.
    pub directory: Directory,
    /// Which messages there are, where, and whose flags they have.
    pub messages: MessageIndex,
    /// Registered event queues.
    pub queues: BTreeMap<QueueId, Arc<QueueRecord>>,
    /// Own records of the newest messages, and of all that are not in the trees yet. What moves made of them
    /// is not in them: see [`View::compose`].
    pub recent: RecentMessages,
    /// What is owed to the world outside.
    pub jobs: Jobs,
    /// How far it has come.
    pub progress: Progress,
    /// Where the next message's body and index row are added.
    pub(crate) chunks: OpenChunks,
    /// Messages whose own record is not what was sent.
    changed: RoaringBitmap,
    /// Messages that are gone.
    deleted: RoaringBitmap,
    /// What brought messages where they are.
    moves: Moves,
    /// Who has messages that came to a channel by moves.
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
