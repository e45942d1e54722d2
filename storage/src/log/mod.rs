//! The log of frames, one ordered history per realm: what is in it is durable, everything else follows it.
//!
//! A frame's payload is opaque here. [`Journal`] is the log on the local disk, [`MemoryLog`] the one for
//! tests and simulations; both pass the same conformance suite. What frames mean is for the layers above.
//!
//! The file format of the journal is described in `codec`, what is cut and what is refused on open in
//! `recover`.

mod codec;
mod error;
mod index;
mod journal;
mod memory;
mod reader;
mod recover;
mod segment;
mod supply;
mod writer;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod recover_tests;

use bytes::Bytes;

pub use codec::FORMAT;
pub use error::{Damage, LogError};
pub use journal::{Journal, JournalOptions, SyncPolicy};
pub use memory::MemoryLog;
pub use recover::{Progress, TornTail, Verification, verify};

/// The largest payload of one frame, in bytes (512 KiB). A larger one is refused with [`LogError::TooLarge`].
pub const PAYLOAD_BYTES_MAX: usize = 512 * 1024;

/// One frame of a realm's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameBytes {
    /// The realm whose history this is part of.
    pub realm: u32,
    /// Its place in that history: the first frame has 1, and there are no gaps.
    pub sequence: u64,
    /// The content, at most [`PAYLOAD_BYTES_MAX`] bytes. The log never looks inside.
    pub payload: Bytes,
}

/// The number of an accepted append or trim: 1, 2, 3, ... for each log since it was opened.
pub type Ticket = u64;

/// Who is told when appends are durable. A shard gives one when it opens its log.
pub trait Durable: Send {
    /// Every ticket after the one reported before, up to and including `upto`, has this result:
    ///
    /// - `Ok(())`: the frames are on disk and readable;
    /// - [`LogError::Fenced`]: not stored, another owner has the realm (only logs that span machines answer it here);
    /// - [`LogError::Ambiguous`]: stored or not, only reopening tells;
    /// - [`LogError::Unavailable`]: not stored.
    ///
    /// It is called once for each group, in order, on the log's own thread, which commits nothing meanwhile:
    /// post the news and return. It may run before the `append` that took the ticket has returned to its
    /// caller. It must not call back into the log, nor drop it.
    fn durable(&mut self, upto: Ticket, result: Result<(), LogError>);
}

/// What [`RealmLog::open`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The epoch to append with: at least the one asked for, greater than that of every stored frame, and
    /// greater than every one given out since this log was opened.
    pub epoch: u64,
    /// The first sequence that was not trimmed away (`last_sequence + 1` when no frame is left).
    pub first_sequence: u64,
    /// The sequence of the last durable frame, 0 for an empty log. The next append must carry the one after
    /// it.
    pub last_sequence: u64,
}

/// Frames in the order of their sequence. It ends at the last frame that was durable when `read` was called,
/// or after the first error.
pub type Frames = Box<dyn Iterator<Item = Result<FrameBytes, LogError>> + Send>;

/// The histories of some realms, each appended by one owner at a time.
///
/// This is the boundary at which a local journal can be replaced by a replicated engine: nothing above it may
/// know which one it has.
pub trait RealmLog: Send + Sync {
    /// Makes the caller the owner of `realm`, under an epoch of at least `min_epoch`. Appends under earlier
    /// epochs are fenced from here on. Waits until frames that were queued before are durable.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] when the log has failed or is closed.
    fn open(&self, realm: u32, min_epoch: u64) -> Result<Opened, LogError>;

    /// Queues a frame and returns its ticket at once; the [`Durable`] sink learns when it is stored. Tickets
    /// are given, stored and reported in one order.
    ///
    /// # Errors
    /// [`LogError::NotOpen`], [`LogError::Fenced`], [`LogError::Sequence`], [`LogError::TooLarge`],
    /// [`LogError::Behind`] or [`LogError::Unavailable`]. In every case nothing was queued and no ticket was
    /// taken.
    fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError>;

    /// The durable frames of a realm from `from_sequence` on; none when it is the one after the last.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] when frames asked for were trimmed, or lie beyond the next one to come.
    fn read(&self, realm: u32, from_sequence: u64) -> Result<Frames, LogError>;

    /// Gives up the frames before `before_sequence`. The sink learns when that is stored; space is freed when
    /// all realms have given up a whole segment. Trimming what is already trimmed changes nothing.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] when it reaches past the last durable frame; otherwise as for `append`.
    fn trim(&self, realm: u32, before_sequence: u64) -> Result<Ticket, LogError>;

    /// Every realm with a stored history, in ascending order.
    fn realms(&self) -> Vec<u32>;

    /// Takes no more appends, waits until the queued ones are stored and reported, and lets go of the files.
    /// Closing twice is harmless; reading stays possible.
    fn close(&self);
}
