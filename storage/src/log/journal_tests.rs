//! What is the journal's own: failing disks, its folder, segments, and that only durable frames are read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tempfile::TempDir;

use super::conformance::{Recorder, append_all, assert_frames, frame};
use super::{
    FrameBytes, Journal, JournalOptions, LogError, MemoryLog, RealmLog, SyncPolicy, segment, verify,
};

fn small() -> JournalOptions {
    JournalOptions { segment_bytes: 64 * 1024, first_segment_bytes: 16 * 1024, ..JournalOptions::default() }
}

fn open(folder: &Path, options: &JournalOptions) -> (Journal, Recorder) {
    let recorder = Recorder::default();
    (Journal::open(folder, options, Box::new(recorder.clone())).expect("opens"), recorder)
}

#[test]
fn after_a_failed_sync_nothing_is_taken_until_reopening() {
    for (write, sync) in [(true, false), (false, true)] {
        let folder = TempDir::new().expect("a folder");
        let options = small();
        let (journal, recorder) = open(folder.path(), &options);
        let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
        append_all(&journal, &recorder, 1, epoch, 1, 5);
        // The sink holds the writer back, so that the group after the failing one is waiting.
        recorder.gate(true);
        let held = journal.append(frame(1, 6), epoch).expect("taken");
        while journal.read(1, 6).is_err() || journal.read(1, 6).expect("readable").count() == 0 {
            std::thread::yield_now();
        }
        options.faults.set(write, sync);
        let failing = journal.append(frame(1, 7), epoch).expect("taken");
        recorder.gate(false);
        recorder.result(held).expect("durable");
        assert!(matches!(recorder.result(failing), Err(LogError::Ambiguous(_))));
        options.faults.set(false, false);
        assert!(matches!(journal.append(frame(1, 8), epoch), Err(LogError::Unavailable(_))));
        assert!(matches!(RealmLog::open(&journal, 1, 0), Err(LogError::Unavailable(_))));
        assert!(matches!(journal.trim(1, 2), Err(LogError::Unavailable(_))));
        // What is not known to be durable is not read.
        assert_frames(&journal, 1, 1, 6);
        drop(journal);
        let (journal, recorder) = open(folder.path(), &options);
        let opened = RealmLog::open(&journal, 1, 0).expect("opens");
        assert_eq!(opened.last_sequence, if write { 6 } else { 7 });
        append_all(&journal, &recorder, 1, opened.epoch, opened.last_sequence + 1, 20);
        assert_frames(&journal, 1, 1, 20);
    }
}

#[test]
fn every_ticket_behind_a_failure_is_answered() {
    let folder = TempDir::new().expect("a folder");
    let options = small();
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    options.faults.set(false, true);
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
fn frames_in_the_queue_are_not_read() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    recorder.gate(true);
    journal.append(frame(1, 1), epoch).expect("taken");
    while journal.read(1, 1).expect("readable").count() == 0 {
        std::thread::yield_now();
    }
    // The writer stands in the sink, so these stay in the queue.
    for sequence in 2..=9 {
        journal.append(frame(1, sequence), epoch).expect("taken");
    }
    assert_frames(&journal, 1, 1, 1);
    recorder.gate(false);
    recorder.result(9).expect("durable");
    assert_frames(&journal, 1, 1, 9);
}

#[test]
fn a_reader_sees_what_was_durable_when_it_began() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, epoch, 1, 300);
    let frames = journal.read(1, 1).expect("readable");
    append_all(&journal, &recorder, 1, epoch, 301, 400);
    assert_eq!(frames.count(), 300);
}

