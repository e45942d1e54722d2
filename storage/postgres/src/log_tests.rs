//! The log under the conformance suite, with two owners, and with connections that are cut.

use crate::testing::{Proxy, SINGLE, TestDatabase};
use crate::{PgError, PgLog, PgLogOptions, Requirements};
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::log::conformance::{Recorder, Subject, append_all, assert_frames, frame};
use storage::log::{LogError, RealmLog};

fn options() -> PgLogOptions {
    PgLogOptions { queue_frames_max: 256, requirements: SINGLE, ..PgLogOptions::default() }
}

struct PgSubject {
    database: TestDatabase,
    recorder: Recorder,
    log: Option<Arc<PgLog>>,
}

impl Subject for PgSubject {
    fn open(&mut self) -> (Arc<dyn RealmLog>, Recorder) {
        if let Some(log) = self.log.take() {
            log.close();
        }
        let (log, recorder) = open(&self.database);
        (self.recorder, self.log) = (recorder.clone(), Some(log.clone()));
        (log, recorder)
    }

    fn stall(&mut self) {
        self.recorder.gate(true);
    }

    fn resume(&mut self) {
        self.recorder.gate(false);
    }
}

fn open(database: &TestDatabase) -> (Arc<PgLog>, Recorder) {
    open_at(database, database.port)
}

fn open_at(database: &TestDatabase, port: u16) -> (Arc<PgLog>, Recorder) {
    let recorder = Recorder::default();
    let log = PgLog::open(database.at(port), &options(), Box::new(recorder.clone())).expect("opens");
    (Arc::new(log), recorder)
}

storage::log_conformance!(
    conformance,
    match TestDatabase::create() {
        Some(database) => PgSubject { database, recorder: Recorder::default(), log: None },
        None => return,
    }
);

#[test]
fn new_owner_fences_the_old_one() {
    let Some(database) = TestDatabase::create() else { return };
    let (old, old_reports) = open(&database);
    let (new, new_reports) = open(&database);
    let first = old.open(1, 0).expect("opens").epoch;
    let other = old.open(2, 0).expect("opens").epoch;
    append_all(&*old, &old_reports, 1, first, 1, 10);
    let second = new.open(1, 0).expect("opens");
    assert!(second.epoch > first && second.last_sequence == 10);
    // The old owner learns it from the answer to its append, and of realm 1 alone.
    let refused = old.append(frame(1, 11), first).expect("queued");
    let result = old_reports.result(refused);
    assert!(
        matches!(result, Err(LogError::Fenced { realm: 1, epoch, current }) if epoch == first && current == second.epoch)
    );
    assert!(matches!(old.append(frame(1, 12), first), Err(LogError::Fenced { .. })));
    append_all(&*old, &old_reports, 2, other, 1, 5);
    append_all(&*new, &new_reports, 1, second.epoch, 11, 12);
    assert_frames(&*new, 1, 1, 12);
    assert_frames(&*new, 2, 1, 5);
}

