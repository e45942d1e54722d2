//! Opening an organization whose trees have fewer or more frames than the journal, are damaged or missing.

use crate::check::compare;
use crate::fixture::*;
use crate::log::{Journal, JournalOptions, RealmLog, SyncPolicy};
use crate::view::key::Key;
use crate::view::record::Record;
use crate::view::records;
use crate::view::{Progress, Row, RowChange, Rows};
use crate::{
    Applied, OpenedRealm, Projection, StallWatch, StoreError, Trees, follow, open_realm, open_realm_in_memory,
};
use model::{Flag, FlagOp, MessageId, RealmId, Sequence, UserId};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const MESSAGES: u32 = 50;
const FRAMES: u64 = MESSAGES as u64 + 2;

/// A journal and trees in separate folders.
struct Case {
    temp: TempDir,
}

impl Case {
    /// A journal with `FRAMES` frames; the trees lack the last `lacking`.
    fn new(lacking: usize) -> Self {
        let case = Self { temp: tempfile::tempdir().unwrap() };
        let mut run = Run::new(case.journal());
        run.frame(first_facts());
        for id in 1..=MESSAGES {
            run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
        }
        run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(1, 10)])]);
        let trees = case.trees();
        run.write(&trees, run.waiting.len() - lacking);
        trees.flush().unwrap();
        case
    }

    fn journal_path(&self) -> PathBuf {
        self.temp.path().join("journal")
    }

    fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    fn journal(&self) -> Journal {
        let options = JournalOptions { sync: SyncPolicy::None, ..JournalOptions::default() };
        Journal::open(&self.journal_path(), &options, Box::new(Ignored)).unwrap()
    }

    fn trees(&self) -> Trees {
        trees(&self.state())
    }

    /// Opens the organization and checks that memory and trees are complete.
    fn open(&self) -> OpenedRealm {
        let (journal, trees) = (self.journal(), self.trees());
        let opened = open_realm(&journal, &trees, REALM).unwrap();
        let view = opened.view.as_ref().unwrap();
        assert_eq!(opened.opened.last_sequence, FRAMES);
        assert_eq!(view.progress.sequence.0, FRAMES);
        assert_eq!(view.messages.last, MessageId(MESSAGES));
        assert_eq!(view.messages.users[&UserId(2)].read.len(), 10);
        let stored = stored_messages(&trees, MESSAGES).unwrap();
        assert_eq!(stored.len(), MESSAGES as usize);
        // A look-up of each finds the same in whichever place of its chunk it is, and nothing where no message is.
        let alone = |id| trees.message_as_sent(REALM, MessageId(id)).unwrap();
        assert_eq!((1..=MESSAGES).filter_map(alone).collect::<Vec<_>>(), stored);
        assert_eq!((alone(0), alone(MESSAGES + 1)), (None, None));
        let compared = compare(&journal, &trees, REALM, &self.temp.path().join("scratch")).unwrap();
        assert!(compared.is_clean(), "{:?}", compared.listed);
        fs::remove_dir_all(self.temp.path().join("scratch")).unwrap();
        trees.flush().unwrap();
        opened
    }
}

#[test]
fn lagging_trees_are_replayed() {
    for lacking in [0, 1, 20, MESSAGES as usize + 1] {
        let case = Case::new(lacking);
        assert_eq!(case.open().replayed, lacking as u64);
        assert_eq!(case.open().replayed, 0);
    }
}

#[test]
fn replayed_bodies_may_be_evicted() {
    let case = Case::new(20);
    let opened = case.open();
    let stored = opened.view.unwrap().recent.stored();
    assert_eq!(stored.load(std::sync::atomic::Ordering::Acquire), FRAMES);
}

#[test]
fn changes_of_stored_messages_that_the_trees_lack_are_in_memory() {
    let case = Case { temp: tempfile::tempdir().unwrap() };
    let mut run = Run::new(case.journal());
    run.frame(first_facts());
    for id in 1..=3 {
        run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let trees = case.trees();
    run.write_all(&trees);
    trees.flush().unwrap();
    run.frame(vec![edited(2, 1, "coffee")]);
    run.sync();
    let opened = open_realm_in_memory(&run.log, &trees, REALM).unwrap();
    let view = opened.view.unwrap();
    assert_eq!(view.recent.get(MessageId(2)).unwrap().content, "coffee edited 1");
    assert!(view.recent.get(MessageId(1)).is_none(), "it is in the trees");
}

#[test]
fn trees_beyond_the_journal_are_rejected() {
    let case = Case::new(0);
    fs::remove_dir_all(case.journal_path()).unwrap();
    let journal = case.journal();
    let trees = case.trees();
    let error = open_realm(&journal, &trees, REALM).unwrap_err();
    assert!(matches!(error, StoreError::JournalBehind { trees: FRAMES, journal: 0, .. }), "{error}");
    assert!(error.to_string().contains("Restore a backup"), "{error}");
    assert!(trees.load(REALM).unwrap().is_some(), "the trees are left alone");
}

#[test]
fn missing_trees_are_rebuilt() {
    let case = Case::new(0);
    fs::remove_dir_all(case.state()).unwrap();
    assert_eq!(case.open().replayed, FRAMES);
    // An empty folder is the same.
    fs::remove_dir_all(case.state()).unwrap();
    fs::create_dir(case.state()).unwrap();
    assert_eq!(case.open().replayed, FRAMES);
    assert_eq!(case.open().replayed, 0);
}

#[test]
fn incomplete_trees_are_rebuilt() {
    for table in [records::Progress::ID, records::Realm::ID] {
        let case = Case::new(0);
        {
            let trees = case.trees();
            trees.remove_row(&Key::table(REALM, table));
            trees.flush().unwrap();
        }
        assert_eq!(case.open().replayed, FRAMES);
    }
}

fn snapshots(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("snap.")).collect()
}

