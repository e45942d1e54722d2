//! Conformance tests of the log, run against every implementation of [`RealmLog`]. A new implementation needs a
//! [`Subject`]; a new guarantee of the trait needs a test here.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Durable, FrameBytes, LogError, PAYLOAD_BYTES_MAX, RealmLog, Ticket};

/// A sink that records all reports and can be blocked.
#[derive(Clone, Default)]
pub struct Recorder {
    shared: Arc<(Mutex<Record>, Condvar)>,
}

#[derive(Default)]
struct Record {
    reports: Vec<(Ticket, Result<(), LogError>)>,
    is_gated: bool,
}

impl Durable for Recorder {
    fn durable(&mut self, upto: Ticket, result: Result<(), LogError>) {
        let mut record = self.shared.0.lock();
        while record.is_gated {
            self.shared.1.wait(&mut record);
        }
        record.reports.push((upto, result));
        self.shared.1.notify_all();
    }
}

impl Recorder {
    /// While gated, `durable` does not return.
    pub fn gate(&self, is_gated: bool) {
        self.shared.0.lock().is_gated = is_gated;
        self.shared.1.notify_all();
    }

    /// Waits until `ticket` was reported and returns its result.
    pub fn result(&self, ticket: Ticket) -> Result<(), LogError> {
        let mut record = self.wait_for(ticket);
        let reports = std::mem::take(&mut record.reports);
        let result = reports.iter().find(|(upto, _)| *upto >= ticket).expect("waited for").1.clone();
        record.reports = reports;
        result
    }

    pub fn reports(&self) -> Vec<(Ticket, Result<(), LogError>)> {
        self.shared.0.lock().reports.clone()
    }

    fn wait_for(&self, ticket: Ticket) -> MutexGuard<'_, Record> {
        let mut record = self.shared.0.lock();
        while record.reports.last().is_none_or(|(upto, _)| *upto < ticket) {
            let wait = self.shared.1.wait_for(&mut record, Duration::from_secs(20));
            assert!(!wait.timed_out(), "ticket {ticket} was never reported");
        }
        record
    }
}

/// One kind of log under test.
pub trait Subject {
    /// Opens the log again with the stored frames; the earlier one is closed first.
    fn open(&mut self) -> (Arc<dyn RealmLog>, Recorder);
    /// From now on nothing becomes durable except frames in flight.
    fn stall(&mut self);
    fn resume(&mut self);
}

/// Runs every check against the logs of `$subject`, each on a fresh one.
#[macro_export]
macro_rules! log_conformance {
    ($name:ident, $subject:expr) => {
        mod $name {
            use super::*;

            $crate::log_conformance!(@ $subject, [
                unknown_realm_is_empty, frames_come_back_in_order, reports_are_in_order_of_tickets,
                wrong_sequence_is_rejected, older_epoch_is_fenced, realm_must_be_opened,
                oversized_frame_is_rejected, full_queue_fails_immediately, reading_starts_at_any_sequence,
                trim_removes_the_first_frames, frames_survive_reopening, realms_append_concurrently,
                closed_log_rejects_appends, opening_waits_for_queued_frames,
            ]);
        }
    };
    (@ $subject:expr, [$($check:ident),* $(,)?]) => {
        $(#[test] fn $check() { $crate::log::conformance::$check(&mut $subject); })*
    };
}

pub fn frame(realm: u32, sequence: u64) -> FrameBytes {
    let payload = format!("frame {sequence} of realm {realm} ").repeat(1 + (sequence % 40) as usize);
    FrameBytes { realm, sequence, payload: Bytes::from(payload), original: None }
}

/// Appends frames `from..=to`, waits until they are durable.
pub fn append_all(log: &dyn RealmLog, recorder: &Recorder, realm: u32, epoch: u64, from: u64, to: u64) {
    let mut ticket = 0;
    for sequence in from..=to {
        ticket = loop {
            match log.append(frame(realm, sequence), epoch) {
                Err(LogError::Behind) => std::thread::yield_now(),
                other => break other.expect("taken"),
            }
        };
    }
    recorder.result(ticket).expect("durable");
}

pub fn assert_frames(log: &dyn RealmLog, realm: u32, from: u64, to: u64) {
    let mut expected = from;
    for read in log.read(realm, from).expect("readable") {
        assert_eq!(read.expect("undamaged"), frame(realm, expected));
        expected += 1;
    }
    assert_eq!(expected, to + 1);
}

pub fn unknown_realm_is_empty(subject: &mut dyn Subject) {
    let (log, _) = subject.open();
    assert!(log.realms().is_empty());
    assert_eq!(log.read(7, 1).expect("readable").count(), 0);
    assert!(matches!(log.read(7, 2), Err(LogError::OutOfRange { first: 1, last: 0, .. })));
    let opened = log.open(7, 0).expect("opens");
    assert_eq!((opened.first_sequence, opened.last_sequence), (1, 0));
    assert!(log.realms().is_empty());
}

pub fn frames_come_back_in_order(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 1, epoch, 1, 500);
    assert_frames(&*log, 1, 1, 500);
    append_all(&*log, &recorder, 1, epoch, 501, 600);
    assert_frames(&*log, 1, 1, 600);
    let empty = FrameBytes { realm: 1, sequence: 601, payload: Bytes::new(), original: None };
    let ticket = log.append(empty.clone(), epoch).expect("taken");
    recorder.result(ticket).expect("durable");
    assert_eq!(log.read(1, 601).expect("readable").next().expect("one").expect("undamaged"), empty);
}

