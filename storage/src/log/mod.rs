//! The log of frames, one ordered history per realm. What is in the log is durable; everything else is derived from it.
//!
//! A frame's payload is opaque here. [`Journal`] is the log on the local disk, `MemoryLog` the one for tests; both
//! pass the same conformance suite.
//!
//! The file format of the journal is described in `codec`; `recover` describes which incomplete writes are discarded
//! and which damage is rejected when a journal is opened.

mod append_queue;
mod archive;
mod codec;
mod compact;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod direct;
mod erase;
mod error;
mod index;
mod journal;
#[cfg(any(test, feature = "memory-log"))]
mod memory;
mod pace;
mod part;
mod positions;
mod prefix;
mod reader;
mod recover;
mod repair;
mod scrub;
mod segment;
mod segment_pool;
mod torn;
mod writer;

#[cfg(test)]
mod archive_tests;
#[cfg(test)]
mod conformance_tests;
#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod recover_tests;
#[cfg(test)]
mod sealed_tests;

use bytes::Bytes;

pub use codec::PAYLOAD_BYTES_MAX;
pub use compact::Compacted;
pub use erase::{ErasedPart, Eraser, LogParts, SealedPart, Visitor, erased_frames};
pub(crate) use error::is_full;
pub use error::{Damage, LogError};
pub use journal::{Journal, JournalOptions, SyncPolicy};
#[cfg(any(test, feature = "memory-log"))]
pub use memory::MemoryLog;
pub use part::is_segment;
pub use prefix::{Cut, cut_before, extend_segment, segments_with_groups, whole_bytes};
pub use recover::{Progress, TornTail, Verification, verify};
pub use scrub::{Scrubbed, scrub_segment, sealed_segments};

/// Whether a folder has any part of a journal.
pub(crate) fn has_segments(folder: &std::path::Path) -> bool {
    part::list(folder).is_ok_and(|numbers| !numbers.is_empty())
}

/// The names that a part of a journal may have, as an archive and as a segment.
pub fn part_names(number: u64) -> [String; 2] {
    [codec::archive_name(number), codec::file_name(number)]
}

/// The bytes that the segments of a journal have or had before they were compacted: more than its frames take in memory.
pub fn segment_bytes(folder: &std::path::Path) -> u64 {
    let numbers = part::list(folder).unwrap_or_default();
    numbers
        .into_iter()
        .filter_map(|number| part::Part::open(folder, number).ok())
        .map(|part| part.header().bytes)
        .sum()
}

/// The first and the last frame that a log has of a realm, without owning it. Without frames, the last is the one before the first.
///
/// # Errors
/// Those of reading.
pub fn bounds(log: &dyn RealmLog, realm: u32) -> Result<(u64, u64), LogError> {
    match log.read(realm, u64::MAX) {
        Err(LogError::OutOfRange { first, last, .. }) => Ok((first, last)),
        Err(error) => Err(error),
        // Every frame that can be.
        Ok(_) => Ok((1, u64::MAX - 1)),
    }
}

/// One frame of a realm's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameBytes {
    pub realm: u32,
    /// Its position in that history: the first frame has 1, and there are no gaps.
    pub sequence: u64,
    /// The content, at most [`PAYLOAD_BYTES_MAX`] bytes, opaque to the log.
    pub payload: Bytes,
    /// The checksum of the original payload (xxh3-64), if content of it was erased. Not used by `append`.
    pub original: Option<u64>,
}

/// The number of an accepted append or trim: 1, 2, 3, ... for each log since it was opened.
pub type Ticket = u64;

/// Receives reports of durable appends. A shard passes one when it opens its log.
pub trait Durable: Send {
    /// Every ticket after the one reported before, up to and including `upto`, has this result:
    ///
    /// - `Ok(())`: the frames are on disk and readable;
    /// - [`LogError::Fenced`]: not stored, another owner has the realm (reported here only by logs that span machines);
    /// - [`LogError::Ambiguous`]: unknown until the log is recovered or reopened;
    /// - [`LogError::Full`], [`LogError::Unavailable`]: not stored.
    ///
    /// It is called once for each group, in order, on the log's own thread, which commits nothing meanwhile, so it must
    /// return quickly. It may run before the `append` of the ticket has returned. It must not call the log, nor drop it.
    fn durable(&mut self, upto: Ticket, result: Result<(), LogError>);
}

/// What [`RealmLog::open`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The epoch to append with: at least the requested one, and greater than that of every stored frame and every epoch
    /// since this log was opened.
    pub epoch: u64,
    /// The first sequence that was not trimmed (`last_sequence + 1` if no frame is left).
    pub first_sequence: u64,
    /// The sequence of the last durable frame, 0 for an empty log. The next append must have the one after it.
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

    /// Queues a frame and returns its ticket immediately; the [`Durable`] sink is notified when it is stored. Tickets are
    /// issued, stored and reported in one order.
    ///
    /// # Errors
    /// [`LogError::NotOpen`], [`LogError::Fenced`], [`LogError::Sequence`], [`LogError::TooLarge`],
    /// [`LogError::Behind`] or [`LogError::Unavailable`]. In every case nothing was queued and no ticket was
    /// taken.
    fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError>;

    /// The durable frames of a realm from `from_sequence` on; none when it is the one after the last.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] when requested frames were trimmed, or are after the next one to be appended.
    fn read(&self, realm: u32, from_sequence: u64) -> Result<Frames, LogError>;

    /// Trims the frames before `before_sequence`. The sink is notified when that is stored; a segment is removed when all
    /// of its frames are trimmed. Trimming what is already trimmed changes nothing.
    ///
    /// # Errors
    /// [`LogError::OutOfRange`] when it includes frames after the last durable one; otherwise as for `append`.
    fn trim(&self, realm: u32, before_sequence: u64) -> Result<Ticket, LogError>;

    /// Makes stored frames smaller, one step at a time, without changing what is read. `pace` is called with numbers of bytes
    /// that were read or written, and may wait; when it returns false, the step is given up. May run beside everything else.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] for damage that was found; [`LogError::Io`] and [`LogError::Full`]. Nothing is lost in any case.
    fn compact(&self, pace: &mut dyn FnMut(u64) -> bool) -> Result<Compacted, LogError>;

    /// Its sealed parts, from which content can be erased; `None` if it has no files.
    fn parts(&self) -> Option<&dyn LogParts> {
        None
    }

    /// Every realm with a stored history, in ascending order.
    fn realms(&self) -> Vec<u32>;

    /// After a failed commit: rolls back to the last frame that was reported as durable and accepts appends again. Frames
    /// that were not reported are lost. Every realm must be opened again. Has no effect on a working log. Blocks on the
    /// disk.
    ///
    /// # Errors
    /// [`LogError::Full`], [`LogError::Io`] or [`LogError::Corrupt`] while the disk still fails; [`LogError::Unavailable`]
    /// when the log is closed. It may be retried.
    fn recover(&self) -> Result<(), LogError>;

    /// Accepts no more appends, waits until the queued ones are stored and reported, and closes the files. Closing twice
    /// has no effect; reading stays possible.
    fn close(&self);
}
