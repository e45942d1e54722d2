//! Opening journals whose files were changed by a crash, a disk or a user: an incomplete last group is discarded, everything
//! else is rejected, and no acknowledged frame is ever lost silently.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::codec::{self, BLOCK_BYTES, GROUP_HEADER_BYTES, SECTOR_BYTES};
use super::conformance::{Recorder, append_all, assert_frames, frame};
use super::segment::{self, Faults, Segment};
use super::{Journal, JournalOptions, LogError, RealmLog, SyncPolicy, verify};

/// The position of a group, and the number of frames of realms 1 and 2 up to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) segment: u64,
    pub(super) offset: u64,
    /// The end of its written bytes, and of its blocks.
    written_end: u64,
    end: u64,
}

pub(super) struct Sample {
    folder: TempDir,
    pub(super) groups: Vec<Place>,
    /// The last frames of realms 1 and 2.
    pub(super) last: [u64; 2],
}

pub(super) fn options() -> JournalOptions {
    JournalOptions {
        sync: SyncPolicy::None,
        segment_bytes: 64 * 1024,
        first_segment_bytes: 32 * 1024,
        reads_all: true,
        ..JournalOptions::default()
    }
}

pub(super) fn open(folder: &Path) -> Result<(Journal, Recorder), LogError> {
    let recorder = Recorder::default();
    Journal::open(folder, &options(), Box::new(recorder.clone())).map(|journal| (journal, recorder))
}

pub(super) fn file(folder: &Path, number: u64) -> PathBuf {
    folder.join(codec::file_name(number))
}

/// A journal of some segments, with groups of one frame and of many, of two realms.
pub(super) fn sample(rounds: u64) -> Sample {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path()).expect("opens");
    let mut last = [0, 0];
    for realm in [1_u32, 2] {
        RealmLog::open(&journal, realm, 0).expect("opens");
    }
    for round in 0..rounds {
        let realm = 1 + (round % 2) as usize;
        let count = if round % 3 == 0 { 8 } else { 1 };
        append_all(&journal, &recorder, realm as u32, 1, last[realm - 1] + 1, last[realm - 1] + count);
        last[realm - 1] += count;
    }
    drop(journal);
    let mut groups = Vec::new();
    for number in segment::list(folder.path()).expect("listed") {
        let segment = Segment::open(folder.path(), number, false, Faults::default()).expect("opens");
        let mut offset = BLOCK_BYTES;
        while let Some(group) = segment.read_group(offset).expect("readable") {
            let written = GROUP_HEADER_BYTES as u64 + u64::from(group.header.body_bytes) + 8;
            groups.push(Place { segment: number, offset, written_end: offset + written, end: group.end });
            offset = group.end;
        }
    }
    Sample { folder, groups, last }
}

impl Sample {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn last_group(&self) -> Place {
        *self.groups.last().expect("some")
    }

    pub(super) fn change(&self, number: u64, change: impl FnOnce(&mut Vec<u8>)) {
        let path = file(self.path(), number);
        let mut bytes = fs::read(&path).expect("read");
        change(&mut bytes);
        fs::write(&path, bytes).expect("written");
    }

    /// Adds one group, as if it was never acknowledged, and returns its place.
    fn add_unacknowledged(&mut self) -> Place {
        let before = self.last_group();
        let (journal, recorder) = open(self.path()).expect("opens");
        let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
        // A frame of several sectors and of more than a block.
        let sequence = self.last[0] + 1;
        let mut large = frame(1, sequence);
        large.payload = frame(1, 39).payload.repeat(9).into();
        recorder.result(journal.append(large, epoch).expect("taken")).expect("durable");
        drop(journal);
        let number = *segment::list(self.path()).expect("listed").last().expect("one");
        for number in [before.segment, number] {
            let segment = Segment::open(self.path(), number, false, Faults::default()).expect("opens");
            let offset = if number == before.segment { before.end } else { BLOCK_BYTES };
            if let Some(group) = segment.read_group(offset).expect("readable") {
                let written = GROUP_HEADER_BYTES as u64 + u64::from(group.header.body_bytes) + 8;
                return Place { segment: number, offset, written_end: offset + written, end: group.end };
            }
        }
        panic!("the group is nowhere");
    }