pub fn reports_are_in_order_of_tickets(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    let mut last = 0;
    for sequence in 1..=200 {
        let ticket = log.append(frame(1, sequence), epoch).expect("taken");
        assert_eq!(ticket, last + 1);
        last = ticket;
    }
    recorder.result(last).expect("durable");
    let mut before = 0;
    for (upto, result) in recorder.reports() {
        assert!(upto > before && result.is_ok());
        before = upto;
    }
    assert_eq!(before, last);
}

pub fn wrong_sequence_is_rejected(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 1, epoch, 1, 3);
    for given in [0, 1, 3, 5, u64::MAX] {
        let refused = log.append(frame(1, given.min(9)), epoch);
        let expected_given = given.min(9);
        assert!(
            matches!(refused, Err(LogError::Sequence { realm: 1, expected: 4, given }) if given == expected_given)
        );
    }
    append_all(&*log, &recorder, 1, epoch, 4, 4);
    assert_frames(&*log, 1, 1, 4);
}

pub fn older_epoch_is_fenced(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let old = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 1, old, 1, 2);
    let new = log.open(1, 40).expect("opens");
    assert_eq!((new.epoch >= 40, new.last_sequence), (true, 2));
    let refused = log.append(frame(1, 3), old);
    assert!(
        matches!(refused, Err(LogError::Fenced { realm: 1, epoch, current }) if epoch == old && current == new.epoch)
    );
    append_all(&*log, &recorder, 1, new.epoch, 3, 3);
    let (log, _) = subject.open();
    assert!(log.open(1, 0).expect("opens").epoch > new.epoch, "an epoch was given twice");
    assert_frames(&*log, 1, 1, 3);
}

pub fn realm_must_be_opened(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    assert!(matches!(log.append(frame(1, 1), 1), Err(LogError::NotOpen { realm: 1 })));
    assert!(matches!(log.trim(1, 1), Err(LogError::NotOpen { realm: 1 })));
    let epoch = log.open(1, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 1, epoch, 1, 1);
    let (log, _) = subject.open();
    assert!(matches!(log.append(frame(1, 2), epoch), Err(LogError::NotOpen { realm: 1 })));
}

pub fn oversized_frame_is_rejected(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    let sized =
        |bytes| FrameBytes { realm: 1, sequence: 1, payload: Bytes::from(vec![7; bytes]), original: None };
    let refused = log.append(sized(PAYLOAD_BYTES_MAX + 1), epoch);
    assert!(matches!(refused, Err(LogError::TooLarge { bytes }) if bytes == PAYLOAD_BYTES_MAX + 1));
    let ticket = log.append(sized(PAYLOAD_BYTES_MAX), epoch).expect("the limit itself is taken");
    recorder.result(ticket).expect("durable");
    append_all(&*log, &recorder, 1, epoch, 2, 4);
    let (log, _) = subject.open();
    let read = log.read(1, 1).expect("readable").next().expect("one").expect("undamaged");
    assert_eq!(read, sized(PAYLOAD_BYTES_MAX));
    assert_frames(&*log, 1, 2, 4);
}

pub fn full_queue_fails_immediately(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    subject.stall();
    let mut sequence = 1;
    let mut last = 0;
    let refused = loop {
        match log.append(frame(1, sequence), epoch) {
            Ok(ticket) => last = ticket,
            Err(error) => break error,
        }
        sequence += 1;
        assert!(sequence < 20_000, "the queue has no bound");
    };
    assert!(matches!(refused, LogError::Behind));
    subject.resume();
    recorder.result(last).expect("durable");
    // The refused frame took neither a ticket nor a sequence.
    assert_eq!(log.append(frame(1, sequence), epoch).expect("taken"), last + 1);
    recorder.result(last + 1).expect("durable");
    assert_frames(&*log, 1, 1, sequence);
}

