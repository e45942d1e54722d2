//! Erases content from a closed journal. A part that has something to erase is written again as an archive, in which the
//! frames that changed keep their header and their chain, so that the history still verifies; see `codec::Erased`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::archive::{Archive, ArchiveWriter};
use super::codec::{
    self, BLOCK_BYTES, ERASED_BYTES, Erased, RecordHeader, RecordKind, Records, archive_name, file_name,
};
use super::error::{Damage, LogError};
use super::part::{self, Part, is_missing};
use super::prefix::segments_with_groups;
use super::segment::{self, Group};

/// Says what takes the place of a frame's payload, by its organization; `None` if nothing of it is erased.
pub type Eraser<'e> = dyn FnMut(u32, &[u8]) -> Result<Option<Vec<u8>>, LogError> + 'e;

/// What was erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedFrames {
    /// Frames that lost content now.
    pub frames: u64,
    /// Parts of the journal that were written again.
    pub parts: u64,
}

/// Erases content from a journal that is not open. Each part is replaced as a whole, so that it can be interrupted at any point
/// and done again.
///
/// # Errors
/// [`LogError::Corrupt`] for damage, [`LogError::Io`], and errors of `eraser`.
pub fn erase(folder: &Path, eraser: &mut Eraser<'_>) -> Result<ErasedFrames, LogError> {
    let mut erased = ErasedFrames::default();
    segment::remove_unfinished(folder)?;
    for number in segments_with_groups(folder)? {
        let part = Part::open(folder, number)?;
        let end = end_of(folder, &part)?;
        let frames = frames_to_erase(&part, end, eraser)?;
        if frames == 0 {
            continue;
        }
        replace(folder, &part, end, eraser)?;
        erased.frames += frames;
        erased.parts += 1;
    }
    Ok(erased)
}

/// The end of the last group of a part.
fn end_of(folder: &Path, part: &Part) -> Result<u64, LogError> {
    let given_end = match Part::open(folder, part.header().number + 1) {
        Err(error) if is_missing(&error) => 0,
        next => next?.header().previous_end,
    };
    let mut end = BLOCK_BYTES;
    while (given_end == 0 || end < given_end)
        && let Some(group) = part.read_group(end)?
    {
        end = group.end;
    }
    if given_end > 0 && end != given_end { Err(damaged(part, end)) } else { Ok(end) }
}

/// How many frames of a part would lose content.
fn frames_to_erase(part: &Part, end: u64, eraser: &mut Eraser<'_>) -> Result<u64, LogError> {
    let (mut offset, mut frames) = (BLOCK_BYTES, 0);
    while offset < end {
        let group = part.read_group(offset)?.ok_or_else(|| damaged(part, offset))?;
        let mut records = Records::new(&group.body);
        while let Some((header, range)) = records.take() {
            if let Some((_, rest)) = content(&header, &group.body[range]) {
                frames += u64::from(eraser(header.realm, rest)?.is_some());
            }
        }
        offset = group.end;
    }
    Ok(frames)
}

/// The checksum of a frame's original payload, and what is left of it; `None` for other records.
fn content<'p>(header: &RecordHeader, payload: &'p [u8]) -> Option<(u64, &'p [u8])> {
    match header.kind {
        RecordKind::Frame => Some((xxh3_64(payload), payload)),
        RecordKind::Erased => Erased::split(payload).map(|(erased, rest)| (erased.original, rest)),
        RecordKind::Roster | RecordKind::Trim => None,
    }
}

/// Writes a part again, verifies what was written, and puts it in place; the segment is removed after that.
fn replace(folder: &Path, part: &Part, end: u64, eraser: &mut Eraser<'_>) -> Result<(), LogError> {
    let number = part.header().number;
    let archive = folder.join(archive_name(number));
    let unfinished = folder.join(format!("{}{}", archive_name(number), segment::UNFINISHED_SUFFIX));
    let failed = |error| LogError::io("write", &unfinished, error);
    let mut writer = ArchiveWriter::create(&unfinished, part.header(), true).map_err(failed)?;
    let mut chains = Chains::default();
    let mut offset = BLOCK_BYTES;
    while offset < end {
        let group = part.read_group(offset)?.ok_or_else(|| damaged(part, offset))?;
        offset = group.end;
        let (group, frames) = without(group, &mut chains, eraser)?;
        writer.add(&group, frames).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    verify(part, end, &Archive::open_file(unfinished.clone(), number)?)?;
    fs::rename(&unfinished, &archive).map_err(|error| LogError::io("rename", &unfinished, error))?;
    segment::sync_folder(folder, true)?;
    let original = folder.join(file_name(number));
    match fs::remove_file(&original) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(LogError::io("remove", &original, error));
        }
        _ => {}
    }
    segment::sync_folder(folder, true)
}