    /// All acknowledged frames exist, and the journal accepts more.
    pub(super) fn assert_survives(&self) {
        let found = verify(self.path(), &mut |_| {}).expect("readable");
        assert_eq!(found.damage, None);
        let (journal, recorder) = open(self.path()).expect("opens");
        for (realm, last) in [(1, self.last[0]), (2, self.last[1])] {
            let opened = RealmLog::open(&journal, realm, 0).expect("opens");
            assert_eq!(opened.last_sequence, last);
            assert_frames(&journal, realm, 1, last);
            append_all(&journal, &recorder, realm, opened.epoch, last + 1, last + 3);
        }
        drop(journal);
        let (journal, _) = open(self.path()).expect("opens again");
        assert_frames(&journal, 1, 1, self.last[0] + 3);
        let found = verify(self.path(), &mut |_| {}).expect("readable");
        assert_eq!((found.damage, found.torn_tail), (None, None));
    }

    /// Opening and verifying both refuse, name the segment, and change nothing.
    pub(super) fn assert_refused(&self, what: &str) {
        let before = self.contents();
        let found = verify(self.path(), &mut |_| {}).expect("readable").damage.expect("damage");
        assert!(found.what.contains(what), "{what:?} was expected: {found}");
        let error = open(self.path()).err().expect("refused");
        let text = error.to_string();
        assert!(matches!(error, LogError::Corrupt(damage) if *damage == found));
        assert!(text.contains("millstream check") && text.contains("Restore a backup"), "{text}");
        assert!(text.contains(&codec::file_name(found.segment)), "{text}");
        assert!(before == self.contents(), "a refused journal was changed");
    }

    pub(super) fn contents(&self) -> Vec<Vec<u8>> {
        let numbers = segment::list(self.path()).expect("listed");
        numbers.iter().map(|number| fs::read(file(self.path(), *number)).expect("read")).collect()
    }
}

#[test]
fn truncated_last_group_is_a_torn_tail() {
    let mut sample = sample(9);
    let torn = sample.add_unacknowledged();
    let whole = fs::read(file(sample.path(), torn.segment)).expect("read");
    let ends: Vec<u64> = (torn.offset..torn.offset + 700)
        .chain((torn.offset + 700..torn.written_end - 20).step_by(97))
        .chain(torn.written_end - 20..torn.written_end)
        .collect();
    for end in ends {
        sample.change(torn.segment, |bytes| {
            bytes.copy_from_slice(&whole);
            bytes[end as usize..].fill(0);
        });
        let found = verify(sample.path(), &mut |_| {}).expect("readable");
        assert_eq!(found.damage, None, "cut at {end}");
        assert_eq!(found.torn_tail.is_some(), end > torn.offset, "cut at {end}");
        assert_eq!(found.realms, [(1, 1, sample.last[0]), (2, 1, sample.last[1])]);
    }
    sample.assert_survives();
}

#[test]
fn bit_flip_in_last_group_is_damage() {
    let sample = sample(7);
    let last = sample.last_group();
    for at in (last.offset..last.end).step_by(13).chain(last.written_end - 8..last.written_end) {
        sample.change(last.segment, |bytes| bytes[at as usize] ^= 0x10);
        sample.assert_refused("");
        sample.change(last.segment, |bytes| bytes[at as usize] ^= 0x10);
    }
    sample.assert_survives();
}

