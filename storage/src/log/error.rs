//! What a log can answer besides success. Every condition is a value with a name, so that the layers above
//! can map it to an answer; nothing here decides what a client is told.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a log refused or could not finish something.
///
/// It is `Clone` because one failed group answers many waiting appends.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The realm was opened again with a newer epoch: the caller is no longer its owner and must stop.
    #[error("realm {realm} is fenced: epoch {epoch} was given, {current} is current")]
    Fenced {
        /// The realm of the refused frame.
        realm: u32,
        /// The epoch the caller holds.
        epoch: u64,
        /// The epoch the log knows.
        current: u64,
    },
    /// The frame does not follow the last one of its realm. Nothing was queued.
    #[error("realm {realm} expects sequence {expected}, {given} was given")]
    Sequence {
        /// The realm of the refused frame.
        realm: u32,
        /// The only sequence the log would have taken.
        expected: u64,
        /// The sequence in the frame.
        given: u64,
    },
    /// The realm was never opened on this log, so there is no epoch to check against.
    #[error("realm {realm} is not open on this log")]
    NotOpen {
        /// The realm of the refused call.
        realm: u32,
    },
    /// The payload is larger than [`super::PAYLOAD_BYTES_MAX`]. Nothing was queued.
    #[error("a frame of {bytes} bytes is larger than the limit of {} bytes", super::PAYLOAD_BYTES_MAX)]
    TooLarge {
        /// The size of the refused payload.
        bytes: usize,
    },
    /// The queue before the writer is full. Nothing was queued; the same frame may be tried again later.
    #[error("the log is behind: its queue is full")]
    Behind,
    /// The frames may or may not be stored: the disk failed while they were written. Only reopening tells.
    #[error("the log cannot tell whether the frames are stored: {0}")]
    Ambiguous(Arc<str>),
    /// The log takes no more frames until it is opened again. The frames are certainly not stored.
    #[error("the log is unavailable: {0}")]
    Unavailable(Arc<str>),
    /// The frames asked for were trimmed away, or a trim reaches past the last frame.
    #[error("realm {realm} keeps frames {first} to {last}, {asked} was asked for")]
    OutOfRange {
        /// The realm asked for.
        realm: u32,
        /// The first sequence that is kept.
        first: u64,
        /// The last sequence that is stored.
        last: u64,
        /// The sequence in the call.
        asked: u64,
    },
    /// Stored bytes are not what was written, and not the trace of a write cut short.
    #[error("{0}")]
    Corrupt(Box<Damage>),
    /// The journal was written in a format this version does not know.
    #[error(
        "journal segment {} has format {found}, this version knows {}; start the version that wrote it",
        .path.display(), super::FORMAT
    )]
    Format {
        /// The file with the unknown format.
        path: PathBuf,
        /// Its format number.
        found: u32,
    },
    /// Another journal, of this or another process, has the folder open.
    #[error("the journal {} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The operating system refused a file operation outside of a group commit.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// The verb: open, read, write, ...
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: Arc<io::Error>,
    },
}

impl LogError {
    /// Wraps a system error with what was being done to which path.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_path_buf(), source: Arc::new(source) }
    }
}

/// Where stored bytes are not what was written. Its `Display` names the way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The number of the damaged segment.
    pub segment: u64,
    /// The byte in the segment's file where the damaged group begins.
    pub offset: u64,
    /// The realm of the damaged record, where it is known.
    pub realm: Option<u32>,
    /// The sequence that was expected there, where it is known.
    pub sequence: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = super::segment::file_name(self.segment);
        write!(out, "the journal is damaged in segment {name} at byte {}", self.offset)?;
        if let (Some(realm), Some(sequence)) = (self.realm, self.sequence) {
            write!(out, " (realm {realm}, frame {sequence})")?;
        }
        write!(
            out,
            ": {}. Nothing was changed. `millstream check` shows the extent; the way back is a copy of the data folder made before",
            self.what
        )
    }
}

impl From<Damage> for LogError {
    fn from(damage: Damage) -> Self {
        Self::Corrupt(Box::new(damage))
    }
}
