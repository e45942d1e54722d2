//! Logs whose oldest frames were archived: nothing is lost, and only the owner removes frames.

use crate::PgLog;
use crate::PgLogOptions;
use crate::testing::{SINGLE, TestDatabase};
use model::{EventNumber, Fact, Frame, Realm, RealmFact, RealmId, Role, Timestamp, User, UserFact, UserId};
use std::path::Path;
use std::sync::Arc;
use storage::checkpoint::Pace;
use storage::log::conformance::Recorder;
use storage::log::{FrameBytes, LogError, RealmLog};
use storage::shared_files::{Archiving, SharedFolder, SharedStore, Trimmed};
use storage::{Trees, encode_frame, replay};

const REALM: RealmId = RealmId(1);
const FRAMES: u64 = 1_500;

fn facts(sequence: u64) -> Vec<Fact> {
    let at = Timestamp(sequence);
    let user = |id: u64| {
        let user = User::new(UserId(id as u32), format!("u{id}@tea.example"), "Tea", Role::Member, at);
        Fact::User(UserFact::Created(Box::new(user)))
    };
    match sequence {
        1 => {
            let realm = Realm::new(REALM, "tea", "Tea", "tea.example", at);
            vec![Fact::Realm(RealmFact::Created(Box::new(realm)))]
        }
        sequence => vec![user(sequence)],
    }
}

fn open(database: &TestDatabase) -> (PgLog, Recorder) {
    let (options, recorder) =
        (PgLogOptions { requirements: SINGLE, ..PgLogOptions::default() }, Recorder::default());
    (PgLog::open(database.database(), &options, Box::new(recorder.clone())).expect("opens"), recorder)
}

fn fill(log: &PgLog, reports: &Recorder) {
    let epoch = log.open(REALM.0, 0).expect("opens").epoch;
    let mut last = 0;
    for sequence in 1..=FRAMES {
        let first_event = EventNumber(sequence);
        let frame = Frame { at: Timestamp(sequence), first_event, facts: facts(sequence) };
        let payload = encode_frame(&frame).expect("encoded");
        let frame = FrameBytes { realm: REALM.0, sequence, payload, original: None };
        last = log.append(frame, epoch).expect("queued");
    }
    reports.result(last).expect("stored");
}

/// Everything of the organization on a node that has nothing yet.
fn opened(log: &PgLog, store: Option<&SharedStore>, data: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let trees = Trees::open(&data.join("state"), 16 << 20).expect("opens");
    let view = store.and_then(|store| store.load(log, &trees, REALM, None).expect("loaded"));
    let view = replay(log, &trees, REALM, view).expect("replayed").expect("there");
    assert_eq!(view.progress.sequence.0, FRAMES);
    trees.rows(REALM).map(|row| row.map(|row| (row.key, row.value)).expect("readable")).collect()
}

#[test]
fn organization_opens_after_its_log_was_trimmed_and_only_the_owner_trims() {
    let Some(database) = TestDatabase::create() else { return };
    let temp = tempfile::tempdir().expect("a folder");
    let node = |name: &str| {
        let place = SharedFolder::new(&temp.path().join("shared"), name);
        SharedStore::new(Box::new(place), &temp.path().join(name).join("base"))
    };
    let pace = Pace::limited(u64::MAX, Arc::default());
    let archiving = Archiving { realm: REALM, before: u64::MAX };
    let (log, reports) = open(&database);
    fill(&log, &reports);
    let whole = opened(&log, None, &temp.path().join("whole"));
    let store = node("a");
    for upto in [1_200, 1_400] {
        assert!(store.make(&log, REALM, upto, &pace).expect("made").is_some());
    }
    // Another node has it now: the former owner archives, and removes nothing.
    let (other, other_reports) = open(&database);
    other.open(REALM.0, 0).expect("opens");
    assert_eq!(store.trim(&log, archiving, &pace).expect("queued"), Trimmed::Before(1_201));
    assert!(reports.reports().iter().any(|(_, result)| matches!(result, Err(LogError::Fenced { .. }))));
    assert!(other.read(REALM.0, 1).is_ok());
    let store = node("b");
    assert_eq!(store.trim(&other, archiving, &pace).expect("trimmed"), Trimmed::Before(1_201));
    other.open(REALM.0, 0).expect("waits for what is queued");
    assert!(other_reports.reports().iter().all(|(_, result)| result.is_ok()));
    assert!(matches!(other.read(REALM.0, 1), Err(LogError::OutOfRange { first: 1_201, .. })));
    assert!(opened(&other, Some(&node("c")), &temp.path().join("c")) == whole);
    // Without the checkpoints, from the archive.
    for upto in [1_200, 1_400] {
        std::fs::remove_file(temp.path().join(format!("shared/realm-0000000001/{upto:020}.base")))
            .expect("there");
    }
    assert!(opened(&other, Some(&node("d")), &temp.path().join("d")) == whole);
}
