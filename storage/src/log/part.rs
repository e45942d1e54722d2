//! A numbered part of a journal: a segment, or the archive that takes its place. Readers do not know which one they have.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::archive::Archive;
use super::codec::{ARCHIVE_SUFFIX, SEGMENT_SUFFIX, SegmentHeader, archive_name, file_name};
use super::error::LogError;
use super::segment::{self, Faults, Group, Segment};

/// An open part of a journal.
pub(crate) enum Part {
    Segment(Segment),
    Archive(Archive),
}

impl Part {
    /// Opens a part for reading. `NotFound` is an `Io` error.
    pub(crate) fn open(folder: &Path, number: u64) -> Result<Self, LogError> {
        // The segment as long as it is there: it is removed last, so whatever becomes of it, the archive is found.
        match Segment::open(folder, number, false, Faults::default()) {
            Err(error) if is_missing(&error) => Archive::open(folder, number).map(Self::Archive),
            opened => opened.map(Self::Segment),
        }
    }

    /// Opens what is left of a part once the files that archives have taken the place of are removed.
    pub(crate) fn open_replaced(folder: &Path, number: u64) -> Result<Self, LogError> {
        match Archive::open(folder, number) {
            Err(error) if is_missing(&error) => Self::open(folder, number),
            opened => opened.map(Self::Archive),
        }
    }

    /// The header of the segment.
    pub(crate) fn header(&self) -> &SegmentHeader {
        match self {
            Self::Segment(segment) => &segment.header,
            Self::Archive(archive) => &archive.header,
        }
    }

    /// The group that begins at `offset` in the segment, or `None` when there is no complete, valid group.
    pub(crate) fn read_group(&self, offset: u64) -> Result<Option<Group>, LogError> {
        match self {
            Self::Segment(segment) => segment.read_group(offset),
            Self::Archive(archive) => archive.read_group(offset),
        }
    }

    /// The byte after the last one from `offset` on that is not zero, or `offset` when all are.
    pub(crate) fn written_end(&self, offset: u64) -> Result<u64, LogError> {
        match self {
            Self::Segment(segment) => segment.written_end(offset),
            Self::Archive(archive) => Ok(archive.end),
        }
    }

    /// Says of damage in which file it is.
    pub(crate) fn locate(&self, error: LogError) -> LogError {
        match (self, error) {
            (Self::Archive(archive), LogError::Corrupt(mut damage))
                if damage.segment == archive.header.number =>
            {
                damage.is_archive = true;
                LogError::Corrupt(damage)
            }
            (_, error) => error,
        }
    }
}

/// Whether a file does not exist.
pub(crate) fn is_missing(error: &LogError) -> bool {
    matches!(error, LogError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}

/// The numbers of the parts in a folder, ascending.
pub(crate) fn list(folder: &Path) -> Result<Vec<u64>, LogError> {
    let mut numbers = archives(folder)?;
    numbers.extend(segment::list(folder)?);
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The numbers of the archives in a folder, ascending.
pub(crate) fn archives(folder: &Path) -> Result<Vec<u64>, LogError> {
    segment::list_files(folder, ARCHIVE_SUFFIX)
}

/// Removes a part: its archive and its segment.
pub(crate) fn remove(folder: &Path, number: u64, sync: bool) -> Result<(), LogError> {
    for name in [archive_name(number), file_name(number)] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(LogError::io("remove", &path, error));
            }
            _ => {}
        }
    }
    segment::sync_folder(folder, sync)
}

/// Whether a file of a journal's folder has the name of a segment.
pub fn is_segment(path: &str) -> bool {
    path.ends_with(SEGMENT_SUFFIX)
}
