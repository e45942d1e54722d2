//! Compacts sealed segments: writes an archive beside each, reads it back from the disk and compares it record by record, and
//! only then gives it its name. The segment is removed some time later, so that a copy that is being made finds it.
//!
//! A crash leaves an unfinished file (`.new`), which the next start removes, or both the archive and the segment; see `remove_duplicates`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::archive::{Archive, ArchiveWriter};
use super::codec::{self, BLOCK_BYTES, Records, archive_name, file_name};
use super::error::{Damage, LogError, is_full};
use super::part::{self, Part, is_missing};
use super::recover::Scan;
use super::scrub::sealed_segments;
use super::segment::{self, Faults, Group, Operation, Segment};
use crate::disk;

/// A step of background work on the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compacted {
    /// Nothing is left to do.
    Nothing,
    /// It was interrupted.
    Interrupted,
    /// A segment became an archive.
    Segment { number: u64, segment_bytes: u64, archive_bytes: u64 },
}

/// What the compaction of an open journal knows.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The journal is closed: nothing may be changed in its folder.
    pub is_closed: bool,
    /// Segments whose archive is complete, with the time when it was.
    pub archived: Vec<(Instant, u64)>,
    /// Segments that cannot be compacted, because they are damaged.
    damaged: BTreeSet<u64>,
}

/// The folder of an open journal, as its compaction uses it.
pub(crate) struct Compaction<'j> {
    pub folder: &'j Path,
    pub sync: bool,
    pub faults: Faults,
    pub files: &'j Mutex<Files>,
    /// How long a segment is kept beside its archive.
    pub original_kept: Duration,
    /// So many of the newest sealed segments are not compacted.
    pub newest: usize,
}

/// Called with the bytes that were read or written. False: give up.
pub(crate) type PaceFn<'p> = dyn FnMut(u64) -> bool + 'p;

impl Compaction<'_> {
    /// Removes segments whose archive has been there long enough, and compacts the oldest segment that can be.
    pub(crate) fn step(&self, pace: &mut PaceFn<'_>) -> Result<Compacted, LogError> {
        self.remove_originals(false)?;
        let Some(number) = self.next()? else { return Ok(Compacted::Nothing) };
        let unfinished = self.folder.join(format!("{}{}", archive_name(number), segment::UNFINISHED_SUFFIX));
        let compacted = self.compact(number, &unfinished, pace);
        if !matches!(compacted, Ok(Compacted::Segment { .. })) && !self.files.lock().is_closed {
            // Most likely the disk is full: free the space. If removing fails, the next start removes it.
            let _ = fs::remove_file(&unfinished);
        }
        if let Err(LogError::Corrupt(_)) = &compacted {
            self.files.lock().damaged.insert(number);
        }
        compacted
    }

    /// The oldest sealed segment that has no archive.
    fn next(&self) -> Result<Option<u64>, LogError> {
        let mut sealed = sealed_segments(self.folder)?;
        sealed.truncate(sealed.len().saturating_sub(self.newest));
        let archived = part::archives(self.folder)?;
        let files = self.files.lock();
        let is_next =
            |number: &u64| archived.binary_search(number).is_err() && !files.damaged.contains(number);
        Ok(sealed.into_iter().find(is_next).filter(|_| !files.is_closed))
    }

    fn compact(&self, number: u64, unfinished: &Path, pace: &mut PaceFn<'_>) -> Result<Compacted, LogError> {
        // Every checksum, every chain, and that the next segment continues it.
        let Some(end) = Scan::default().read_sealed(self.folder, number, pace)? else {
            return Ok(Compacted::Interrupted);
        };
        let original = Part::open(self.folder, number)?;
        let segment_bytes = original.header().bytes;
        if disk::space(self.folder).is_some_and(|space| !space.has_room(segment_bytes)) {
            return Err(LogError::Full("there is no room for an archive beside its segment".into()));
        }
        self.before(Operation::WriteArchive, unfinished)?;
        let Some(archive_bytes) = write(&original, end, unfinished, self.sync, pace)? else {
            return Ok(Compacted::Interrupted);
        };
        self.before(Operation::VerifyArchive, unfinished)?;
        if !verify(&original, end, unfinished, number, pace)? {
            return Ok(Compacted::Interrupted);
        }
        if !self.publish(number, unfinished)? {
            return Ok(Compacted::Interrupted);
        }
        Ok(Compacted::Segment { number, segment_bytes, archive_bytes })
    }

    /// Gives the archive its name, unless its segment was removed meanwhile.
    fn publish(&self, number: u64, unfinished: &Path) -> Result<bool, LogError> {
        let mut files = self.files.lock();
        if files.is_closed || !self.folder.join(file_name(number)).exists() {
            return Ok(false);
        }
        self.before(Operation::RenameArchive, unfinished)?;
        fs::rename(unfinished, self.folder.join(archive_name(number)))
            .map_err(|error| LogError::io("rename", unfinished, error))?;
        segment::sync_folder(self.folder, self.sync)?;
        files.archived.push((Instant::now(), number));
        Ok(true)
    }

    /// Removes the segments whose archives have been complete for long enough, or all that have archives. Returns those that
    /// are left.
    pub(crate) fn remove_originals(&self, at_once: bool) -> Result<Vec<u64>, LogError> {
        let mut files = self.files.lock();
        let mut is_removed = false;
        let is_due = |since: Instant| at_once || since.elapsed() >= self.original_kept;
        while !files.is_closed
            && let Some((_, number)) = files.archived.first().filter(|(since, _)| is_due(*since)).copied()
        {
            let path = self.folder.join(file_name(number));
            self.before(Operation::RemoveOriginal, &path)?;
            if self.folder.join(archive_name(number)).exists() {
                remove_file(&path)?;
                is_removed = true;
            }
            files.archived.remove(0);
        }
        segment::sync_folder(self.folder, self.sync && is_removed)?;
        Ok(files.archived.iter().map(|(_, number)| *number).collect())
    }

    fn before(&self, operation: Operation, path: &Path) -> Result<(), LogError> {
        self.faults.before(operation).map_err(|error| LogError::io("compact", path, error))
    }
}