#[test]
fn missing_and_foreign_segments_are_rejected() {
    let sample = sample(60);
    let numbers = segment::list(sample.path()).expect("listed");
    assert!(sample.last_group().segment >= 3, "too small a sample");
    let aside = sample.path().join("aside");
    for (number, what) in [(1, "missing"), (2, "missing")] {
        fs::rename(file(sample.path(), number), &aside).expect("moved");
        sample.assert_refused(what);
        fs::rename(&aside, file(sample.path(), number)).expect("moved");
    }
    let other = self::sample(60);
    fs::rename(file(sample.path(), 2), &aside).expect("moved");
    fs::copy(file(other.path(), 2), file(sample.path(), 2)).expect("copied");
    sample.assert_refused("belongs to another journal");
    fs::copy(file(sample.path(), 1), file(sample.path(), 2)).expect("copied");
    sample.assert_refused("under another name");
    fs::rename(&aside, file(sample.path(), 2)).expect("moved");
    // All but a segment that holds nothing yet.
    let last = sample.last_group().segment;
    for number in numbers.iter().filter(|number| **number <= last) {
        fs::rename(file(sample.path(), *number), sample.path().join(format!("aside{number}")))
            .expect("moved");
    }
    if numbers.iter().any(|number| *number > last) {
        sample.assert_refused("missing");
    }
    for number in numbers.iter().filter(|number| **number <= last) {
        fs::rename(sample.path().join(format!("aside{number}")), file(sample.path(), *number))
            .expect("moved");
    }
    sample.assert_survives();
}

#[test]
fn zeroed_last_group_of_older_segment_is_damage() {
    let last_of_two = |sample: &Sample| {
        let mut older = sample.groups.iter().filter(|place| place.segment == 2);
        *older.next_back().expect("the sample has three segments")
    };
    let sample = sample(60);
    let place = last_of_two(&sample);
    sample.change(place.segment, |bytes| bytes[place.offset as usize..place.end as usize].fill(0));
    sample.assert_refused("was expected");
    // Half of it would be a torn tail if there were no later segment.
    let sample = self::sample(60);
    let place = last_of_two(&sample);
    let half = place.offset as usize + SECTOR_BYTES;
    sample.change(place.segment, |bytes| bytes[half..].fill(0));
    sample.assert_refused("incomplete");
}

#[test]
fn truncated_first_group_of_segment_is_a_torn_tail() {
    // The number of frames in a group varies, and a group that fits into a sector cannot be torn.
    let is_torn = |sample: &Sample| {
        let last = sample.last_group().segment;
        let is_first = |group: &&Place| (group.segment, group.offset) == (last, BLOCK_BYTES);
        let first = sample.groups.iter().find(is_first).expect("a first group");
        first.written_end > BLOCK_BYTES + SECTOR_BYTES as u64
    };
    let mut sample = (0..100).map(|_| sample(60)).find(is_torn).expect("a first group of several sectors");
    let last = sample.last_group().segment;
    sample.change(last, |bytes| bytes[BLOCK_BYTES as usize + SECTOR_BYTES..].fill(0));
    let found = verify(sample.path(), &mut |_| {}).expect("readable");
    assert_eq!(found.damage, None);
    let torn = found.torn_tail.expect("a torn tail");
    assert_eq!((torn.segment, torn.offset), (last, BLOCK_BYTES));
    sample.last = [found.realms[0].2, found.realms[1].2];
    assert!(sample.last[0] + sample.last[1] > 20, "the segments before are whole");
    sample.assert_survives();
}

#[test]
fn group_at_another_offset_is_rejected() {
    let sample = sample(12);
    let is_pair = |pair: &&[Place]| {
        let [from, to] = pair else { return false };
        from.segment == to.segment
            && from.offset > BLOCK_BYTES
            && from.end - from.offset == to.end - to.offset
    };
    let pair = sample.groups.windows(2).find(is_pair).expect("two groups of one size, one after the other");
    sample.change(pair[0].segment, |bytes| {
        let group = bytes[pair[0].offset as usize..pair[0].end as usize].to_vec();
        bytes[pair[1].offset as usize..pair[1].end as usize].copy_from_slice(&group);
    });
    sample.assert_refused("was expected");
}

#[test]
fn changed_frame_with_valid_checksums_breaks_the_chain() {
    let sample = sample(12);
    let place = sample.groups[4];
    sample.change(place.segment, |bytes| {
        let mut header = [0; codec::SEGMENT_HEADER_BYTES];
        header.copy_from_slice(&bytes[..codec::SEGMENT_HEADER_BYTES]);
        let journal = codec::SegmentHeader::decode(&header).expect("true").journal;
        let offset = place.offset as usize;
        let mut group = codec::GroupHeader::decode(&bytes[offset..], journal).expect("true");
        let body = offset + GROUP_HEADER_BYTES..offset + GROUP_HEADER_BYTES + group.body_bytes as usize;
        bytes[body.end - 1] ^= 1;
        group.body_checksum = codec::body_checksum(&bytes[body], journal);
        bytes[offset..offset + GROUP_HEADER_BYTES].copy_from_slice(&group.encode(journal));
    });
    sample.assert_refused("chain checksum");
    let damage = verify(sample.path(), &mut |_| {}).expect("readable").damage.expect("damage");
    assert!(damage.realm.is_some() && damage.sequence.is_some());
    assert_eq!((damage.segment, damage.offset), (place.segment, place.offset));
}

