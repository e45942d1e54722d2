//! Tests of the journal alone: failing disks, its folder, segments, and that only durable frames are readable.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;
use tempfile::TempDir;

use super::conformance::{Recorder, append_all, assert_frames, frame};
use super::segment::Operation;
use super::{
    FrameBytes, Journal, JournalOptions, LogError, MemoryLog, RealmLog, SyncPolicy, codec, segment, verify,
};

fn small() -> JournalOptions {
    JournalOptions { segment_bytes: 64 * 1024, first_segment_bytes: 16 * 1024, ..JournalOptions::default() }
}

fn open(folder: &Path, options: &JournalOptions) -> (Journal, Recorder) {
    let recorder = Recorder::default();
    (Journal::open(folder, options, Box::new(recorder.clone())).expect("opens"), recorder)
}

#[test]
fn failed_commit_stops_appends_until_reopening() {
    for operation in [Operation::Write, Operation::Sync] {
        let folder = TempDir::new().expect("a folder");
        let options = small();
        let (journal, recorder) = open(folder.path(), &options);
        let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
        append_all(&journal, &recorder, 1, epoch, 1, 5);
        // The sink blocks the writer, so that the group after the failing one is queued.
        recorder.gate(true);
        let held = journal.append(frame(1, 6), epoch).expect("taken");
        while journal.read(1, 6).is_err() || journal.read(1, 6).expect("readable").count() == 0 {
            std::thread::yield_now();
        }
        options.faults.set(&[operation]);
        let failing = journal.append(frame(1, 7), epoch).expect("taken");
        recorder.gate(false);
        recorder.result(held).expect("durable");
        assert!(matches!(recorder.result(failing), Err(LogError::Ambiguous(_))));
        options.faults.set(&[]);
        assert!(matches!(journal.append(frame(1, 8), epoch), Err(LogError::Unavailable(_))));
        assert!(matches!(RealmLog::open(&journal, 1, 0), Err(LogError::Unavailable(_))));
        assert!(matches!(journal.trim(1, 2), Err(LogError::Unavailable(_))));
        // Frames that may not be durable are not readable.
        assert_frames(&journal, 1, 1, 6);
        drop(journal);
        let (journal, recorder) = open(folder.path(), &options);
        let opened = RealmLog::open(&journal, 1, 0).expect("opens");
        // Also if only the sync failed: the frame was reported as not stored.
        assert_eq!(opened.last_sequence, 6);
        append_all(&journal, &recorder, 1, opened.epoch, opened.last_sequence + 1, 20);
        assert_frames(&journal, 1, 1, 20);
    }
}

#[test]
fn recover_after_failed_commit_discards_it() {
    for operation in [Operation::Write, Operation::Sync] {
        let folder = TempDir::new().expect("a folder");
        let options = small();
        let (journal, recorder) = open(folder.path(), &options);
        let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
        append_all(&journal, &recorder, 1, epoch, 1, 5);
        options.faults.set(&[operation]);
        // The failing group also contains the first frame of a new realm.
        let other = RealmLog::open(&journal, 2, 0).expect("opens").epoch;
        let failing = journal.append(frame(1, 6), epoch).expect("taken");
        let behind = journal.append(frame(2, 1), other);
        assert!(recorder.result(failing).is_err());
        assert!(behind.is_err() || recorder.result(behind.expect("taken")).is_err());
        options.faults.set(&[]);
        journal.recover().expect("the disk is back");
        journal.recover().expect("nothing is left to do");
        assert!(matches!(journal.append(frame(1, 6), epoch), Err(LogError::NotOpen { .. })));
        let opened = RealmLog::open(&journal, 1, 0).expect("opens");
        assert_eq!(opened.last_sequence, 5);
        assert!(opened.epoch > epoch);
        // Killed before anything else is stored: the discarded frames do not reappear.
        drop(journal);
        assert_eq!(verify(folder.path(), &mut |_| {}).expect("readable").realms, [(1, 1, 5)]);
        let (journal, recorder) = open(folder.path(), &options);
        let opened = RealmLog::open(&journal, 1, 0).expect("opens");
        assert_eq!(opened.last_sequence, 5);
        append_all(&journal, &recorder, 1, opened.epoch, 6, 300);
        assert_frames(&journal, 1, 1, 300);
        drop(journal);
        let found = verify(folder.path(), &mut |_| {}).expect("readable");
        assert_eq!((found.damage, found.torn_tail, found.realms), (None, None, vec![(1, 1, 300)]));
    }
}

