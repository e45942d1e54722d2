//! Reads a whole journal and determines its state: what was committed, what a crash cut short, what is damaged.
//!
//! Scanning changes nothing; `repair` then zeroes a torn tail. The writer has one group in flight at a time, into
//! blocks that were zeros, and begins the next one only when that group is on disk. So a crash can only cut short the
//! last group: sectors of it, or its end, are still zeros, and no group and no later segment follows it (a segment that
//! was abandoned after a failed write ends where the next one records). That is a torn tail; it was never acknowledged.
//! Everything else is damage and rejected: bytes that are neither what was written nor zeros, anything wrong before a
//! later group, a missing group, frame or segment, a broken chain, a shortened file (its size was synced before its first
//! use).
//!
//! Zeros over the very last group cannot be detected here, because a crash has the same effect. They are detected by the
//! applied sequence of the projection, which is then beyond the end of the log.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use super::codec::{self, BLOCK_BYTES, Erased, RecordHeader, RecordKind, Records, SECTOR_BYTES, Tail};
use super::error::{Damage, LogError};
use super::index::{Index, Sealed};
use super::part::{self, Part};
use super::positions::{self, Positions};
use super::segment::{self, Group};
use super::torn::{check_torn, is_written};

/// The progress of reading a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pub segments_total: usize,
    pub segments_done: usize,
    pub frames: u64,
    /// Bytes of the groups that have been read, including headers and padding.
    pub bytes: u64,
}

/// The remains of a group that a crash cut short. Its frames were never reported as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    pub segment: u64,
    pub offset: u64,
    /// Its length in bytes, up to the last that is not zero.
    pub bytes: u64,
}

/// The result of verifying a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// How much was read: everything, or everything before the first damage.
    pub progress: Progress,
    /// Realm, first and last sequence, ascending by realm.
    pub realms: Vec<(u32, u64, u64)>,
    /// An incomplete group that a crash left, which opening the journal zeroes.
    pub torn_tail: Option<TornTail>,
    /// The first damage, which prevents the journal from opening.
    pub damage: Option<Damage>,
}

/// Verifies the journal in `folder` without changing it: every checksum, every sequence, every chain. `report` is called
/// after each segment. A journal in use may show the group being written as a torn tail.
///
/// # Errors
/// [`LogError::Io`] and [`LogError::Format`]; damage is part of the result.
pub fn verify(folder: &Path, report: &mut dyn FnMut(&Progress)) -> Result<Verification, LogError> {
    let mut scan = Scan::default();
    let damage = match scan.run(folder, report) {
        Ok(()) => None,
        Err(LogError::Corrupt(damage)) => Some(*damage),
        Err(error) => return Err(error),
    };
    let realms = scan.tails.iter().map(|(realm, tail)| (*realm, tail.first, tail.last)).collect();
    Ok(Verification { progress: scan.progress, realms, torn_tail: scan.torn_tail, damage })
}

/// The last group of the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastGroup {
    pub segment: u64,
    pub offset: u64,
    pub end: u64,
}

/// The state of a journal, gathered from its segments.
#[derive(Default)]
pub(crate) struct Scan {
    /// The random number in the segments' headers; `None` for an empty folder.
    pub journal: Option<u64>,
    pub tails: BTreeMap<u32, Tail>,
    pub index: Index,
    /// All segments, in order; the last ones may hold no group yet.
    pub segments: VecDeque<Sealed>,
    pub last_group: Option<LastGroup>,
    /// The number of the next group; `None` before the first.
    pub next_group: Option<u64>,
    pub torn_tail: Option<TornTail>,
    /// The newest segment that was begun because a write to the previous one had failed.
    pub successor: Option<u64>,
    progress: Progress,
    /// The state of the realms at the beginning of the oldest segment.
    pub oldest: BTreeMap<u32, Tail>,
    /// The last segment that is known without reading it; 0 if all are read.
    known: u64,
    /// The positions at the beginning of the newest segment that was read and has a group, encoded.
    pub boundary: Option<Vec<u8>>,
    /// The folder is a copy of one in use: the newest parts may have been copied at different times. See `cut`.
    pub is_copy: bool,
    /// Where a copy ends: what follows was copied later than the part before it.
    pub cut: Option<(u64, u64)>,
}

impl Scan {
    /// A scan that reads only what follows the sealed segments.
    pub(crate) fn after(positions: Positions) -> Self {
        Self {
            journal: Some(positions.journal),
            known: positions.segments.back().map_or(0, |segment| segment.number),
            tails: positions.tails,
            index: positions.index,
            segments: positions.segments,
            next_group: Some(positions.next_group),
            successor: positions.successor,
            oldest: positions.oldest,
            ..Self::default()
        }
    }