pub fn reading_starts_at_any_sequence(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let one = log.open(1, 0).expect("opens").epoch;
    let two = log.open(2, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 2, two, 1, 10);
    append_all(&*log, &recorder, 1, one, 1, 2500);
    append_all(&*log, &recorder, 2, two, 11, 20);
    for from in [1, 2, 1023, 1024, 1025, 1026, 2499, 2500, 2501] {
        assert_frames(&*log, 1, from, 2500);
    }
    for from in 1..=21 {
        assert_frames(&*log, 2, from, 20);
    }
    for from in [0, 22] {
        assert!(matches!(log.read(2, from), Err(LogError::OutOfRange { first: 1, last: 20, .. })));
    }
}

pub fn trim_removes_the_first_frames(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let one = log.open(1, 0).expect("opens").epoch;
    let two = log.open(2, 0).expect("opens").epoch;
    append_all(&*log, &recorder, 2, two, 1, 3);
    append_all(&*log, &recorder, 1, one, 1, 900);
    assert!(matches!(log.trim(1, 902), Err(LogError::OutOfRange { last: 900, .. })));
    for (realm, before) in [(1, 700), (2, 4), (1, 20)] {
        let ticket = log.trim(realm, before).expect("taken");
        recorder.result(ticket).expect("durable");
    }
    let check = |log: &dyn RealmLog| {
        assert!(matches!(log.read(1, 699), Err(LogError::OutOfRange { first: 700, last: 900, .. })));
        assert_frames(log, 1, 700, 900);
        assert_frames(log, 2, 4, 3);
        assert_eq!(log.realms(), [1, 2]);
    };
    check(&*log);
    let (log, recorder) = subject.open();
    check(&*log);
    let opened = log.open(2, 0).expect("opens");
    assert_eq!((opened.first_sequence, opened.last_sequence), (4, 3));
    append_all(&*log, &recorder, 2, opened.epoch, 4, 8);
    assert_frames(&*log, 2, 4, 8);
    let (log, _) = subject.open();
    assert_frames(&*log, 2, 4, 8);
}

pub fn frames_survive_reopening(subject: &mut dyn Subject) {
    for round in 0..5 {
        let (log, recorder) = subject.open();
        for realm in 1..=3 {
            let opened = log.open(realm, 0).expect("opens");
            assert_eq!(opened.last_sequence, round * 70);
            append_all(&*log, &recorder, realm, opened.epoch, round * 70 + 1, round * 70 + 70);
        }
        assert_eq!(log.realms(), [1, 2, 3]);
        for realm in 1..=3 {
            assert_frames(&*log, realm, 1, round * 70 + 70);
        }
    }
}

pub fn realms_append_concurrently(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    std::thread::scope(|scope| {
        for realm in 1..=4 {
            let (log, recorder) = (log.clone(), recorder.clone());
            scope.spawn(move || {
                let epoch = log.open(realm, 0).expect("opens").epoch;
                append_all(&*log, &recorder, realm, epoch, 1, 400);
                assert_frames(&*log, realm, 1, 400);
            });
        }
    });
    let (log, _) = subject.open();
    for realm in 1..=4 {
        assert_frames(&*log, realm, 1, 400);
    }
}

pub fn closed_log_rejects_appends(subject: &mut dyn Subject) {
    let (log, recorder) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    for sequence in 1..=100 {
        log.append(frame(1, sequence), epoch).expect("taken");
    }
    log.close();
    assert_eq!(recorder.reports().last().expect("reported").0, 100);
    assert!(matches!(log.append(frame(1, 101), epoch), Err(LogError::Unavailable(_))));
    assert!(matches!(log.open(1, 0), Err(LogError::Unavailable(_))));
    log.close();
    assert_frames(&*log, 1, 1, 100);
}

pub fn opening_waits_for_queued_frames(subject: &mut dyn Subject) {
    let (log, _) = subject.open();
    let epoch = log.open(1, 0).expect("opens").epoch;
    for sequence in 1..=200 {
        log.append(frame(1, sequence), epoch).expect("taken");
    }
    assert_eq!(log.open(1, 0).expect("opens").last_sequence, 200);
    assert_frames(&*log, 1, 1, 200);
}