fn remove_file(path: &Path) -> Result<(), LogError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LogError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

/// Writes the groups of a part before `end` to an archive. Returns its size; `None` when `pace` gave up.
fn write(
    original: &Part,
    end: u64,
    path: &Path,
    sync: bool,
    pace: &mut PaceFn<'_>,
) -> Result<Option<u64>, LogError> {
    let failed = |error: std::io::Error| match is_full(&error) {
        true => LogError::Full(error.to_string().into()),
        false => LogError::io("write", path, error),
    };
    let mut archive = ArchiveWriter::create(path, original.header(), sync).map_err(failed)?;
    let mut offset = BLOCK_BYTES;
    while offset < end {
        let Some(group) = original.read_group(offset)? else { return Err(unreadable(original, offset)) };
        archive.add(&group, erased_frames(&group)).map_err(failed)?;
        if !pace(group.end - offset) {
            return Ok(None);
        }
        offset = group.end;
    }
    archive.finish().map(Some).map_err(failed)
}

/// Copies the groups of a part before `end` to a new file, which then takes its name as an archive; a part without such
/// groups is removed.
pub(crate) fn shorten(folder: &Path, number: u64, end: u64) -> Result<(), LogError> {
    if end <= BLOCK_BYTES {
        return part::remove(folder, number, true);
    }
    let path = folder.join(archive_name(number));
    let unfinished = folder.join(format!("{}{}", archive_name(number), segment::UNFINISHED_SUFFIX));
    let original = Part::open(folder, number)?;
    write(&original, end, &unfinished, true, &mut |_| true)?;
    verify(&original, end, &unfinished, number, &mut |_| true)?;
    fs::rename(&unfinished, &path).map_err(|error| LogError::io("rename", &unfinished, error))?;
    segment::sync_folder(folder, true)
}

/// How many frames of a group have lost content.
fn erased_frames(group: &Group) -> u32 {
    let mut records = Records::new(&group.body);
    let mut count = 0;
    while let Some((header, _)) = records.take() {
        count += u32::from(header.kind == codec::RecordKind::Erased);
    }
    count
}

