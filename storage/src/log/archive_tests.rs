//! Archives: reading them gives what was stored, damage to any byte is found, and a crash at any step loses nothing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::codec::{self, BLOCK_BYTES};
use super::compact::paths;
use super::conformance::{Recorder, append_all, assert_frames};
use super::part::{self, Part};
use super::recover_tests::{Sample, file, options, sample};
use super::segment::Operation;
use super::{
    Compacted, FrameBytes, Journal, JournalOptions, LogError, RealmLog, cut_before, scrub_segment, verify,
};

/// Segments are removed as soon as their archive is complete.
fn compacting() -> JournalOptions {
    JournalOptions { original_kept: Duration::ZERO, ..options() }
}

fn open(folder: &Path, options: &JournalOptions) -> (Journal, Recorder) {
    let recorder = Recorder::default();
    (Journal::open(folder, options, Box::new(recorder.clone())).expect("opens"), recorder)
}

/// Compacts all that can be. Returns how many segments were compacted.
fn compact_all(journal: &Journal) -> usize {
    let mut count = 0;
    loop {
        match journal.compact(&mut |_| true).expect("compacted") {
            Compacted::Segment { segment_bytes, archive_bytes, .. } => {
                assert!(archive_bytes < segment_bytes);
                count += 1;
            }
            Compacted::Nothing => return count,
            Compacted::Interrupted => panic!("nothing interrupts it"),
        }
    }
}

/// A journal most of whose segments are archives.
fn compacted_sample() -> Sample {
    let case = sample(60);
    let (journal, _) = open(case.path(), &compacting());
    assert!(compact_all(&journal) >= 2, "too small a sample");
    drop(journal);
    assert!(!file(case.path(), 1).exists() && paths(case.path(), 1).0.exists());
    case
}

/// All frames can be read, from any one on, and more can be appended.
fn assert_whole(case: &Sample) {
    let found = verify(case.path(), &mut |_| {}).expect("readable");
    assert_eq!((found.damage, found.torn_tail), (None, None));
    for reads_all in [false, true] {
        let (journal, _) = open(case.path(), &JournalOptions { reads_all, ..options() });
        for (realm, last) in [(1, case.last[0]), (2, case.last[1])] {
            assert_eq!(RealmLog::open(&journal, realm, 0).expect("opens").last_sequence, last);
            for from in [1, 2, last / 3, last / 2, last] {
                assert_frames(&journal, realm, from, last);
            }
        }
    }
}

#[test]
fn archives_are_read_like_segments() {
    let case = compacted_sample();
    assert_whole(&case);
    let numbers = part::archives(case.path()).expect("listed");
    for number in numbers {
        let scrubbed = scrub_segment(case.path(), number, u64::MAX, &|| true).expect("readable");
        assert_eq!(scrubbed.expect("there").damage, None);
    }
    let (journal, recorder) = open(case.path(), &compacting());
    let opened = RealmLog::open(&journal, 1, 0).expect("opens");
    append_all(&journal, &recorder, 1, opened.epoch, opened.last_sequence + 1, opened.last_sequence + 300);
    assert!(compact_all(&journal) >= 1);
    assert_frames(&journal, 1, 1, opened.last_sequence + 300);
    drop(journal);
    let (journal, _) = open(case.path(), &options());
    assert_frames(&journal, 1, 1, opened.last_sequence + 300);
}