#[test]
fn full_disk_rejects_frames_until_space_is_free() {
    let folder = TempDir::new().expect("a folder");
    let options = small();
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    options.faults.set(&[Operation::Create]);
    let mut stored = 0;
    loop {
        let ticket = journal.append(frame(1, stored + 1), epoch).expect("taken");
        match recorder.result(ticket) {
            Ok(()) => stored += 1,
            Err(error) => {
                assert!(error.is_full(), "{error}");
                break;
            }
        }
        assert!(stored < 1000, "segments without end");
    }
    assert!(journal.recover().expect_err("still full").is_full());
    assert!(journal.append(frame(1, stored + 1), epoch).is_err());
    assert_frames(&journal, 1, 1, stored);
    options.faults.set(&[]);
    journal.recover().expect("there is room");
    let opened = RealmLog::open(&journal, 1, 0).expect("opens");
    assert_eq!(opened.last_sequence, stored);
    append_all(&journal, &recorder, 1, opened.epoch, stored + 1, stored + 50);
    drop(journal);
    let (journal, _) = open(folder.path(), &options);
    assert_frames(&journal, 1, 1, stored + 50);
}

#[test]
fn next_segment_is_created_when_no_more_files_may_be_open() {
    let folder = TempDir::new().expect("a folder");
    let options = small();
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    // Neither in advance nor when the segment is full.
    options.faults.set(&[Operation::Open, Operation::Open]);
    for sequence in 1..=60 {
        let ticket = journal.append(frame(1, sequence), epoch).expect("taken");
        recorder.result(ticket).expect("durable");
    }
    drop(journal);
    assert!(segment::list(folder.path()).expect("segments").len() > 2);
    let (journal, _) = open(folder.path(), &options);
    assert_frames(&journal, 1, 1, 60);
}

#[test]
fn recover_fails_if_stored_groups_are_unreadable() {
    let folder = TempDir::new().expect("a folder");
    let options = small();
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, epoch, 1, 2);
    options.faults.set(&[Operation::Sync]);
    let failing = journal.append(frame(1, 3), epoch).expect("taken");
    assert!(recorder.result(failing).is_err());
    options.faults.set(&[]);
    let path = folder.path().join(codec::file_name(1));
    let whole = fs::read(&path).expect("read");
    let mut damaged = whole.clone();
    damaged[4096 + 60] ^= 1;
    fs::write(&path, &damaged).expect("written");
    assert!(matches!(journal.recover(), Err(LogError::Corrupt(_))));
    fs::write(&path, &whole).expect("written");
    journal.recover().expect("it can be read again");
    assert_eq!(RealmLog::open(&journal, 1, 0).expect("opens").last_sequence, 2);
}

#[test]
fn tickets_after_a_failed_commit_are_reported() {
    let folder = TempDir::new().expect("a folder");
    let options = small();
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    options.faults.set(&[Operation::Sync]);
    let mut last = 0;
    for sequence in 1..=100 {
        match journal.append(frame(1, sequence), epoch) {
            Ok(ticket) => last = ticket,
            Err(error) => {
                assert!(matches!(error, LogError::Unavailable(_)));
                break;
            }
        }
    }
    assert!(recorder.result(last).is_err());
    let reports = recorder.reports();
    assert!(matches!(reports[0].1, Err(LogError::Ambiguous(_))));
    assert!(reports[1..].iter().all(|(_, result)| matches!(result, Err(LogError::Unavailable(_)))));
    assert_eq!(journal.read(1, 1).expect("readable").count(), 0);
}

