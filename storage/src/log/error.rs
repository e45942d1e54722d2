//! Errors of a log.

use crate::owner::explain;
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An error of a log. `Clone`, because one failed group fails many queued appends.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// The realm was opened again with a newer epoch: the caller is no longer its owner and must stop.
    #[error("realm {realm} is fenced: epoch {epoch} was given, {current} is current")]
    Fenced { realm: u32, epoch: u64, current: u64 },
    /// The frame does not follow the last one of its realm. Nothing was queued.
    #[error("realm {realm} expects sequence {expected}, {given} was given")]
    Sequence { realm: u32, expected: u64, given: u64 },
    /// The realm was never opened on this log, so there is no epoch to check against.
    #[error("realm {realm} is not open on this log")]
    NotOpen { realm: u32 },
    /// The payload is larger than [`super::PAYLOAD_BYTES_MAX`]. Nothing was queued.
    #[error("a frame of {bytes} bytes is larger than the limit of {} bytes", super::PAYLOAD_BYTES_MAX)]
    TooLarge { bytes: usize },
    /// The queue of the writer is full. Nothing was queued; the append may be retried.
    #[error("the log is behind: its queue is full")]
    Behind,
    /// The frames may or may not be stored: the disk failed while they were written. Reopening the log resolves it.
    #[error("it is unknown whether the frames are stored: {0}")]
    Ambiguous(Arc<str>),
    /// The disk is full. The frames are not stored, and the log accepts no more until it has recovered.
    #[error("the disk is full: {0}")]
    Full(Arc<str>),
    /// The log accepts no more frames until it has recovered or is opened again. The frames are not stored.
    #[error("the log is unavailable: {0}")]
    Unavailable(Arc<str>),
    /// The requested frames were trimmed, or a trim reaches past the last frame.
    #[error("realm {realm} has frames {first} to {last}, {asked} was requested")]
    OutOfRange { realm: u32, first: u64, last: u64, asked: u64 },
    /// Stored bytes are neither what was written nor the remains of an interrupted write.
    #[error("{0}")]
    Corrupt(Box<Damage>),
    /// The journal was written in a format this version does not know.
    #[error(
        "journal segment {} has format {found}, this version knows {}; start the version that wrote it",
        .path.display(), super::codec::FORMAT
    )]
    Format { path: PathBuf, found: u32 },
    /// Another journal, of this or another process, has the folder open.
    #[error("the journal {} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The operating system refused a file operation outside of a group commit.
    #[error("cannot {what} {}: {source}", .path.display())]
    Io {
        /// The failed operation: open, read, write, …
        what: &'static str,
        path: PathBuf,
        source: Arc<io::Error>,
    },
}

impl LogError {
    /// Adds the operation and the path to a system error, and to a refused access what to do.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_path_buf(), source: Arc::new(explain(path, source)) }
    }

    /// Whether the disk, or the share of it that this process may use, is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::Io { source, .. } => is_full(source),
            Self::Fenced { .. }
            | Self::Sequence { .. }
            | Self::NotOpen { .. }
            | Self::TooLarge { .. }
            | Self::Behind
            | Self::Ambiguous(_)
            | Self::Unavailable(_)
            | Self::OutOfRange { .. }
            | Self::Corrupt(_)
            | Self::Format { .. }
            | Self::InUse(_) => false,
        }
    }

    /// Whether this process, or the system, may open no more files.
    pub(crate) fn is_out_of_files(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        let code = source.raw_os_error();
        [Errno::MFILE, Errno::NFILE].iter().any(|errno| code == Some(errno.raw_os_error()))
    }
}

/// Whether a system error means that the disk is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The position of damage in the journal. Its `Display` includes instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub segment: u64,
    /// The offset of the damaged group in the segment's file.
    pub offset: u64,
    pub realm: Option<u32>,
    pub sequence: Option<u64>,
    pub what: String,
    /// The segment is stored as an archive.
    pub is_archive: bool,
}

impl Damage {
    /// Damage at a byte of a segment, of no certain frame.
    pub(crate) fn at(segment: u64, offset: u64, what: &str) -> Self {
        Self { segment, offset, realm: None, sequence: None, what: what.to_owned(), is_archive: false }
    }
}

impl Damage {
    /// The position, and what is wrong there, without instructions.
    pub fn place(&self) -> String {
        let name = match self.is_archive {
            true => super::codec::archive_name(self.segment),
            false => super::codec::file_name(self.segment),
        };
        let frame = match (self.realm, self.sequence) {
            (Some(realm), Some(sequence)) => format!(" (realm {realm}, frame {sequence})"),
            (Some(_) | None, _) => String::new(),
        };
        format!("the journal is damaged in segment {name} at byte {}{frame}: {}", self.offset, self.what)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}. Nothing was changed. Restore a backup of the data folder; `millstream check` shows how much of the journal \
             can be read",
            self.place()
        )
    }
}

impl From<Damage> for LogError {
    fn from(damage: Damage) -> Self {
        Self::Corrupt(Box::new(damage))
    }
}