#[test]
fn damaged_sled_snapshot_is_moved_aside() {
    let damages: [fn(&mut Vec<u8>); 3] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
    ];
    for damage in damages {
        let case = Case::new(5);
        case.open();
        drop(case.trees());
        let found = snapshots(&case.state());
        assert!(!found.is_empty(), "the trees write snapshots when they are opened");
        for path in &found {
            let mut bytes = fs::read(path).unwrap();
            damage(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(case.open().replayed, 0, "the trees have everything in their own log");
        let names: Vec<String> = fs::read_dir(case.state())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert!(names.iter().any(|name| name.starts_with("damaged-snap.")), "{names:?}");
    }
}

#[test]
fn unknown_organization_has_no_view() {
    let temp = tempfile::tempdir().unwrap();
    let log = memory_log();
    let opened = open_realm(&log, &trees(temp.path()), REALM).unwrap();
    assert!(opened.view.is_none());
    assert_eq!((opened.replayed, opened.opened.last_sequence), (0, 0));
}

#[test]
fn followed_organization_is_of_a_log_with_its_newest_frame() {
    let temp = tempfile::tempdir().unwrap();
    let trees = trees(&temp.path().join("state"));
    let make = |topic: &str| {
        let mut run = Run::new(memory_log());
        run.frame(first_facts());
        for id in 1..=9 {
            run.frame(vec![sent(channel_message(id, 1, 2, topic))]);
        }
        run.log
    };
    let (log, other) = (make("one"), make("other"));
    let mut followed = None;
    for upto in [4, 8, 10] {
        followed = follow(&log, &trees, REALM, followed, 4).unwrap();
        let followed = followed.as_ref().unwrap();
        assert_eq!(followed.view.progress.sequence.0, upto);
        assert_eq!(trees.progress(REALM).unwrap(), upto);
        assert!(followed.is_of(&log).unwrap() && !followed.is_of(&other).unwrap());
    }
    // Nothing is new.
    let followed = follow(&log, &trees, REALM, followed, 4).unwrap().unwrap();
    assert!(followed.is_of(&log).unwrap() && !followed.is_of(&other).unwrap());
    // A shorter log does not have the frame.
    let mut short = Run::new(memory_log());
    short.frame(first_facts());
    assert!(!followed.is_of(&short.log).unwrap());
    assert!(follow(&memory_log(), &trees, RealmId(9), None, 4).unwrap().is_none());
}

#[test]
fn projection_writes_everything_on_close() {
    let case = Case { temp: tempfile::tempdir().unwrap() };
    let mut run = Run::new(case.journal());
    let trees = case.trees();
    let projection = Projection::start(trees.clone()).unwrap();
    let sender = projection.sender();
    run.frame(first_facts());
    for id in 1..=MESSAGES {
        run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(1, 10)])]);
    for applied in run.waiting.drain(..) {
        sender.send(applied).unwrap();
    }
    drop(sender);
    projection.close().unwrap();
    let stored = run.view().recent.stored();
    assert_eq!(stored.load(std::sync::atomic::Ordering::Acquire), FRAMES);
    run.log.close();
    drop((run, trees));
    assert_eq!(case.open().replayed, 0);
}

#[test]
fn projection_queue_is_bounded_in_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let trees = trees(temp.path());
    let projection = Projection::start(trees.clone()).unwrap();
    let sender = projection.sender();
    // Three times the limit of the queue.
    for sequence in 1..=3 * 64 {
        let progress = Progress { sequence: Sequence(sequence), ..Progress::default() };
        let key = Key::new(REALM, records::Messages::ID, &MessageId(sequence as u32)).into_bytes();
        let rows = Rows(vec![RowChange::Put(Row { key, value: vec![7; 1024 * 1024] })]);
        sender.send(Applied { realm: REALM, progress, rows, stored: Arc::default() }).unwrap();
    }
    drop(sender);
    projection.close().unwrap();
    assert_eq!(trees.table::<records::Messages>(REALM).count(), 3 * 64);
}

#[test]
fn sender_does_not_wait_for_a_projection_that_hangs() {
    let temp = tempfile::tempdir().unwrap();
    let trees = trees(temp.path());
    let projection = Projection::start(trees.clone()).unwrap();
    let sender = projection.sender();
    let held = trees.hold_calls();
    let sending = std::thread::spawn({
        let sender = sender.clone();
        move || {
            // More bytes than the queue takes, so the last ones wait for the thread.
            (1..=2 * 64).try_for_each(|sequence| {
                let progress = Progress { sequence: Sequence(sequence), ..Progress::default() };
                let key = Key::new(REALM, records::Messages::ID, &MessageId(sequence as u32)).into_bytes();
                let rows = Rows(vec![RowChange::Put(Row { key, value: vec![7; 1024 * 1024] })]);
                sender.send(Applied { realm: REALM, progress, rows, stored: Arc::default() })
            })
        }
    });
    let mut watch = StallWatch::default();
    while watch.tick(&trees) < 3 || !watch.has_call() {
        std::thread::yield_now();
    }
    trees.give_up();
    sender.give_up();
    assert!(matches!(sending.join().unwrap(), Err(StoreError::ProjectionStopped)));
    assert!(sender.failure().is_some_and(|failure| !failure.is_full));
    drop(held);
    drop(sender);
    // The call has ended after all; the thread writes nothing more to trees that were given up.
    assert!(projection.close().is_err());
}