#[test]
fn queued_frames_are_not_readable() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    recorder.gate(true);
    journal.append(frame(1, 1), epoch).expect("taken");
    while journal.read(1, 1).expect("readable").count() == 0 {
        std::thread::yield_now();
    }
    // The writer is blocked in the sink, so these stay in the queue.
    for sequence in 2..=9 {
        journal.append(frame(1, sequence), epoch).expect("taken");
    }
    assert_frames(&journal, 1, 1, 1);
    recorder.gate(false);
    recorder.result(9).expect("durable");
    assert_frames(&journal, 1, 1, 9);
}

#[test]
fn reader_is_a_snapshot() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, epoch, 1, 300);
    let frames = journal.read(1, 1).expect("readable");
    append_all(&journal, &recorder, 1, epoch, 301, 400);
    assert_eq!(frames.count(), 300);
}

#[test]
fn queue_is_bounded_in_bytes() {
    let folder = TempDir::new().expect("a folder");
    let options = JournalOptions { queue_bytes_max: 300_000, ..small() };
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    recorder.gate(true);
    let large =
        |sequence| FrameBytes { realm: 1, sequence, payload: Bytes::from(vec![1; 100_000]), original: None };
    let mut taken = 0;
    while journal.append(large(taken + 1), epoch).is_ok() {
        taken += 1;
        assert!(taken < 20, "the bytes in the queue have no bound");
    }
    assert!(taken >= 3);
    recorder.gate(false);
    recorder.result(taken).expect("durable");
    append_all(&journal, &recorder, 1, epoch, taken + 1, taken + 1);
}

#[test]
fn trim_removes_only_trimmed_segments() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let one = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    let two = RealmLog::open(&journal, 2, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, one, 1, 600);
    append_all(&journal, &recorder, 2, two, 1, 1);
    append_all(&journal, &recorder, 1, one, 601, 1200);
    let all = segment::list(folder.path()).expect("listed");
    let ticket = journal.trim(1, 1201).expect("taken");
    recorder.result(ticket).expect("durable");
    // The next commit is after the removal.
    append_all(&journal, &recorder, 1, one, 1201, 1201);
    let kept = segment::list(folder.path()).expect("listed");
    assert!(kept[0] > all[0], "{kept:?} of {all:?}");
    assert_frames(&journal, 2, 1, 1);
    assert_frames(&journal, 1, 1201, 1201);
    drop(journal);
    let found = verify(folder.path(), &mut |_| {}).expect("readable");
    assert_eq!((found.damage, found.torn_tail), (None, None));
    assert_eq!(found.realms, [(1, 1201, 1201), (2, 1, 1)]);
    let (journal, recorder) = open(folder.path(), &small());
    assert_frames(&journal, 2, 1, 1);
    RealmLog::open(&journal, 2, 0).expect("opens");
    let ticket = journal.trim(2, 2).expect("taken");
    recorder.result(ticket).expect("durable");
    drop(journal);
    assert!(segment::list(folder.path()).expect("listed")[0] > kept[0]);
    // A realm without a frame left retains its position.
    let (journal, recorder) = open(folder.path(), &small());
    let opened = RealmLog::open(&journal, 2, 0).expect("opens");
    assert_eq!((opened.first_sequence, opened.last_sequence), (2, 1));
    append_all(&journal, &recorder, 2, opened.epoch, 2, 2);
}

#[test]
fn journal_folder_is_locked_and_private() {
    let folder = TempDir::new().expect("a folder");
    let inner = folder.path().join("journal");
    let (journal, _) = open(&inner, &small());
    let second = Journal::open(&inner, &small(), Box::new(Recorder::default()));
    assert!(matches!(second, Err(LogError::InUse(path)) if path == inner));
    assert_eq!(fs::metadata(&inner).expect("there").permissions().mode() & 0o777, 0o700);
    let file = inner.join(codec::file_name(1));
    assert_eq!(fs::metadata(file).expect("there").permissions().mode() & 0o777, 0o600);
    journal.close();
    open(&inner, &small());
}

