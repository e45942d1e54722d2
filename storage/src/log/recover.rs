//! Reads a whole journal and determines its state: what was committed, what a crash cut short, what is damaged.
//!
//! Scanning changes nothing; [`repair`] then zeroes a torn tail. The writer has one group in flight at a time, into
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

use super::codec::{
    self, BLOCK_BYTES, GROUP_END, GROUP_HEADER_BYTES, GroupHeader, RecordHeader, RecordKind, Records,
    SECTOR_BYTES, Tail,
};
use super::error::{Damage, LogError};
use super::index::{Index, Sealed};
use super::segment::{self, Faults, Group, Segment};

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
    oldest: BTreeMap<u32, Tail>,
}

impl Scan {
    /// Reads all segments. After an error, the scan holds what came before it.
    pub(crate) fn run(&mut self, folder: &Path, report: &mut dyn FnMut(&Progress)) -> Result<(), LogError> {
        let numbers = segment::list(folder)?;
        self.progress.segments_total = numbers.len();
        let mut next = numbers.first().map(|first| self.open_next(folder, *first, *first));
        let mut following = numbers.iter().skip(1);
        while let Some(segment) = next.take() {
            let segment = segment?;
            let expected = segment.header.number + 1;
            next = following.next().map(|number| self.open_next(folder, *number, expected));
            // The end of an abandoned segment is recorded in the next one.
            let end =
                next.as_ref().and_then(|next| next.as_ref().ok()).map_or(0, |next| next.header.previous_end);
            self.walk(&segment, Some(end).filter(|end| *end > 0))?;
            self.progress.segments_done += 1;
            report(&self.progress);
        }
        self.check_oldest(numbers.first().copied())
    }

    fn open_next(&mut self, folder: &Path, number: u64, expected: u64) -> Result<Segment, LogError> {
        if number != expected {
            return Err(damaged(expected, 0, "the segment is missing").into());
        }
        let segment = Segment::open(folder, number, false, Faults::default())?;
        if *self.journal.get_or_insert(segment.header.journal) != segment.header.journal {
            return Err(damaged(number, 0, "the segment belongs to another journal").into());
        }
        if segment.header.previous_end > 0 {
            self.successor = Some(number);
        }
        Ok(segment)
    }

