//! The whole groups of a segment, as a backup stores them, and cutting a restored journal at a point in time.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;

use super::codec::{
    BLOCK_BYTES, Erased, RecordKind, Records, SEGMENT_HEADER_BYTES, SegmentHeader, archive_name,
};
use super::compact;
use super::error::LogError;
use super::part::{self, Part};
use super::scrub::sealed_segments;
use super::segment::{Faults, Segment};

/// The segments of a journal that have groups, ascending. A server may append to the last one meanwhile.
///
/// # Errors
/// [`LogError::Io`].
pub fn segments_with_groups(folder: &Path) -> Result<Vec<u64>, LogError> {
    let sealed = sealed_segments(folder)?;
    let next = sealed
        .last()
        .map_or_else(|| part::list(folder).map(|all| all.first().copied()), |last| Ok(Some(last + 1)));
    Ok(sealed.into_iter().chain(next?).collect())
}

/// The length of a segment up to its last whole group, each verified by its checksum, also while a server appends to it.
/// `None` for an archive, which is whole.
///
/// # Errors
/// [`LogError::Io`], [`LogError::Corrupt`] for a damaged header, [`LogError::Format`].
pub fn whole_bytes(folder: &Path, number: u64, name: &str) -> Result<Option<u64>, LogError> {
    if !part::is_segment(name) {
        return Ok(None);
    }
    let segment = Segment::open(folder, number, false, Faults::default())?;
    let mut end = BLOCK_BYTES;
    while let Some(group) = segment.read_group(end)? {
        end = group.end;
    }
    Ok(Some(end))
}

/// Extends a segment that has only its whole groups with zeros, to the size that its header says.
///
/// # Errors
/// [`LogError::Io`], [`LogError::Corrupt`] for a damaged header.
pub fn extend_segment(path: &Path) -> Result<(), LogError> {
    use std::os::unix::fs::FileExt;
    let extend = || {
        let file: File = OpenOptions::new().read(true).write(true).open(path)?;
        let mut header = [0; SEGMENT_HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        let header =
            SegmentHeader::decode(&header).map_err(|_| std::io::Error::other("its header is damaged"))?;
        if file.metadata()?.len() < header.bytes {
            file.set_len(header.bytes)?;
        }
        file.sync_all()
    };
    extend().map_err(|error| LogError::io("extend", path, error))
}

/// What was cut from a journal.
#[derive(Debug, Default)]
pub struct Cut {
    /// How many frames were removed.
    pub removed: u64,
    /// Whether it said which frames were trimmed.
    pub has_trims: bool,
    /// The last frame of each organization that is left.
    pub ends: BTreeMap<u32, u64>,
}

/// Cuts a journal before the first group that has a frame of which `is_late` says so.
///
/// # Errors
/// [`LogError::Io`], and errors of `is_late`.
pub fn cut_before(
    folder: &Path,
    is_late: &mut dyn FnMut(&[u8]) -> Result<bool, LogError>,
) -> Result<Cut, LogError> {
    let (mut cut, mut found) = (None, Cut::default());
    for number in segments_with_groups(folder)? {
        let part = Part::open(folder, number)?;
        let mut offset = BLOCK_BYTES;
        while let Some(group) = part.read_group(offset)? {
            let mut records = Records::new(&group.body);
            let mut frames = BTreeMap::new();
            let (mut count, mut has_trims) = (0, false);
            while let Some((header, payload)) = records.take() {
                let payload = &group.body[payload];
                let payload = match header.kind {
                    RecordKind::Frame => payload,
                    RecordKind::Erased => Erased::split(payload).map_or(payload, |(_, rest)| rest),
                    RecordKind::Trim => {
                        has_trims = true;
                        continue;
                    }
                    RecordKind::Roster => continue,
                };
                if cut.is_none() && is_late(payload)? {
                    cut = Some((number, offset));
                }
                count += 1;
                frames.insert(header.realm, header.sequence);
            }
            match cut {
                Some(_) => {
                    found.removed += count;
                    found.has_trims |= has_trims;
                }
                None => found.ends.extend(frames),
            }
            offset = group.end;
        }
    }
    let Some((number, offset)) = cut else { return Ok(found) };
    for later in part::list(folder)?.into_iter().rev().filter(|later| *later > number) {
        part::remove(folder, later, true)?;
    }
    if folder.join(archive_name(number)).exists() {
        compact::shorten(folder, number, offset)?;
        return Ok(found);
    }
    let mut segment = Segment::open(folder, number, true, Faults::default())?;
    let zeros = vec![0; (segment.written_end(offset)? - offset) as usize];
    segment.commit(offset, &zeros, true).map_err(|error| LogError::io("cut", segment.path(), error))?;
    Ok(found)
}