#[test]
fn new_journal_has_one_small_segment() {
    let folder = TempDir::new().expect("a folder");
    for sync in [SyncPolicy::None, SyncPolicy::Fdatasync] {
        let options = JournalOptions { sync, ..JournalOptions::default() };
        let inner = folder.path().join(format!("{sync:?}"));
        let (journal, _) = open(&inner, &options);
        assert_eq!(segment::list(&inner).expect("listed"), [1]);
        let file = fs::metadata(inner.join(codec::file_name(1))).expect("there");
        assert_eq!(file.len(), options.first_segment_bytes);
        drop(journal);
    }
}

#[test]
fn unfinished_segment_is_removed_on_open() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, epoch, 1, 100);
    drop(journal);
    let next = segment::list(folder.path()).expect("listed").last().expect("one") + 1;
    fs::write(folder.path().join(format!("{}.new", codec::file_name(next))), b"half").expect("written");
    let (journal, recorder) = open(folder.path(), &small());
    let opened = RealmLog::open(&journal, 1, 0).expect("opens");
    append_all(&journal, &recorder, 1, opened.epoch, 101, 900);
    assert_frames(&journal, 1, 1, 900);
}

#[test]
fn prepared_segments_can_be_released() {
    let folder = TempDir::new().expect("a folder");
    let releasing = JournalOptions { releases_spares: true, ..small() };
    let count = || segment::list(folder.path()).expect("listed").len();
    let (mut stored, mut has_released) = (0, false);
    for _ in 0..20 {
        let (journal, recorder) = open(folder.path(), &small());
        let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
        append_all(&journal, &recorder, 1, epoch, stored + 1, stored + 1);
        stored += 1;
        // Closing waits for the segment that is being created.
        drop(journal);
        let before = count();
        drop(open(folder.path(), &releasing));
        has_released |= count() < before;
    }
    assert!(has_released, "no segment was prepared in advance");
    assert_frames(&open(folder.path(), &small()).0, 1, 1, stored);
}

#[test]
fn newer_journal_format_is_rejected() {
    let folder = TempDir::new().expect("a folder");
    drop(open(folder.path(), &small()));
    let path = folder.path().join(codec::file_name(1));
    let mut bytes = fs::read(&path).expect("read");
    bytes[8] = 9;
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..40]);
    bytes[40..48].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, bytes).expect("written");
    let refused =
        Journal::open(folder.path(), &small(), Box::new(Recorder::default())).err().expect("refused");
    assert!(matches!(refused, LogError::Format { found: 9, .. }));
    assert!(refused.to_string().contains("format 9"));
}

#[test]
fn memory_log_injects_faults() {
    let recorder = Recorder::default();
    let log = MemoryLog::new(Box::new(recorder.clone()));
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&log, &recorder, 1, epoch, 1, 2);
    log.hold();
    log.append(frame(1, 3), epoch).expect("taken");
    log.append(frame(1, 4), epoch).expect("taken");
    assert_eq!(recorder.reports().len(), 2);
    log.fail_next();
    log.release(1);
    for ticket in [3, 4] {
        assert!(matches!(recorder.result(ticket), Err(LogError::Unavailable(_))));
    }
    assert!(matches!(log.append(frame(1, 5), epoch), Err(LogError::Unavailable(_))));
    let log = log.reopen(Box::new(Recorder::default()));
    assert_eq!(log.open(1, 0).expect("opens").last_sequence, 2);

    let recorder = Recorder::default();
    let log = MemoryLog::new(Box::new(recorder.clone()));
    let epoch = log.open(1, 0).expect("opens").epoch;
    log.fail_next();
    log.append(frame(1, 1), epoch).expect("taken");
    assert!(matches!(recorder.result(1), Err(LogError::Unavailable(_))));
    log.recover().expect("recovered");
    let opened = log.open(1, 0).expect("opens");
    assert!(opened.last_sequence == 0 && opened.epoch > epoch);
    append_all(&log, &recorder, 1, opened.epoch, 1, 2);
    log.fail_next();
    log.append(frame(1, 3), opened.epoch).expect("taken");
    log.close();
    assert!(log.recover().is_err(), "closed for good");
    log.hold();
    let log = log.reopen(Box::new(Recorder::default()));
    assert_eq!(log.open(1, 0).expect("opens").last_sequence, 2);
}
