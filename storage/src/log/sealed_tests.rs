//! Journals whose sealed segments are not read on opening, and copies of journals in use.

use std::fs;
use std::path::Path;

use super::codec::BLOCK_BYTES;
use super::conformance::{Recorder, append_all, assert_frames};
use super::recover_tests::{file, open, options, sample};
use super::{Journal, JournalOptions, LogError, RealmLog, scrub_segment, sealed_segments, verify};

/// Opens without reading sealed segments.
fn open_newest(folder: &Path) -> Result<(Journal, Recorder), LogError> {
    let recorder = Recorder::default();
    let options = JournalOptions { reads_all: false, ..options() };
    Journal::open(folder, &options, Box::new(recorder.clone())).map(|journal| (journal, recorder))
}

#[test]
fn sealed_segments_are_not_read_on_opening() {
    let case = sample(60);
    let place = case.groups[1];
    assert_eq!((place.segment, case.path().join("positions").exists()), (1, true));
    case.change(1, |bytes| bytes[place.offset as usize + 60] ^= 1);
    let (journal, recorder) = open_newest(case.path()).expect("opens");
    for (realm, last) in [(1, case.last[0]), (2, case.last[1])] {
        let opened = RealmLog::open(&journal, realm, 0).expect("opens");
        assert_eq!((opened.first_sequence, opened.last_sequence), (1, last));
        // The newest frames can be read, and more appended.
        assert_frames(&journal, realm, last - 2, last);
        append_all(&journal, &recorder, realm, opened.epoch, last + 1, last + 30);
    }
    assert!(
        journal.read(1, 1).expect("known").any(|frame| frame.is_err()),
        "the damaged frame is not returned"
    );
    drop(journal);
    let scrubbed = |number| scrub_segment(case.path(), number, u64::MAX, &|| true).expect("readable");
    assert_eq!(scrubbed(1).expect("there").damage.map(|damage| damage.offset), Some(place.offset));
    assert!(scrubbed(2).expect("there").damage.is_none());
    assert!(sealed_segments(case.path()).expect("listed").len() >= 2);
    assert_eq!(scrub_segment(case.path(), 2, u64::MAX, &|| false).expect("readable"), None);
    case.change(1, |bytes| bytes[place.offset as usize + 60] ^= 1);
    assert!(scrubbed(1).expect("there").damage.is_none());
    let (journal, _) = open(case.path()).expect("opens");
    assert_frames(&journal, 1, 1, case.last[0] + 30);
}

#[test]
fn segment_without_a_group_follows_the_sealed_ones() {
    // The process ended after it had stored the positions, and before the first group of the next segment.
    let case = sample(60);
    let newest = case.last_group().segment;
    case.change(newest, |bytes| bytes[BLOCK_BYTES as usize..].fill(0));
    let sealed: Vec<Vec<u8>> = case.contents().into_iter().take(newest as usize - 1).collect();
    let (journal, recorder) = open_newest(case.path()).expect("opens");
    let mut ends = [0, 0];
    for realm in [1, 2] {
        let opened = RealmLog::open(&journal, realm, 0).expect("opens");
        assert_frames(&journal, realm, 1, opened.last_sequence);
        let end = opened.last_sequence + 3;
        append_all(&journal, &recorder, realm, opened.epoch, opened.last_sequence + 1, end);
        ends[realm as usize - 1] = end;
    }
    drop(journal);
    assert!(case.contents()[..sealed.len()] == sealed[..], "sealed segments never change");
    let (journal, _) = open(case.path()).expect("opens");
    assert_frames(&journal, 1, 1, ends[0]);
    assert_frames(&journal, 2, 1, ends[1]);
}

#[test]
fn positions_that_do_not_match_are_not_used() {
    let case = sample(60);
    let other = sample(60);
    let positions = case.path().join("positions");
    // Those of the newest segment: while the case was made, one set may have been skipped.
    drop(open_newest(case.path()).expect("opens"));
    let own = fs::read(&positions).expect("stored");
    for bytes in
        [fs::read(other.path().join("positions")).expect("stored"), own[..own.len() - 1].to_vec(), Vec::new()]
    {
        fs::write(&positions, bytes).expect("written");
        let (journal, _) = open_newest(case.path()).expect("opens");
        assert_frames(&journal, 1, 1, case.last[0]);
        assert_frames(&journal, 2, 1, case.last[1]);
    }
    assert_eq!(fs::read(&positions).expect("stored again").len(), own.len());
    // A segment that the positions know is missing.
    for number in [1, 2] {
        let aside = case.path().join("aside");
        fs::rename(file(case.path(), number), &aside).expect("moved");
        assert!(matches!(open_newest(case.path()), Err(LogError::Corrupt(_))));
        fs::rename(&aside, file(case.path(), number)).expect("moved");
    }
    case.assert_survives();
}

/// Opens a copy of a folder that was in use.
fn open_copy(folder: &Path) -> Result<(Journal, Recorder), LogError> {
    let recorder = Recorder::default();
    let options = JournalOptions { is_copy: true, ..options() };
    Journal::open(folder, &options, Box::new(recorder.clone())).map(|journal| (journal, recorder))
}

#[test]
fn copy_ends_where_its_parts_do_not_continue_each_other() {
    // Blocks of a group were copied before it was written, everything after it later.
    for which in [3, 20, 45] {
        let case = sample(60);
        let place = case.groups[which];
        case.change(place.segment, |bytes| {
            bytes[place.offset as usize..(place.offset + BLOCK_BYTES) as usize].fill(0);
        });
        case.assert_refused("");
        let (journal, recorder) = open_copy(case.path()).expect("opens");
        for realm in [1, 2] {
            let opened = RealmLog::open(&journal, realm, 0).expect("opens");
            assert_frames(&journal, realm, 1, opened.last_sequence);
            append_all(
                &journal,
                &recorder,
                realm,
                opened.epoch,
                opened.last_sequence + 1,
                opened.last_sequence + 9,
            );
        }
        drop(journal);
        let found = verify(case.path(), &mut |_| {}).expect("readable");
        assert_eq!((found.damage, found.torn_tail), (None, None), "group {which}");
    }
}

#[test]
fn damage_in_a_copy_is_not_taken_for_its_end() {
    let later = sample(60).groups.into_iter().enumerate().skip(20);
    let (first, other): (Vec<_>, Vec<_>) = later.partition(|(_, place)| place.offset == BLOCK_BYTES);
    for (which, _) in [first[0], first[1], other[0], other[9]] {
        // In the header, and in the body.
        for at in [17, 70] {
            let case = sample(60);
            let place = case.groups[which];
            case.change(place.segment, |bytes| bytes[place.offset as usize + at] ^= 1);
            let opened = open_copy(case.path());
            assert!(matches!(opened, Err(LogError::Corrupt(_))), "group {which}, byte {at}");
        }
    }
}
