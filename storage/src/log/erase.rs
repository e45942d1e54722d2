//! Erases content from the sealed parts of a journal. A part that has something to erase is written again as an archive, in
//! which the frames that changed keep their header and their chain, so that the history still verifies; see `codec::Erased`.
//!
//! The new archive takes its name once it was read back and compared. Readers that have the old file open go on with it. The
//! segment that it was made from is removed later, as after compaction.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_64;

use super::archive::{Archive, ArchiveWriter};
use super::codec::{
    self, BLOCK_BYTES, ERASED_BYTES, Erased, RecordHeader, RecordKind, Records, archive_name, file_name,
};
use super::compact::{Compaction, PaceFn};
use super::error::{Damage, LogError, is_full};
use super::part::{self, Part, is_missing};
use super::scrub::sealed_segments;
use super::segment::{self, Group};
use crate::disk;

/// Says what takes the place of a frame's payload, by its organization and sequence; `None` if nothing of it is erased.
pub type Eraser<'e> = dyn FnMut(u32, u64, &[u8]) -> Result<Option<Vec<u8>>, LogError> + 'e;

/// Called with the organization, the sequence and the payload of a frame.
pub type Visitor<'v> = dyn FnMut(u32, u64, &[u8]) -> Result<(), LogError> + 'v;

/// A sealed part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedPart {
    pub number: u64,
    /// Its frames of which content was erased. The content of a part changes only together with this number.
    pub erased: u32,
}

/// The result of erasing content from a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasedPart {
    /// It had nothing to erase.
    Nothing,
    /// `pace` gave up, the log is closed, or the part was trimmed.
    Interrupted,
    /// So many frames lost content now; `erased` have lost some by now.
    Frames { frames: u64, erased: u32 },
}

/// The sealed parts of a log, which never change except that content is erased from them.
pub trait LogParts: Send + Sync {
    /// Ends the part that is being written, so that all frames that are durable now are in sealed parts. Needs an open realm.
    ///
    /// # Errors
    /// As for an append.
    fn seal(&self, realm: u32) -> Result<(), LogError>;

    /// The sealed parts, ascending.
    ///
    /// # Errors
    /// [`LogError::Io`], [`LogError::Corrupt`].
    fn sealed(&self) -> Result<Vec<SealedPart>, LogError>;