#[test]
fn progress_is_reported_for_each_segment() {
    let sample = sample(60);
    let mut seen = Vec::new();
    let found = verify(sample.path(), &mut |progress| seen.push(*progress)).expect("readable");
    assert_eq!(seen.len(), segment::list(sample.path()).expect("listed").len());
    assert_eq!(seen.last(), Some(&found.progress));
    assert_eq!(found.progress.frames, sample.last[0] + sample.last[1]);
    assert!(found.progress.bytes >= sample.groups.len() as u64 * BLOCK_BYTES);
    let empty = TempDir::new().expect("a folder");
    assert_eq!(verify(empty.path(), &mut |_| {}).expect("readable").progress.frames, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Sectors of a group in flight reach the disk in any order; what is missing is still zero.
    #[test]
    fn missing_sectors_of_last_group_are_a_torn_tail(
        missing in proptest::collection::vec(any::<bool>(), 8..64),
    ) {
        let mut sample = sample(5);
        let torn = sample.add_unacknowledged();
        let sectors = (torn.written_end - torn.offset).div_ceil(SECTOR_BYTES as u64) as usize;
        let missing: Vec<usize> = (0..sectors).filter(|sector| missing[sector % missing.len()]).collect();
        prop_assume!(!missing.is_empty());
        sample.change(torn.segment, |bytes| {
            for sector in missing {
                let start = torn.offset as usize + sector * SECTOR_BYTES;
                bytes[start..start + SECTOR_BYTES].fill(0);
            }
        });
        sample.assert_survives();
    }

    /// A file truncated at any byte is rejected: a crash cannot shorten it.
    #[test]
    fn shortened_segment_is_rejected(at: prop::sample::Index, which: prop::sample::Index) {
        let sample = sample(40);
        let place = which.get(&sample.groups);
        sample.change(place.segment, |bytes| bytes.truncate(at.index(bytes.len())));
        sample.assert_refused("");
    }

    #[test]
    fn bit_flip_in_acknowledged_group_is_rejected(
        which: prop::sample::Index, at: prop::sample::Index, bit in 0_u32..8,
    ) {
        let sample = sample(40);
        let place = which.get(&sample.groups);
        let at = place.offset as usize + at.index((place.end - place.offset) as usize);
        sample.change(place.segment, |bytes| bytes[at] ^= 1_u8 << bit);
        sample.assert_refused("");
    }

    #[test]
    fn zeroed_group_before_the_last_is_rejected(which: prop::sample::Index, page: prop::sample::Index) {
        let sample = sample(40);
        let place = which.get(&sample.groups[..sample.groups.len() - 1]);
        let start = place.offset + page.index(((place.end - place.offset) / BLOCK_BYTES) as usize) as u64 * BLOCK_BYTES;
        prop_assume!(start < place.written_end);
        sample.change(place.segment, |bytes| bytes[start as usize..(start + BLOCK_BYTES) as usize].fill(0));
        sample.assert_refused("");
    }

    #[test]
    fn random_bytes_never_panic_and_are_never_read_as_frames(
        which: prop::sample::Index, at: prop::sample::Index, noise in proptest::collection::vec(any::<u8>(), 1..9000),
    ) {
        let sample = sample(20);
        let place = which.get(&sample.groups);
        sample.change(place.segment, |bytes| {
            let at = at.index(bytes.len());
            let end = (at + noise.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&noise[..end - at]);
        });
        if let Ok((journal, _)) = open(sample.path()) {
            for (realm, last) in [(1, sample.last[0]), (2, sample.last[1])] {
                assert_frames(&journal, realm, 1, last);
            }
        }
    }
}