#[test]
fn of_two_owners_that_compete_each_frame_has_one() {
    let Some(database) = TestDatabase::create() else { return };
    let end = Instant::now() + Duration::from_secs(3);
    let owner = |name: &str| {
        let (log, reports) = open(&database);
        let mut acknowledged = Vec::new();
        while Instant::now() < end {
            let opened = log.open(1, 0).expect("opens");
            for sequence in opened.last_sequence + 1.. {
                let mut own = frame(1, sequence);
                own.payload = format!("{name} {} {sequence}", opened.epoch).into();
                let Ok(ticket) = log.append(own.clone(), opened.epoch) else { break };
                match reports.result(ticket) {
                    Ok(()) => acknowledged.push(own),
                    Err(LogError::Fenced { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
                if Instant::now() > end {
                    break;
                }
            }
        }
        acknowledged
    };
    let mut acknowledged = std::thread::scope(|scope| {
        let others = ["b", "c"].map(|name| scope.spawn(move || owner(name)));
        let mut all = owner("a");
        all.extend(others.into_iter().flat_map(|other| other.join().expect("ends")));
        all
    });
    acknowledged.sort_by_key(|frame| frame.sequence);
    let (log, _) = open(&database);
    let stored: Vec<_> = log.read(1, 1).expect("readable").map(|frame| frame.expect("undamaged")).collect();
    assert!(stored.len() > 20, "{} frames", stored.len());
    assert_eq!(stored, acknowledged);
}

#[test]
fn answers_that_are_lost_lose_and_double_nothing() {
    let Some(database) = TestDatabase::create() else { return };
    let proxy = Proxy::start(database.port);
    let (log, reports) = open_at(&database, proxy.port);
    let epochs = [1, 2, 3].map(|realm| log.open(realm, 0).expect("opens").epoch);
    for round in 0..12u64 {
        std::thread::scope(|scope| {
            scope.spawn(|| proxy.cut_after(Duration::from_millis(round)));
            let mut last = 0;
            for sequence in round * 20 + 1..=round * 20 + 20 {
                for (realm, epoch) in [1, 2, 3].into_iter().zip(epochs) {
                    last = log.append(frame(realm, sequence), epoch).expect("queued");
                }
                std::thread::sleep(Duration::from_micros(300));
            }
            reports.result(last).expect("stored");
        });
    }
    for realm in [1, 2, 3] {
        assert_frames(&*log, realm, 1, 240);
    }
    assert!(reports.reports().iter().all(|(_, result)| result.is_ok()));
}

#[test]
fn owner_that_was_fenced_while_cut_off_knows_which_frames_are_stored() {
    let Some(database) = TestDatabase::create() else { return };
    let proxy = Proxy::start(database.port);
    let (old, old_reports) = open_at(&database, proxy.port);
    let (new, new_reports) = open(&database);
    let epoch = old.open(1, 0).expect("opens").epoch;
    append_all(&*old, &old_reports, 1, epoch, 1, 3);
    let (stored, lost) = proxy.cut_during(|| {
        // It arrives, but not its answer; another owner comes before the first one can ask.
        let stored = old.append(frame(1, 4), epoch).expect("queued");
        while new.read(1, 4).expect("readable").next().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let lost = old.append(frame(1, 5), epoch).expect("queued");
        let opened = new.open(1, 0).expect("opens");
        assert_eq!(opened.last_sequence, 4);
        append_all(&*new, &new_reports, 1, opened.epoch, 5, 6);
        (stored, lost)
    });
    assert!(old_reports.result(stored).is_ok());
    assert!(matches!(old_reports.result(lost), Err(LogError::Fenced { .. })));
    assert_frames(&*new, 1, 1, 6);
}

#[test]
fn damaged_log_is_refused() {
    let Some(database) = TestDatabase::create() else { return };
    let (log, reports) = open(&database);
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &reports, 1, epoch, 1, 9);
    database.sql("UPDATE millstream.realm_log SET frame = 'x' WHERE seq = 4");
    let read: Vec<_> = log.read(1, 1).expect("readable").collect();
    assert_eq!(read.len(), 4);
    assert!(read[3].as_ref().is_err_and(|error| error.to_string().contains("frame 4 of realm 1")));
    database.sql("DELETE FROM millstream.realm_log WHERE seq = 4");
    assert!(log.read(1, 1).expect("readable").nth(3).is_some_and(|frame| frame.is_err()));
}

#[test]
fn server_that_could_lose_acknowledged_frames_is_refused() {
    let Some(database) = TestDatabase::create() else { return };
    let open = |requirements: Requirements| {
        let options = PgLogOptions { requirements, ..options() };
        PgLog::open(database.database(), &options, Box::new(Recorder::default())).map(drop)
    };
    let refused = open(Requirements { allow_single_copy: false });
    assert!(matches!(&refused, Err(PgError::Unsafe(why)) if why.contains("synchronous_standby_names")));
    assert!(open(SINGLE).is_ok());
    database.sql(&format!("ALTER DATABASE {} SET synchronous_commit = off", database.name));
    let refused = open(SINGLE);
    assert!(matches!(&refused, Err(PgError::Unsafe(why)) if why.contains("synchronous_commit is off")));
}

#[test]
fn former_owner_cannot_trim() {
    let Some(database) = TestDatabase::create() else { return };
    let ((old, old_reports), (new, _)) = (open(&database), open(&database));
    let epoch = old.open(1, 0).expect("opens").epoch;
    append_all(&*old, &old_reports, 1, epoch, 1, 10);
    new.open(1, 0).expect("opens");
    let refused = old.trim(1, 6).expect("queued");
    assert!(matches!(old_reports.result(refused), Err(LogError::Fenced { realm: 1, .. })));
    assert_frames(&*new, 1, 1, 10);
}

#[test]
fn reader_that_is_overtaken_by_a_trim_knows_the_reason() {
    let Some(database) = TestDatabase::create() else { return };
    let (log, reports) = open(&database);
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &reports, 1, epoch, 1, 100);
    let mut frames = log.read(1, 1).expect("readable");
    assert!(frames.next().is_some_and(|frame| frame.is_ok()));
    reports.result(log.trim(1, 91).expect("queued")).expect("trimmed");
    let end = frames.find_map(Result::err);
    assert!(matches!(end, Some(LogError::OutOfRange { first: 91, .. })), "{end:?}");
    assert_frames(&*log, 1, 91, 100);
}
