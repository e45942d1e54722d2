//! What the journal has of an organization whose making or resetting was interrupted.

use super::*;
use crate::bootstrap::{NewRealm, realm_facts};
use crate::fixture::START;
use model::push::PushFact;
use model::{ActionKind, EventNumber, Frame, MessageId, RequestOrigin};
use storage::log::{Durable, FrameBytes, LogError, MemoryLog, Ticket};

const REALM: RealmId = RealmId(2);

struct Ignored;

impl Durable for Ignored {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

/// A frame of a history.
#[derive(Clone, Copy)]
enum Step {
    /// Creates the organization.
    Begin,
    /// Moves the cursor of notifications, as the last frame of a seed does, and as deliveries do later.
    Cursor,
    /// Makes an entry of the audit log.
    Audit,
}

use Step::{Audit, Begin, Cursor};

/// Frames, of which nothing more is asked than which kinds they are.
fn log_of(steps: &[Step]) -> MemoryLog {
    let log = MemoryLog::new(Box::new(Ignored));
    let epoch = log.open(REALM.0, 0).unwrap().epoch;
    for (sequence, step) in (1..).zip(steps) {
        let new =
            NewRealm { subdomain: "acme".into(), name: "Acme".into(), email_domain: "acme.example".into() };
        let facts = match step {
            Begin => realm_facts(REALM, &new, START),
            Cursor => vec![Fact::Push(Box::new(PushFact::NotificationCursorMoved(MessageId(3))))],
            Audit => vec![crate::audit::of_organization(ActionKind::Created, RequestOrigin::CommandLine)],
        };
        let payload =
            storage::encode_frame(&Frame { at: START, first_event: EventNumber(1), facts }).unwrap();
        log.append(FrameBytes { realm: REALM.0, sequence, payload, original: None }, epoch).unwrap();
    }
    log
}

fn written_of(state: UnfinishedState, first: u64, steps: &[Step]) -> Written {
    let found = Unfinished { state, first, subdomain: "acme".into(), is_left: true };
    written(&log_of(steps), REALM, &found).unwrap()
}

#[test]
fn making_ends_with_the_seed_or_an_entry_of_the_audit_log() {
    for (steps, expected) in [
        (&[][..], Written::Nothing),
        (&[Begin], Written::Part),
        (&[Begin, Cursor], Written::Whole),
        (&[Begin, Audit], Written::Whole),
        // An earlier process has left a part.
        (&[Begin, Begin], Written::Part),
        (&[Begin, Begin, Cursor], Written::Whole),
        // The mark is older than the journal.
        (&[Begin, Cursor, Audit, Begin], Written::PartOfReset),
        (&[Begin, Cursor, Audit, Begin, Cursor], Written::Whole),
    ] {
        assert_eq!(written_of(UnfinishedState::Making, 1, steps), expected, "{} frames", steps.len());
    }
}

#[test]
fn reset_ends_with_the_last_frame_of_the_seed() {
    // A seed of two frames, then the reset.
    for (steps, expected) in [
        (&[Begin, Cursor][..], Written::Nothing),
        (&[Begin, Cursor, Begin], Written::Part),
        (&[Begin, Cursor, Begin, Cursor], Written::Whole),
        // It was refused halfway, and the part was used.
        (&[Begin, Cursor, Begin, Audit, Cursor], Written::Part),
        (&[Begin, Cursor, Begin, Audit, Begin, Cursor, Audit], Written::Whole),
    ] {
        assert_eq!(written_of(UnfinishedState::Resetting, 3, steps), expected, "{} frames", steps.len());
    }
}