#[test]
fn bytes_in_the_queue_are_bounded_too() {
    let folder = TempDir::new().expect("a folder");
    let options = JournalOptions { queue_bytes_max: 300_000, ..small() };
    let (journal, recorder) = open(folder.path(), &options);
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    recorder.gate(true);
    let large = |sequence| FrameBytes { realm: 1, sequence, payload: Bytes::from(vec![1; 100_000]) };
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
fn trimmed_segments_leave_the_disk_and_nothing_else_does() {
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
    assert!(kept.len() < all.len() && kept[0] > 1);
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
    // A realm without a frame left keeps its place.
    let (journal, recorder) = open(folder.path(), &small());
    let opened = RealmLog::open(&journal, 2, 0).expect("opens");
    assert_eq!((opened.first_sequence, opened.last_sequence), (2, 1));
    append_all(&journal, &recorder, 2, opened.epoch, 2, 2);
}

#[test]
fn a_folder_belongs_to_one_journal() {
    let folder = TempDir::new().expect("a folder");
    let inner = folder.path().join("journal");
    let (journal, _) = open(&inner, &small());
    let second = Journal::open(&inner, &small(), Box::new(Recorder::default()));
    assert!(matches!(second, Err(LogError::InUse(path)) if path == inner));
    assert_eq!(fs::metadata(&inner).expect("there").permissions().mode() & 0o777, 0o700);
    let file = inner.join(segment::file_name(1));
    assert_eq!(fs::metadata(file).expect("there").permissions().mode() & 0o777, 0o600);
    journal.close();
    open(&inner, &small());
}

#[test]
fn a_fresh_start_is_quick() {
    let folder = TempDir::new().expect("a folder");
    for sync in [SyncPolicy::None, SyncPolicy::Fdatasync] {
        let options = JournalOptions { sync, ..JournalOptions::default() };
        let start = Instant::now();
        let (journal, _) = open(&folder.path().join(format!("{sync:?}")), &options);
        // 5 ms when the machine is free; the bound leaves room for one that is not.
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
        drop(journal);
    }
}

#[test]
fn a_segment_that_was_being_made_is_no_obstacle() {
    let folder = TempDir::new().expect("a folder");
    let (journal, recorder) = open(folder.path(), &small());
    let epoch = RealmLog::open(&journal, 1, 0).expect("opens").epoch;
    append_all(&journal, &recorder, 1, epoch, 1, 100);
    drop(journal);
    let next = segment::list(folder.path()).expect("listed").last().expect("one") + 1;
    fs::write(folder.path().join(format!("{}.new", segment::file_name(next))), b"half").expect("written");
    let (journal, recorder) = open(folder.path(), &small());
    let opened = RealmLog::open(&journal, 1, 0).expect("opens");
    append_all(&journal, &recorder, 1, opened.epoch, 101, 900);
    assert_frames(&journal, 1, 1, 900);
}

#[test]
fn a_newer_format_is_refused() {
    let folder = TempDir::new().expect("a folder");
    drop(open(folder.path(), &small()));
    let path = folder.path().join(segment::file_name(1));
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
fn the_memory_log_fails_on_demand() {
    for (is_stored, last) in [(true, 3), (false, 2)] {
        let recorder = Recorder::default();
        let log = MemoryLog::new(Box::new(recorder.clone()));
        let epoch = log.open(1, 0).expect("opens").epoch;
        append_all(&log, &recorder, 1, epoch, 1, 2);
        log.hold();
        log.append(frame(1, 3), epoch).expect("taken");
        log.append(frame(1, 4), epoch).expect("taken");
        assert_eq!(recorder.reports().len(), 2);
        log.ambiguous_next(is_stored);
        log.release(1);
        assert!(matches!(recorder.result(3), Err(LogError::Ambiguous(_))));
        assert!(matches!(recorder.result(4), Err(LogError::Unavailable(_))));
        assert!(matches!(log.append(frame(1, 5), epoch), Err(LogError::Unavailable(_))));
        let log = Arc::new(log.reopen(Box::new(Recorder::default())));
        assert_eq!(log.open(1, 0).expect("opens").last_sequence, last);
    }
    let recorder = Recorder::default();
    let log = MemoryLog::new(Box::new(recorder.clone()));
    let epoch = log.open(1, 0).expect("opens").epoch;
    log.fail_next();
    log.append(frame(1, 1), epoch).expect("taken");
    assert!(matches!(recorder.result(1), Err(LogError::Unavailable(_))));
    log.hold();
    let log = log.reopen(Box::new(Recorder::default()));
    assert_eq!(log.open(1, 0).expect("opens").last_sequence, 0);
}
