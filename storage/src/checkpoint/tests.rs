//! Checkpoints that are whole, damaged, unfinished, of another history or of another organization, and starting from them.

use super::*;
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::open::replay;
use model::{Flag, FlagOp, Sequence, UserId};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const MESSAGES: u64 = 40;

/// An organization with a history, its trees and a folder for checkpoints.
struct Case {
    temp: TempDir,
    run: Run<MemoryLog>,
    trees: Trees,
}

impl Case {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let trees = trees(&temp.path().join("state"));
        let mut run = Run::new(memory_log());
        run.frame(first_facts());
        for id in 1..MESSAGES {
            run.frame(vec![sent(channel_message(id as u32, 1, 1, "tea"))]);
        }
        Self { temp, run, trees }
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::of(&self.temp.path().join("checkpoints"), REALM)
    }

    fn advance(&self, upto: u64) {
        let made = advance(&self.checkpoints(), &self.run.log, upto, &Pace::unlimited()).unwrap();
        assert!(
            matches!(made, Advanced::Written { sequence, bytes } if sequence == upto && bytes > 100),
            "{made:?}"
        );
    }

    fn file(&self, sequence: u64) -> PathBuf {
        self.checkpoints().folder.join(format!("{sequence:020}.ckpt"))
    }

    /// The sequence of the checkpoint that is used.
    fn used(&self) -> Option<u64> {
        self.checkpoints().newest(&self.run.log, MESSAGES).map(|loaded| loaded.view.progress.sequence.0)
    }
}

#[test]
fn two_newest_checkpoints_are_kept() {
    let case = Case::new();
    for upto in [5, 9, 30] {
        case.advance(upto);
    }
    assert_eq!(case.checkpoints().sequences(), [30, 9]);
    assert_eq!(case.used(), Some(30));
    let again = advance(&case.checkpoints(), &case.run.log, 30, &Pace::unlimited()).unwrap();
    assert_eq!(again, Advanced::Nothing);
    let stopped = Pace::limited(1 << 20, Arc::new(AtomicBool::new(true)));
    let given_up = advance(&case.checkpoints(), &case.run.log, 35, &stopped).unwrap();
    assert_eq!((given_up, case.checkpoints().sequences()), (Advanced::Stopped, vec![30, 9]));
}

#[test]
fn damaged_checkpoint_is_replaced_by_the_older_one() {
    let case = Case::new();
    case.advance(9);
    case.advance(30);
    let whole = fs::read(case.file(30)).unwrap();
    for at in (0..whole.len()).step_by(61).chain(whole.len() - 20..whole.len()) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(case.file(30), &damaged).unwrap();
        assert_eq!(case.used(), Some(9), "byte {at}");
        assert!(!case.file(30).exists(), "it is removed");
    }
    for bytes in [0, 20, whole.len() / 2, whole.len() - 1] {
        fs::write(case.file(30), &whole[..bytes]).unwrap();
        assert_eq!(case.used(), Some(9), "{bytes} bytes");
    }
    // One that is still being written has another name.
    fs::write(case.file(30).with_extension("ckpt.new"), &whole).unwrap();
    assert_eq!(case.used(), Some(9));
    case.advance(31);
    assert!(!case.file(30).with_extension("ckpt.new").exists());
    for sequence in [9, 31] {
        fs::write(case.file(sequence), b"no checkpoint").unwrap();
    }
    assert_eq!((case.used(), case.checkpoints().sequences()), (None, vec![]));
}

#[test]
fn checkpoint_of_another_history_is_not_used() {
    let case = Case::new();
    case.advance(30);
    let mut other = Case::new();
    other.run = Run::new(memory_log());
    other.run.frame(first_facts());
    for id in 1..MESSAGES {
        other.run.frame(vec![sent(channel_message(id as u32, 2, 1, "milk"))]);
    }
    fs::create_dir_all(other.checkpoints().folder).unwrap();
    fs::copy(case.file(30), other.file(30)).unwrap();
    assert_eq!(other.used(), None);
    // Under the name of another frame or organization.
    fs::copy(case.file(30), case.file(31)).unwrap();
    assert_eq!(case.used(), Some(30));
    case.checkpoints().remove_after(29);
    assert_eq!(case.checkpoints().sequences(), []);
}