/// The chain checksum of each organization's last frame.
#[derive(Default)]
struct Chains(BTreeMap<u32, u64>);

impl Chains {
    /// The checksum before a record, which is taken into account.
    fn take(&mut self, header: &RecordHeader, payload: &[u8]) -> u64 {
        if header.kind == RecordKind::Roster {
            let entries = codec::decode_roster(payload).unwrap_or_default();
            self.0 = entries.into_iter().map(|(realm, tail)| (realm, tail.chain)).collect();
        }
        if !header.kind.is_frame() {
            return 0;
        }
        self.0.insert(header.realm, header.chain).unwrap_or_default()
    }
}

/// A group without what is erased, and how many of its frames have lost content now or before.
fn without(group: Group, chains: &mut Chains, eraser: &mut Eraser<'_>) -> Result<(Group, u32), LogError> {
    let mut body = Vec::with_capacity(group.body.len());
    let mut frames = 0;
    let mut records = Records::new(&group.body);
    while let Some((mut header, range)) = records.take() {
        let payload = &group.body[range];
        let previous = chains.take(&header, payload);
        frames += u32::from(header.kind == RecordKind::Erased);
        let changed = match content(&header, payload) {
            Some((original, rest)) => eraser(header.realm, rest)?.map(|left| (original, left)),
            None => None,
        };
        let Some((original, left)) = changed else {
            body.extend_from_slice(&header.encode());
            body.extend_from_slice(payload);
            continue;
        };
        frames += u32::from(header.kind == RecordKind::Frame);
        header.kind = RecordKind::Erased;
        header.payload_bytes =
            u32::try_from(ERASED_BYTES + left.len()).map_err(|_| LogError::TooLarge { bytes: left.len() })?;
        body.extend_from_slice(&header.encode());
        body.extend_from_slice(&Erased::payload(header, previous, original, &left));
    }
    Ok((Group { body, ..group }, frames))
}

/// Compares a new archive with what it was made from: the same groups and records, the same chain, and seals that verify.
fn verify(part: &Part, end: u64, archive: &Archive) -> Result<(), LogError> {
    archive.drop_cached();
    let mut chains = Chains::default();
    let mut offset = BLOCK_BYTES;
    while offset < end {
        let before = part.read_group(offset)?.ok_or_else(|| damaged(part, offset))?;
        let differs = || damaged(part, offset);
        let after = archive.read_group(offset)?.ok_or_else(differs)?;
        if after.end != before.end || after.header.group != before.header.group {
            return Err(differs());
        }
        let (mut old, mut new) = (Records::new(&before.body), Records::new(&after.body));
        while let Some((old_header, old_range)) = old.take() {
            let (header, range) = new.take().ok_or_else(differs)?;
            let payload = &after.body[range];
            let previous = chains.take(&header, payload);
            if !is_same((&old_header, &before.body[old_range]), (&header, payload), previous) {
                return Err(differs());
            }
        }
        if !new.is_done() {
            return Err(differs());
        }
        offset = before.end;
    }
    if archive.end == end { Ok(()) } else { Err(damaged(part, end)) }
}

/// Whether a record is the same as before, or the same frame with less content.
fn is_same(old: (&RecordHeader, &[u8]), new: (&RecordHeader, &[u8]), previous: u64) -> bool {
    if old == new {
        return true;
    }
    let Some((erased, _)) = Erased::split(new.1).filter(|_| new.0.kind == RecordKind::Erased) else {
        return false;
    };
    let place = |header: &RecordHeader| (header.realm, header.epoch, header.sequence, header.chain);
    place(old.0) == place(new.0)
        && content(old.0, old.1).is_some_and(|(original, _)| original == erased.original)
        && erased.seal == codec::seal(*new.0, previous, &new.1[8..])
}

fn damaged(part: &Part, offset: u64) -> LogError {
    let segment = part.header().number;
    let what = "a group that was stored is unreadable".to_owned();
    let damage = Damage { segment, offset, realm: None, sequence: None, what, is_archive: false };
    part.locate(damage.into())
}

/// The number of frames of which content was erased.
///
/// # Errors
/// [`LogError::Io`], [`LogError::Corrupt`].
pub fn erased_frames(folder: &Path) -> Result<u64, LogError> {
    let mut frames = 0;
    for number in part::archives(folder)? {
        frames += u64::from(Archive::open(folder, number)?.erased);
    }
    Ok(frames)
}