#[test]
fn archive_is_laid_out_as_documented() {
    // docs/data-folder.md: these bytes are on disks, and change only together with the version.
    let case = sample(60);
    let segment = fs::read(file(case.path(), 1)).expect("read");
    let (journal, _) = open(case.path(), &compacting());
    compact_all(&journal);
    drop(journal);
    let bytes = fs::read(paths(case.path(), 1).0).expect("read");
    assert_eq!(bytes[..16], *b"\x89MSARCH\n\x01\0\0\0\0\0\0\0");
    assert_eq!(bytes[16..72], segment[..56]);
    let trailer = bytes.len() - 32;
    assert_eq!(bytes[trailer + 24..], *b"\xE7MSARCE\xE7");
    let (blocks, erased) = (codec::u32_at(&bytes, trailer), codec::u32_at(&bytes, trailer + 4));
    assert_eq!((blocks, erased), (1, 0));
    let index = trailer - 40;
    let numbers: Vec<u64> = (0..3).map(|number| codec::u64_at(&bytes, index + 8 * number)).collect();
    assert_eq!(numbers, [4096, 1, 80]);
    let (stored, raw) = (codec::u32_at(&bytes, index + 24), codec::u32_at(&bytes, index + 28));
    assert_eq!(80 + stored as usize, index);
    let block = zstd::bulk::decompress(&bytes[80..index], raw as usize).expect("zstd");
    assert_eq!(block.len(), raw as usize);
    let (body, records) = (codec::u32_at(&block, 0) as usize, codec::u32_at(&block, 4));
    assert_eq!(
        (body, records),
        (codec::u32_at(&segment, 4096 + 24) as usize, codec::u32_at(&segment, 4096 + 28))
    );
    assert_eq!(codec::u32_at(&block, 8), 4096);
    assert_eq!(block[12..12 + body], segment[4096 + 48..4096 + 48 + body]);
}

#[test]
fn reader_continues_while_a_segment_becomes_an_archive() {
    let case = sample(60);
    let (journal, _) = open(case.path(), &compacting());
    let mut frames = journal.read(1, 1).expect("known");
    let first = frames.next().expect("one").expect("readable");
    compact_all(&journal);
    assert_eq!(first.sequence, 1);
    let rest: Vec<u64> = frames.map(|frame| frame.expect("readable").sequence).collect();
    assert_eq!(rest, (2..=case.last[0]).collect::<Vec<u64>>());
}

#[test]
fn damage_to_any_byte_of_an_archive_is_found() {
    let case = compacted_sample();
    let (path, _) = paths(case.path(), 1);
    let whole = fs::read(&path).expect("read");
    let check = |what: &str| {
        let found = verify(case.path(), &mut |_| {});
        let is_found = match &found {
            Ok(found) => found.damage.as_ref().is_some_and(|damage| {
                damage.segment == 1 && damage.is_archive && damage.to_string().contains("0000000001.arc")
            }),
            Err(error) => matches!(error, LogError::Format { .. }),
        };
        assert!(is_found, "{what}: {found:?}");
        let scrubbed = scrub_segment(case.path(), 1, u64::MAX, &|| true);
        assert!(!matches!(scrubbed, Ok(Some(found)) if found.damage.is_none()), "{what}: scrub");
    };
    let edges = (0..200).chain(whole.len() - 200..whole.len());
    for at in edges.chain((200..whole.len() - 200).step_by(37)) {
        for bit in [0x01, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= bit;
            fs::write(&path, damaged).expect("written");
            check(&format!("byte {at}"));
        }
    }
    for bytes in [0, 1, 40, 88, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..bytes]).expect("written");
        check(&format!("{bytes} bytes"));
    }
    fs::write(&path, [&whole[..], b"0"].concat()).expect("written");
    check("one byte more");
    // An archive of another journal, and another one of this journal.
    fs::copy(paths(compacted_sample().path(), 1).0, &path).expect("copied");
    assert!(verify(case.path(), &mut |_| {}).expect("readable").damage.is_some());
    fs::copy(paths(case.path(), 2).0, &path).expect("copied");
    check("another number");
    fs::remove_file(&path).expect("removed");
    assert!(verify(case.path(), &mut |_| {}).expect("readable").damage.is_some());
    fs::write(&path, whole).expect("written");
    assert_whole(&case);
}