/// Reads an archive back from the disk and compares it with the original, record by record. False when `pace` gave up.
fn verify(
    original: &Part,
    end: u64,
    path: &Path,
    number: u64,
    pace: &mut PaceFn<'_>,
) -> Result<bool, LogError> {
    let archive = Archive::open_file(path.to_path_buf(), number)?;
    archive.drop_cached();
    let mut offset = BLOCK_BYTES;
    while offset < end {
        let Some(expected) = original.read_group(offset)? else { return Err(unreadable(original, offset)) };
        match archive.read_group(offset)? {
            Some(found) if found == expected => {}
            _ => return Err(differs(number, offset)),
        }
        if !pace(expected.end - offset) {
            return Ok(false);
        }
        offset = expected.end;
    }
    if archive.end == end && archive.header == *original.header() {
        return Ok(true);
    }
    Err(differs(number, end))
}

fn unreadable(part: &Part, offset: u64) -> LogError {
    let segment = part.header().number;
    let what = "a group that was stored is unreadable".to_owned();
    let damage = Damage { segment, offset, realm: None, sequence: None, what, is_archive: false };
    part.locate(damage.into())
}

/// The archive is wrong, not the journal: the segment stays.
fn differs(number: u64, offset: u64) -> LogError {
    let what = format!("the new archive of segment {number} differs from it at byte {offset}");
    LogError::Unavailable(what.into())
}

/// Removes one of the two where a crash left both a segment and its archive: the segment, if the archive is whole.
pub(crate) fn remove_duplicates(folder: &Path, sync: bool) -> Result<(), LogError> {
    let segments = segment::list(folder)?;
    for number in part::archives(folder)? {
        if segments.binary_search(&number).is_err() {
            continue;
        }
        let (archive, segment) = (folder.join(archive_name(number)), folder.join(file_name(number)));
        match is_whole(folder, number) {
            Ok(()) => {
                tracing::info!(segment = %segment.display(), "removing a segment whose archive is complete");
                remove_file(&segment)?;
            }
            Err(error) if is_readable(folder, number) => {
                tracing::warn!(archive = %archive.display(), %error, "removing an archive that is not complete");
                remove_file(&archive)?;
            }
            Err(error) => {
                tracing::error!(archive = %archive.display(), %error, "an archive and its segment are damaged");
            }
        }
        segment::sync_folder(folder, sync)?;
    }
    Ok(())
}

/// Whether a segment that has an archive, too, is whole and continued by the next part.
fn is_readable(folder: &Path, number: u64) -> bool {
    matches!(Scan::default().read_sealed(folder, number, &mut |_| true), Ok(Some(_)))
}

/// Whether an archive can be read to where its segment ends.
fn is_whole(folder: &Path, number: u64) -> Result<(), LogError> {
    let archive = Archive::open(folder, number)?;
    let mut offset = BLOCK_BYTES;
    while let Some(group) = archive.read_group(offset)? {
        offset = group.end;
    }
    if offset != archive.end {
        return Err(differs(number, offset));
    }
    let segment = match Segment::open(folder, number, false, Faults::default()) {
        // The archive is all that is left.
        Err(LogError::Corrupt(_)) => return Ok(()),
        opened => opened?,
    };
    let given_end = match Part::open(folder, number + 1) {
        Err(error) if is_missing(&error) => 0,
        next => next?.header().previous_end,
    };
    let mut end = BLOCK_BYTES;
    while (given_end == 0 || end < given_end)
        && let Some(group) = segment.read_group(end)?
    {
        end = group.end;
    }
    if offset < end || archive.header != segment.header { Err(differs(number, offset)) } else { Ok(()) }
}

/// The path of an archive, and of the file that becomes it.
#[cfg(test)]
pub(super) fn paths(folder: &Path, number: u64) -> (std::path::PathBuf, std::path::PathBuf) {
    let name = archive_name(number);
    (folder.join(&name), folder.join(format!("{name}{}", segment::UNFINISHED_SUFFIX)))
}