    /// The place after the last group; `None` if there is no group. A segment that is begun when the process ends may have
    /// no group yet: then it is the one after the sealed segments.
    pub(crate) fn end(&self) -> Option<(u64, u64)> {
        let sealed = (self.known > 0).then_some((self.known + 1, BLOCK_BYTES));
        self.last_group.map(|last| (last.segment, last.end)).or(sealed)
    }

    /// Segments that the positions know and that were trimmed away since then.
    fn forget_removed(&mut self, numbers: &[u64]) -> Result<(), LogError> {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return if self.known == 0 {
                Ok(())
            } else {
                Err(damaged(self.known, 0, "the segment is missing").into())
            };
        };
        if self.segments.front().is_some_and(|oldest| oldest.number > *first) {
            return Err(damaged(*first, 0, "the positions do not know the segment").into());
        }
        while let Some(removed) = self.segments.pop_front_if(|segment| segment.number < *first) {
            for (realm, last) in removed.last_frames {
                self.oldest.entry(realm).or_default().last = last;
            }
        }
        match self.known {
            // The segment after the sealed ones exists before they are known as sealed.
            known if known > 0 && *last <= known => {
                Err(damaged(known + 1, 0, "the segment is missing").into())
            }
            _ => Ok(()),
        }
    }

    /// Reads all segments that are not known. After an error, the scan holds what came before it.
    pub(crate) fn run(&mut self, folder: &Path, report: &mut dyn FnMut(&Progress)) -> Result<(), LogError> {
        let numbers = part::list(folder)?;
        self.progress.segments_total = numbers.len();
        self.forget_removed(&numbers)?;
        let mut next = numbers.first().map(|first| self.open_next(folder, *first, *first));
        let mut following = numbers.iter().skip(1);
        while let Some(segment) = next.take() {
            let segment = segment?;
            let expected = segment.header().number + 1;
            next = following.next().map(|number| self.open_next(folder, *number, expected));
            // The end of an abandoned segment is recorded in the next one.
            let end = next
                .as_ref()
                .and_then(|next| next.as_ref().ok())
                .map_or(0, |next| next.header().previous_end);
            if segment.header().number > self.known {
                let walked = self.walk(&segment, Some(end).filter(|end| *end > 0));
                match walked.map_err(|error| segment.locate(error)) {
                    Err(LogError::Corrupt(damage)) if self.is_cut(folder, &segment)? => {
                        tracing::warn!(%damage, "the copy of the journal ends here; what follows was copied later");
                        break;
                    }
                    walked => walked?,
                }
            }
            self.progress.segments_done += 1;
            report(&self.progress);
        }
        self.check_oldest(numbers.first().copied())
    }

    /// Whether a copy ends after its last whole group: the place of the next one was not written yet when it was copied.
    /// Later parts were copied later, so that they do not continue it. `failed` is the part that could not be read to its end.
    fn is_cut(&mut self, folder: &Path, failed: &Part) -> Result<bool, LogError> {
        let Some(last) = self.last_group.filter(|_| self.is_copy) else { return Ok(false) };
        if last.segment != failed.header().number && has_damaged_start(failed)? {
            return Ok(false);
        }
        let is_unwritten = match (self.torn_tail.take(), Part::open(folder, last.segment)?) {
            (Some(_), _) => true,
            // An archive got its name when it was whole.
            (None, Part::Archive(archive)) => last.end == archive.end,
            (None, Part::Segment(segment)) if last.end + SECTOR_BYTES as u64 > segment.header.bytes => true,
            (None, Part::Segment(segment)) => segment::is_zero(&segment.read(last.end, SECTOR_BYTES as u64)?),
        };
        if is_unwritten {
            self.cut = Some((last.segment, last.end));
            self.successor = self.successor.filter(|number| *number <= last.segment);
            self.segments.retain(|segment| segment.number <= last.segment);
        }
        Ok(is_unwritten)
    }

    /// The positions before the segment whose first group is read next.
    fn encode_boundary(&self, active: u64) -> Option<Vec<u8>> {
        let view = positions::View {
            journal: self.journal?,
            next_group: self.next_group?,
            successor: self.successor.filter(|successor| *successor < active),
            tails: &self.tails,
            oldest: &self.oldest,
            segments: &self.segments,
            active,
            index: &self.index,
        };
        Some(view.encode())
    }

    fn open_next(&mut self, folder: &Path, number: u64, expected: u64) -> Result<Part, LogError> {
        if number != expected {
            return Err(damaged(expected, 0, "the segment is missing").into());
        }
        let part = Part::open(folder, number)?;
        let header = part.header();
        if *self.journal.get_or_insert(header.journal) != header.journal {
            return Err(damaged(number, 0, "the segment belongs to another journal").into());
        }
        if header.previous_end > 0 {
            self.successor = Some(number);
        }
        Ok(part)
    }

    /// Reads a part up to `given_end`, or to the last group in it.
    fn walk(&mut self, part: &Part, given_end: Option<u64>) -> Result<(), LogError> {
        let number = part.header().number;
        self.segments.push_back(Sealed { number, ..Sealed::default() });
        let mut offset = BLOCK_BYTES;
        while given_end.is_none_or(|end| offset < end)
            && let Some(group) = part.read_group(offset)?
        {
            self.check_nothing_torn_before()?;
            if offset == BLOCK_BYTES {
                self.boundary = self.encode_boundary(number).or(self.boundary.take());
            }
            self.take_group(number, offset, &group)?;
            offset = group.end;
        }
        if let Some(end) = given_end {
            if offset != end {
                return Err(damaged(number, offset, "a group that was stored is unreadable").into());
            }
            return Ok(());
        }
        let written_end = part.written_end(offset)?;
        if written_end == offset {
            return Ok(());
        }
        let Part::Segment(segment) = part else {
            return Err(damaged(number, offset, "a group that was stored is unreadable").into());
        };
        self.check_nothing_torn_before()?;
        let remains = segment.read(offset, written_end - offset)?;
        let roster_bytes = if offset == BLOCK_BYTES { self.roster_bytes() } else { 0 };
        check_torn(segment, offset, remains, self.next_group, codec::GROUP_BYTES_MAX + roster_bytes)?;
        self.torn_tail = Some(TornTail { segment: number, offset, bytes: written_end - offset });
        Ok(())
    }

    /// Reads one sealed segment and the first group of the next one, whose roster must continue it. `pace` is called after
    /// each group with its bytes. Returns the end of its last group; `None` if `pace` gave up.
    pub(crate) fn read_sealed(
        &mut self,
        folder: &Path,
        number: u64,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<u64>, LogError> {
        let part = Part::open(folder, number)?;
        let next = Part::open(folder, number + 1)?;
        let end = self.read_with_next(&part, &next, pace).map_err(|error| part.locate(error));
        end.map_err(|error| next.locate(error))
    }

    fn read_with_next(
        &mut self,
        segment: &Part,
        next: &Part,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<u64>, LogError> {
        let number = segment.header().number;
        self.segments.push_back(Sealed { number, ..Sealed::default() });
        let (mut offset, given_end) = (BLOCK_BYTES, next.header().previous_end);
        while (given_end == 0 || offset < given_end)
            && let Some(group) = segment.read_group(offset)?
        {
            self.take_group(number, offset, &group)?;
            let read = group.end - offset;
            offset = group.end;
            if !pace(read) {
                return Ok(None);
            }
        }
        let unreadable = || damaged(number, offset, "a group that was stored is unreadable");
        if (given_end > 0 && offset != given_end)
            || (given_end == 0 && segment.written_end(offset)? != offset)
        {
            return Err(unreadable().into());
        }
        let Some(group) = next.read_group(BLOCK_BYTES)? else {
            return Err(damaged(number + 1, BLOCK_BYTES, "a group that was stored is unreadable").into());
        };
        self.take_group(number + 1, BLOCK_BYTES, &group).map_err(|_| unreadable())?;
        Ok(Some(offset))
    }

    fn roster_bytes(&self) -> u64 {
        codec::RECORD_HEADER_BYTES as u64 + self.tails.len() as u64 * codec::ROSTER_ENTRY_BYTES as u64
    }

    /// A group after an incomplete one means that the incomplete one had been stored, so it is damaged.
    fn check_nothing_torn_before(&self) -> Result<(), LogError> {
        match self.torn_tail {
            Some(torn) => Err(damaged(
                torn.segment,
                torn.offset,
                "a group is incomplete, though a later segment was begun",
            )
            .into()),
            None => Ok(()),
        }
    }

    fn take_group(&mut self, number: u64, offset: u64, group: &Group) -> Result<(), LogError> {
        let header = group.header;
        let expected = self.next_group.unwrap_or(header.group);
        if header.segment != number || header.group != expected {
            let what = format!(
                "group {expected} was expected, group {} of segment {} was found",
                header.group, header.segment
            );
            return Err(damaged(number, offset, &what).into());
        }
        let mut records = Records::new(&group.body);
        let mut count = 0;
        while let Some((record, payload)) = records.take() {
            let is_roster = record.kind == RecordKind::Roster;
            if is_roster != (offset == BLOCK_BYTES && count == 0) {
                return Err(damaged(number, offset, "the segment's roster is missing or out of place").into());
            }
            self.take_record(&record, &group.body[payload], number, offset).map_err(|what| Damage {
                realm: Some(record.realm).filter(|_| !is_roster),
                sequence: Some(record.sequence).filter(|_| !is_roster),
                ..damaged(number, offset, what)
            })?;
            count += 1;
        }
        if !records.is_done() || count != header.records {
            return Err(damaged(number, offset, "the records do not fill their group").into());
        }
        self.next_group = Some(expected + 1);
        self.last_group = Some(LastGroup { segment: number, offset, end: group.end });
        self.progress.bytes += group.end - offset;
        Ok(())
    }

    fn take_record(
        &mut self,
        record: &RecordHeader,
        payload: &[u8],
        segment: u64,
        offset: u64,
    ) -> Result<(), &'static str> {
        if record.kind == RecordKind::Roster {
            return self.take_roster(record, payload);
        }
        let tail = self.tails.entry(record.realm).or_default();
        if record.kind == RecordKind::Trim {
            if record.sequence > tail.last + 1 || record.chain != record.link(0, payload) {
                return Err("a trim record is not valid");
            }
            tail.first = tail.first.max(record.sequence);
            self.index.trim(record.realm, record.sequence);
            return Ok(());
        }
        if record.sequence != tail.last + 1 {
            return Err("the frame does not follow the one before it");
        }
        if record.epoch < tail.epoch {
            return Err("the frame was written by a fenced owner");
        }
        let is_chained = match record.kind {
            RecordKind::Erased => Erased::split(payload)
                .is_some_and(|(erased, _)| erased.seal == codec::seal(*record, tail.chain, &payload[8..])),
            _ => record.chain == record.link(tail.chain, payload),
        };
        if !is_chained {
            return Err("the frame's chain checksum does not match");
        }
        (tail.epoch, tail.last, tail.chain) = (record.epoch, record.sequence, record.chain);
        self.index.note(record.realm, record.sequence, segment, offset);
        if let Some(sealed) = self.segments.back_mut() {
            sealed.last_frames.insert(record.realm, record.sequence);
        }
        self.progress.frames += 1;
        Ok(())
    }

    fn take_roster(&mut self, record: &RecordHeader, payload: &[u8]) -> Result<(), &'static str> {
        if record.chain != record.link(0, payload) {
            return Err("the roster's checksum does not match");
        }
        let entries = codec::decode_roster(payload).ok_or("the roster is incomplete")?;
        let roster: BTreeMap<u32, Tail> = entries.into_iter().collect();
        if self.next_group.is_some() {
            return if roster == self.tails { Ok(()) } else { Err("frames before this segment are missing") };
        }
        for (realm, tail) in &roster {
            self.index.set_bounds(*realm, tail.first, tail.last);
        }
        self.tails.clone_from(&roster);
        self.oldest = roster;
        Ok(())
    }

    /// Segments older than the first one may only be missing if every frame in them was trimmed.
    fn check_oldest(&self, oldest: Option<u64>) -> Result<(), LogError> {
        let number = match oldest {
            Some(number) if number > 1 => number - 1,
            _ => return Ok(()),
        };
        if self.next_group.is_none() {
            return Err(damaged(number, 0, "the segment is missing").into());
        }
        for (realm, before) in &self.oldest {
            if self.tails.get(realm).is_some_and(|tail| tail.first <= before.last) {
                let damage = damaged(number, 0, "the segment is missing, though its frames were not trimmed");
                return Err(Damage { realm: Some(*realm), sequence: Some(before.last), ..damage }.into());
            }
        }
        Ok(())
    }
}

/// Whether the first group of a part of a copy is damaged: it was written, not only in part, and is unreadable.
fn has_damaged_start(part: &Part) -> Result<bool, LogError> {
    if part.read_group(BLOCK_BYTES)?.is_some() {
        return Ok(false);
    }
    match part {
        Part::Archive(_) => Ok(true),
        Part::Segment(segment) => is_written(segment, BLOCK_BYTES),
    }
}

fn damaged(segment: u64, offset: u64, what: &str) -> Damage {
    Damage::at(segment, offset, what)
}