#[test]
fn crash_at_any_step_of_compaction_loses_nothing() {
    use Operation::{RemoveOriginal, RenameArchive, VerifyArchive, WriteArchive};
    for step in [WriteArchive, VerifyArchive, RenameArchive, RemoveOriginal] {
        let case = sample(60);
        let options = compacting();
        let (journal, _) = open(case.path(), &options);
        options.faults.set(&[step]);
        let failed = (0..9).find_map(|_| journal.compact(&mut |_| true).err());
        assert!(matches!(failed, Some(LogError::Io { .. })), "{step:?}: {failed:?}");
        let (archive, unfinished) = paths(case.path(), 1);
        assert_eq!(archive.exists(), step == RemoveOriginal);
        assert!(file(case.path(), 1).exists());
        assert_frames(&journal, 1, 1, case.last[0]);
        drop(journal);
        // A crash leaves what was being written.
        fs::write(&unfinished, b"half").expect("written");
        assert_whole(&case);
        assert_eq!(archive.exists(), !file(case.path(), 1).exists(), "one of the two is left");
        assert!(!unfinished.exists());
        options.faults.set(&[]);
        let (journal, _) = open(case.path(), &options);
        compact_all(&journal);
        drop(journal);
        assert!(archive.exists());
        assert_whole(&case);
    }
}

#[test]
fn whole_one_of_segment_and_archive_is_kept() {
    for damages_archive in [false, true] {
        let case = sample(60);
        let segment = fs::read(file(case.path(), 1)).expect("read");
        let (journal, _) = open(case.path(), &compacting());
        compact_all(&journal);
        drop(journal);
        let (archive, _) = paths(case.path(), 1);
        fs::write(file(case.path(), 1), segment).expect("written");
        let damaged = if damages_archive { archive.clone() } else { file(case.path(), 1) };
        let mut bytes = fs::read(&damaged).expect("read");
        let at = if damages_archive { bytes.len() / 2 } else { BLOCK_BYTES as usize + 100 };
        bytes[at] ^= 1;
        fs::write(&damaged, bytes).expect("written");
        drop(open(case.path(), &options()));
        assert!(!damaged.exists());
        assert_whole(&case);
    }
}

#[test]
fn journal_that_ends_with_an_archive_goes_on_after_it() {
    for cut in [3, 9, 20] {
        let case = compacted_sample();
        let mut seen = 0;
        let mut is_late = |_: &[u8]| {
            seen += 1;
            Ok(seen > cut)
        };
        let removed = cut_before(case.path(), &mut is_late).expect("cut").removed;
        let left = case.last[0] + case.last[1] - removed;
        assert!(removed > 0 && left <= cut, "{left} frames are left");
        let (journal, recorder) = open(case.path(), &options());
        let mut found = 0;
        let mut ends = [0, 0];
        for realm in [1_u32, 2] {
            let opened = RealmLog::open(&journal, realm, 0).expect("opens");
            found += opened.last_sequence;
            assert_frames(&journal, realm, 1, opened.last_sequence);
            let end = opened.last_sequence + 100;
            append_all(&journal, &recorder, realm, opened.epoch, opened.last_sequence + 1, end);
            ends[realm as usize - 1] = end;
        }
        assert_eq!(found, left);
        drop(journal);
        let (journal, _) = open(case.path(), &compacting());
        compact_all(&journal);
        drop(journal);
        let (journal, _) = open(case.path(), &options());
        assert_frames(&journal, 1, 1, ends[0]);
        assert_frames(&journal, 2, 1, ends[1]);
        assert_eq!(verify(case.path(), &mut |_| {}).expect("readable").damage, None);
    }
}

#[test]
fn trimmed_archives_are_removed() {
    let case = compacted_sample();
    let (journal, recorder) = open(case.path(), &compacting());
    for (realm, last) in [(1, case.last[0]), (2, case.last[1])] {
        let epoch = RealmLog::open(&journal, realm, 0).expect("opens").epoch;
        recorder.result(journal.trim(realm, last - 1).expect("taken")).expect("durable");
        append_all(&journal, &recorder, realm, epoch, last + 1, last + 1);
    }
    drop(journal);
    assert!(!paths(case.path(), 1).0.exists());
    let (journal, _) = open(case.path(), &options());
    assert_frames(&journal, 1, case.last[0] - 1, case.last[0] + 1);
    assert_eq!(verify(case.path(), &mut |_| {}).expect("readable").damage, None);
}