    /// Reads the frames of a part. False when `pace`, which is called with numbers of bytes, gave up.
    ///
    /// # Errors
    /// [`LogError::Io`], [`LogError::Corrupt`], and errors of `visit`.
    fn visit(
        &self,
        number: u64,
        visit: &mut Visitor<'_>,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, LogError>;

    /// Erases content from a sealed part. It can be interrupted at any point and done again.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] for damage, [`LogError::Io`], [`LogError::Full`], and errors of `eraser`.
    fn erase(
        &self,
        number: u64,
        eraser: &mut Eraser<'_>,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<ErasedPart, LogError>;

    /// Removes the files that archives have taken the place of: those that were kept long enough for copies that are being
    /// made, or all of them `at_once`. Returns the parts of those that are left.
    ///
    /// # Errors
    /// [`LogError::Io`].
    fn remove_originals(&self, at_once: bool) -> Result<Vec<u64>, LogError>;
}

/// The sealed parts of a journal.
pub(crate) fn sealed(folder: &Path) -> Result<Vec<SealedPart>, LogError> {
    let mut found = Vec::new();
    for number in sealed_segments(folder)? {
        let erased = match Part::open_replaced(folder, number) {
            Ok(Part::Archive(archive)) => archive.erased,
            Ok(Part::Segment(_)) => 0,
            // It was trimmed meanwhile.
            Err(error) if is_missing(&error) => continue,
            Err(error) => return Err(error),
        };
        found.push(SealedPart { number, erased });
    }
    Ok(found)
}

/// Reads the frames of a part. False when `pace` gave up.
pub(crate) fn visit(
    folder: &Path,
    number: u64,
    visit: &mut Visitor<'_>,
    pace: &mut PaceFn<'_>,
) -> Result<bool, LogError> {
    let part = Part::open_replaced(folder, number)?;
    let end = end_of(folder, &part)?;
    let mut offset = BLOCK_BYTES;
    while offset < end {
        let group = part.read_group(offset)?.ok_or_else(|| damaged(&part, offset))?;
        let mut records = Records::new(&group.body);
        while let Some((header, range)) = records.take() {
            if let Some((_, rest)) = content(&header, &group.body[range]) {
                visit(header.realm, header.sequence, rest)?;
            }
        }
        if !pace(group.end - offset) {
            return Ok(false);
        }
        offset = group.end;
    }
    Ok(true)
}

impl Compaction<'_> {
    /// Erases content from a sealed part.
    pub(crate) fn erase(
        &self,
        number: u64,
        eraser: &mut Eraser<'_>,
        pace: &mut PaceFn<'_>,
    ) -> Result<ErasedPart, LogError> {
        let part = match Part::open_replaced(self.folder, number) {
            Err(error) if is_missing(&error) => return Ok(ErasedPart::Interrupted),
            opened => opened?,
        };
        let end = end_of(self.folder, &part)?;
        let Some(frames) = frames_to_erase(&part, end, eraser, pace)? else {
            return Ok(ErasedPart::Interrupted);
        };
        if frames == 0 {
            return Ok(ErasedPart::Nothing);
        }
        if disk::space(self.folder).is_some_and(|space| !space.has_room(part.header().bytes)) {
            return Err(LogError::Full("there is no room for a new archive beside the old one".into()));
        }
        let unfinished = self.folder.join(format!("{}{}", archive_name(number), segment::UNFINISHED_SUFFIX));
        let erased = self.write_erased((&part, end), &unfinished, eraser, pace);
        match erased {
            Ok(Some(erased)) => return Ok(ErasedPart::Frames { frames, erased }),
            Ok(None) | Err(_) if !self.files.lock().is_closed => {
                // If removing fails, the next start removes it.
                let _ = fs::remove_file(&unfinished);
            }
            Ok(None) | Err(_) => {}
        }
        erased.map(|_| ErasedPart::Interrupted)
    }

    /// Writes a part again, verifies what was written, and puts it in place. Returns how many of its frames have lost content.
    fn write_erased(
        &self,
        (part, end): (&Part, u64),
        unfinished: &Path,
        eraser: &mut Eraser<'_>,
        pace: &mut PaceFn<'_>,
    ) -> Result<Option<u32>, LogError> {
        let failed = |error: std::io::Error| match is_full(&error) {
            true => LogError::Full(error.to_string().into()),
            false => LogError::io("write", unfinished, error),
        };
        let number = part.header().number;
        let mut writer = ArchiveWriter::create(unfinished, part.header(), self.sync).map_err(failed)?;
        let mut chains = Chains::default();
        let (mut offset, mut erased) = (BLOCK_BYTES, 0);
        while offset < end {
            let group = part.read_group(offset)?.ok_or_else(|| damaged(part, offset))?;
            let bytes = group.end - offset;
            offset = group.end;
            let (group, frames) = without(group, &mut chains, eraser)?;
            erased += frames;
            writer.add(&group, frames).map_err(failed)?;
            if !pace(bytes) {
                return Ok(None);
            }
        }
        writer.finish().map_err(failed)?;
        verify(part, end, &Archive::open_file(unfinished.to_path_buf(), number)?)?;
        Ok(self.publish_erased(number, unfinished)?.then_some(erased))
    }

    /// Gives the archive its name. A segment beside it is removed later.
    fn publish_erased(&self, number: u64, unfinished: &Path) -> Result<bool, LogError> {
        let (archive, segment) =
            (self.folder.join(archive_name(number)), self.folder.join(file_name(number)));
        let mut files = self.files.lock();
        if files.is_closed || !(archive.exists() || segment.exists()) {
            return Ok(false);
        }
        fs::rename(unfinished, &archive).map_err(|error| LogError::io("rename", unfinished, error))?;
        segment::sync_folder(self.folder, self.sync)?;
        if segment.exists() && !files.archived.iter().any(|(_, known)| *known == number) {
            files.archived.push((Instant::now(), number));
        }
        Ok(true)
    }
}

/// The end of the last group of a part.
fn end_of(folder: &Path, part: &Part) -> Result<u64, LogError> {
    if let Part::Archive(archive) = part {
        return Ok(archive.end);
    }
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

/// How many frames of a part would lose content; `None` when `pace` gave up.
fn frames_to_erase(
    part: &Part,
    end: u64,
    eraser: &mut Eraser<'_>,
    pace: &mut PaceFn<'_>,
) -> Result<Option<u64>, LogError> {
    let (mut offset, mut frames) = (BLOCK_BYTES, 0);
    while offset < end {
        let group = part.read_group(offset)?.ok_or_else(|| damaged(part, offset))?;
        let mut records = Records::new(&group.body);
        while let Some((header, range)) = records.take() {
            if let Some((_, rest)) = content(&header, &group.body[range]) {
                frames += u64::from(eraser(header.realm, header.sequence, rest)?.is_some());
            }
        }
        if !pace(group.end - offset) {
            return Ok(None);
        }
        offset = group.end;
    }
    Ok(Some(frames))
}

/// The checksum of a frame's original payload, and what is left of it; `None` for other records.
fn content<'p>(header: &RecordHeader, payload: &'p [u8]) -> Option<(u64, &'p [u8])> {
    match header.kind {
        RecordKind::Frame => Some((xxh3_64(payload), payload)),
        RecordKind::Erased => Erased::split(payload).map(|(erased, rest)| (erased.original, rest)),
        RecordKind::Roster | RecordKind::Trim => None,
    }
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
            Some((original, rest)) => {
                eraser(header.realm, header.sequence, rest)?.map(|left| (original, left))
            }
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