    /// Reads a segment up to `given_end`, or to the last group in it.
    fn walk(&mut self, segment: &Segment, given_end: Option<u64>) -> Result<(), LogError> {
        self.segments.push_back(Sealed { number: segment.header.number, ..Sealed::default() });
        let mut offset = BLOCK_BYTES;
        while given_end.is_none_or(|end| offset < end)
            && let Some(group) = segment.read_group(offset)?
        {
            self.check_nothing_torn_before()?;
            self.take_group(segment, offset, &group)?;
            offset = group.end;
        }
        if let Some(end) = given_end {
            if offset != end {
                return Err(
                    damaged(segment.header.number, offset, "a group that was stored is unreadable").into()
                );
            }
            return Ok(());
        }
        let written_end = segment.written_end(offset)?;
        if written_end == offset {
            return Ok(());
        }
        self.check_nothing_torn_before()?;
        let remains = segment.read(offset, written_end - offset)?;
        let roster_bytes = if offset == BLOCK_BYTES { self.roster_bytes() } else { 0 };
        check_torn(segment, offset, remains, self.next_group, codec::GROUP_BYTES_MAX + roster_bytes)?;
        let number = segment.header.number;
        self.torn_tail = Some(TornTail { segment: number, offset, bytes: written_end - offset });
        Ok(())
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

    fn take_group(&mut self, segment: &Segment, offset: u64, group: &Group) -> Result<(), LogError> {
        let number = segment.header.number;
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
        if record.chain != record.link(tail.chain, payload) {
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

/// Whether `remains`, everything from `offset` to the last byte of the segment that is not zero, is a group that was cut
/// short: number `expected`, with at most `bytes_max` bytes. It is known to be incomplete.
fn check_torn(
    segment: &Segment,
    offset: u64,
    mut remains: Vec<u8>,
    expected: Option<u64>,
    bytes_max: u64,
) -> Result<(), LogError> {
    let number = segment.header.number;
    let journal = segment.header.journal;
    let refuse = |what: &str| Err(damaged(number, offset, what).into());
    let Some(header) = GroupHeader::decode(&remains, journal) else {
        let has_later_group = remains
            .chunks(BLOCK_BYTES as usize)
            .skip(1)
            .any(|block| GroupHeader::decode(block, journal).is_some());
        if has_later_group {
            return refuse("a group is unreadable, though a later one was written");
        }
        if remains.len() as u64 > bytes_max {
            return refuse("more bytes than one group can have follow the last group");
        }
        // The header lies in one sector: it is complete, or cut short with nothing after it, or missing.
        let is_cut = remains.len() <= GROUP_HEADER_BYTES
            || segment::is_zero(&remains[..SECTOR_BYTES.min(remains.len())]);
        return if is_cut { Ok(()) } else { refuse("the header of a group fails its checksum") };
    };
    let group_bytes = codec::group_bytes(u64::from(header.body_bytes));
    if header.segment != number || expected.is_some_and(|group| group != header.group) {
        return refuse("a group is in the wrong place");
    }
    if offset + group_bytes > segment.header.bytes {
        return refuse("a group is longer than its segment");
    }
    if remains.len() as u64 > group_bytes {
        return refuse("a group fails its checksum, though a later one was written");
    }
    let end = GROUP_HEADER_BYTES + header.body_bytes as usize + GROUP_END.len();
    if remains.len() > end {
        return refuse("unexpected bytes follow a group");
    }
    remains.resize(end, 0);
    let mark = &remains[end - GROUP_END.len()..];
    let matching = mark.iter().zip(GROUP_END).take_while(|(byte, expected)| **byte == *expected).count();
    let is_end_cut = matching < GROUP_END.len() && segment::is_zero(&mark[matching..]);
    let has_empty_sector = remains.chunks(SECTOR_BYTES).any(segment::is_zero);
    if is_end_cut || has_empty_sector {
        return Ok(());
    }
    refuse("a group fails its checksum, and not because of an interrupted write")
}

/// Prepares the end of a scanned journal for appending: zeroes a torn tail and rewrites the last group.
///
/// Rewriting guards against a disk error before the restart: after a failed sync the page cache may hold, as clean, a
/// group that is not on disk. Writing the same bytes again makes the next sync report their real state.
pub(crate) fn repair(folder: &Path, scan: &Scan, sync: bool, faults: &Faults) -> Result<(), LogError> {
    let change = |segment: &Segment, offset: u64, bytes: &[u8]| {
        segment
            .write(offset, bytes)
            .and_then(|()| if sync { segment.sync() } else { Ok(()) })
            .map_err(|error| LogError::io("repair", segment.path(), error))
    };
    if let Some(last) = scan.last_group.filter(|_| sync) {
        let segment = Segment::open(folder, last.segment, true, faults.clone())?;
        let bytes = segment.read(last.offset, last.end - last.offset)?;
        change(&segment, last.offset, &bytes)?;
    }
    if let Some(torn) = scan.torn_tail {
        tracing::warn!(
            segment = %codec::file_name(torn.segment), offset = torn.offset, bytes = torn.bytes,
            "discarding an incomplete last write of the journal; it was never acknowledged"
        );
        let segment = Segment::open(folder, torn.segment, true, faults.clone())?;
        change(&segment, torn.offset, &vec![0; torn.bytes as usize])?;
    }
    Ok(())
}

fn damaged(segment: u64, offset: u64, what: &str) -> Damage {
    Damage { segment, offset, realm: None, sequence: None, what: what.to_owned() }
}