#[test]
fn damaged_segments_are_not_compacted() {
    let case = sample(60);
    let place = case.groups[1];
    case.change(1, |bytes| bytes[place.offset as usize + 60] ^= 1);
    let newest = JournalOptions { reads_all: false, ..compacting() };
    let (journal, _) = open(case.path(), &newest);
    let error = journal.compact(&mut |_| true).expect_err("damage");
    assert!(matches!(error, LogError::Corrupt(_)), "{error}");
    // The others are.
    assert!(compact_all(&journal) >= 1);
    assert!(file(case.path(), 1).exists() && !file(case.path(), 2).exists());
    // It is given up at once when the server stops, and changes nothing when the journal is closed.
    let other = sample(60);
    let (journal, _) = open(other.path(), &compacting());
    assert_eq!(journal.compact(&mut |_| false).expect("stopped"), Compacted::Interrupted);
    journal.close();
    assert_eq!(journal.compact(&mut |_| true).expect("closed"), Compacted::Nothing);
    assert!(part::archives(other.path()).expect("listed").is_empty());
}

#[test]
fn copy_of_a_journal_with_archives_ends_where_its_parts_do_not_continue() {
    let case = compacted_sample();
    let newest = case.last_group();
    case.change(newest.segment, |bytes| bytes[BLOCK_BYTES as usize..].fill(0));
    let (journal, recorder) = open(case.path(), &JournalOptions { is_copy: true, ..options() });
    let opened = RealmLog::open(&journal, 1, 0).expect("opens");
    assert_frames(&journal, 1, 1, opened.last_sequence);
    append_all(&journal, &recorder, 1, opened.epoch, opened.last_sequence + 1, opened.last_sequence + 9);
    drop(journal);
    assert_eq!(verify(case.path(), &mut |_| {}).expect("readable").damage, None);
}

#[test]
fn damaged_archive_of_a_copy_is_refused() {
    let case = compacted_sample();
    let [first, ..] = part::archives(case.path()).expect("listed")[..] else { panic!("no archive") };
    for number in [first, first + 1] {
        let (path, _) = paths(case.path(), number);
        let whole = fs::read(&path).expect("an archive");
        let mut damaged = whole.clone();
        // In the first block.
        damaged[100] ^= 1;
        fs::write(&path, damaged).expect("written");
        let options = JournalOptions { is_copy: true, ..options() };
        let opened = Journal::open(case.path(), &options, Box::new(Recorder::default()));
        assert!(matches!(opened, Err(LogError::Corrupt(_))), "archive {number}");
        fs::write(&path, whole).expect("written");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn archives_give_identical_frames(
        frames in proptest::collection::vec((1_u32..4, proptest::collection::vec(any::<u8>(), 0..900), 1_usize..9), 40..160),
        waits in 1_usize..12,
    ) {
        let folder = TempDir::new().expect("a folder");
        let (journal, recorder) = open(folder.path(), &compacting());
        let mut stored: Vec<Vec<Bytes>> = vec![Vec::new(); 4];
        let epochs: Vec<u64> =
            (0..4).map(|realm| RealmLog::open(&journal, realm, 0).expect("opens").epoch).collect();
        for (number, (realm, payload, times)) in frames.into_iter().enumerate() {
            let payload = Bytes::from(payload.repeat(times));
            let history = &mut stored[realm as usize];
            history.push(payload.clone());
            let sequence = history.len() as u64;
            let frame = FrameBytes { realm, sequence, payload, original: None };
            let ticket = journal.append(frame, epochs[realm as usize]).expect("taken");
            if number % waits == 0 {
                recorder.result(ticket).expect("durable");
            }
        }
        drop(journal);
        let (journal, _) = open(folder.path(), &compacting());
        compact_all(&journal);
        let numbers = part::list(folder.path()).expect("listed");
        prop_assert_eq!(numbers.len() as u64, numbers[numbers.len() - 1] - numbers[0] + 1);
        for number in numbers.iter().rev().skip(3) {
            prop_assert!(matches!(Part::open(folder.path(), *number), Ok(Part::Archive(_))));
        }
        for (realm, history) in stored.iter().enumerate().skip(1) {
            let found: Vec<Bytes> = journal
                .read(realm as u32, 1)
                .expect("known")
                .map(|frame| frame.expect("readable").payload)
                .collect();
            prop_assert_eq!(&found, history);
        }
        drop(journal);
        prop_assert_eq!(verify(folder.path(), &mut |_| {}).expect("readable").damage, None);
    }
}