#[test]
fn start_from_checkpoint_completes_lagging_trees() {
    for (checkpoint, stored) in [(30, 30), (30, 35), (30, MESSAGES), (20, 31), (35, 0), (35, 12)] {
        let mut case = Case::new();
        case.run.write(&case.trees, stored as usize);
        case.advance(checkpoint);
        let started = start_from(&case.checkpoints(), &case.run.log, 100).unwrap().unwrap();
        assert_eq!(started.replayed, MESSAGES - checkpoint);
        assert_eq!(started.view.messages, case.run.view().messages);
        assert_eq!(started.view.progress.sequence, Sequence(MESSAGES));
        let reported = started.view.recent.stored();
        let added =
            complete_trees(&case.checkpoints(), &case.run.log, &case.trees, MESSAGES, &reported).unwrap();
        assert_eq!((added, reported.load(Ordering::Relaxed)), (MESSAGES - stored, MESSAGES));
        let scratch = case.temp.path().join("scratch");
        let compared = crate::check::compare(&case.run.log, &case.trees, REALM, &scratch).unwrap();
        assert!(compared.is_clean(), "checkpoint {checkpoint}, trees {stored}: {:?}", compared.listed);
    }
}

#[test]
fn trees_with_later_frames_and_long_tails_are_refused() {
    let mut case = Case::new();
    case.run.write_all(&case.trees);
    case.advance(10);
    let stored = std::sync::atomic::AtomicU64::new(0);
    let error = complete_trees(&case.checkpoints(), &case.run.log, &case.trees, 20, &stored).unwrap_err();
    assert!(matches!(error, StoreError::JournalBehind { trees: MESSAGES, journal: 20, .. }), "{error}");
    assert!(start_from(&case.checkpoints(), &case.run.log, 10).unwrap().is_none());
    assert!(start_from(&case.checkpoints(), &case.run.log, 30).unwrap().is_some());
}

#[test]
fn saved_view_equals_the_view() {
    let mut case = Case::new();
    case.run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(1, 10)])]);
    // Trees that lag behind are no source.
    case.checkpoints().save(&case.run.log, case.run.view(), &case.trees).unwrap();
    assert_eq!(case.checkpoints().sequences(), []);
    case.run.write_all(&case.trees);
    case.checkpoints().save(&case.run.log, case.run.view(), &case.trees).unwrap();
    let loaded = case.checkpoints().newest(&case.run.log, MESSAGES + 1).unwrap();
    assert_eq!(loaded.view.messages, case.run.view().messages);
    assert_eq!(loaded.view.messages.users[&UserId(2)].read.len(), 10);
    assert_eq!(loaded.view.directory, case.run.view().directory);
    let scratch = trees(&case.temp.path().join("scratch"));
    let rebuilt = replay(&case.run.log, &scratch, REALM, None).unwrap().unwrap();
    assert_eq!(loaded.view.chunks, rebuilt.chunks);
}

#[test]
fn trees_that_are_opened_in_the_background_are_waited_for() {
    let mut case = Case::new();
    case.run.write_all(&case.trees);
    case.trees.close();
    let (go, gate) = std::sync::mpsc::channel::<()>();
    case.trees
        .open_in_background(false, move |_| {
            gate.recv().unwrap();
            Ok(())
        })
        .unwrap();
    assert!(case.trees.is_open());
    let reader = case.trees.clone();
    let reading = std::thread::spawn(move || reader.progress(REALM).unwrap());
    assert!(!reading.is_finished());
    go.send(()).unwrap();
    assert_eq!(reading.join().unwrap(), MESSAGES);
    case.trees.close();
    case.trees.open_in_background(false, |_| Err(StoreError::NoRoom)).unwrap();
    assert!(case.trees.progress(REALM).is_err());
    assert!(!case.trees.is_open());
}

#[test]
fn trees_that_are_rebuilt_are_an_error_for_readers_and_waited_for_by_writers() {
    let mut case = Case::new();
    case.run.write_all(&case.trees);
    case.trees.close();
    let (go, gate) = std::sync::mpsc::channel::<()>();
    case.trees
        .open_in_background(true, move |_| {
            gate.recv().unwrap();
            Ok(())
        })
        .unwrap();
    let read = stored_messages(&case.trees, MESSAGES as u32);
    assert!(matches!(read, Err(StoreError::TreesRebuilding)), "{read:?}");
    let writer = case.trees.clone();
    let writing = std::thread::spawn(move || writer.write(Vec::new()));
    go.send(()).unwrap();
    writing.join().unwrap().unwrap();
    assert_eq!(stored_messages(&case.trees, MESSAGES as u32).unwrap().len(), MESSAGES as usize - 1);
}

#[test]
fn rebuilding_trees_ends_when_they_are_closed() {
    let mut case = Case::new();
    case.run.write_all(&case.trees);
    case.trees.close();
    let rebuild = |trees: &Trees| loop {
        if trees.is_stopping() {
            return Err(StoreError::TreesClosed);
        }
        std::thread::yield_now();
    };
    case.trees.open_in_background(true, rebuild).unwrap();
    case.trees.close();
    assert!(!case.trees.is_open());
    case.trees.reopen().unwrap();
    assert_eq!(case.trees.progress(REALM).unwrap(), MESSAGES);
}
