//! Leases, owners and the directory, with several nodes.

use crate::testing::{SINGLE, TestDatabase};
use crate::testing_nodes::{node, wait, wait_for};
use crate::{Control, Guard, Identity, PgError, PgLog, PgLogOptions, Table};
use std::time::{Duration, Instant};
use storage::codec::RECORDS;
use storage::log::conformance::Recorder;
use storage::log::{LogError, RealmLog};

fn owner(table: &Table, realm: u32) -> Option<&str> {
    table.slot_of(realm)?.owner.as_ref().map(|owner| owner.name.as_str())
}

#[test]
fn organization_is_owned_by_the_node_that_made_it() {
    let Some(database) = TestDatabase::create() else { return };
    let ((a, own_a), (b, own_b)) = (node(&database, "a"), node(&database, "b"));
    assert_eq!((a.name(), a.secret()), (b.name(), b.secret()));
    let first = a.create(&own_a, "first").expect("answered").expect("made");
    let second = b.create(&own_b, "second").expect("answered").expect("made");
    assert_eq!(b.create(&own_b, "first").expect("answered"), None);
    let table = wait_for(&b, |table| owner(table, first).is_some() && owner(table, second).is_some());
    assert_eq!((owner(&table, first), owner(&table, second)), (Some("a"), Some("b")));
    assert_eq!(table.organization("first").map(|found| found.realm), Some(first));
    let slot = table.slot_of(first).expect("placed").slot;
    assert!(b.claim(&own_b, vec![slot]).expect("answered").is_empty(), "the owner is alive");
}

#[test]
fn slot_of_a_dead_node_is_taken_after_its_lease() {
    let Some(database) = TestDatabase::create() else { return };
    let ((a, own_a), (b, own_b)) = (node(&database, "a"), node(&database, "b"));
    let realm = a.create(&own_a, "acme").expect("answered").expect("made");
    let slot = wait_for(&b, |table| table.slot_of(realm).is_some()).slot_of(realm).expect("placed").slot;
    let lease = a.lease().clone();
    drop(a);
    let start = Instant::now();
    let mut ended = None;
    wait(|| {
        ended = ended.or((!lease.is_valid()).then(Instant::now));
        !b.claim(&own_b, vec![slot]).expect("answered").is_empty()
    });
    let ended = ended.expect("the owner stops before another takes over");
    assert!(ended < Instant::now() && start.elapsed() < Duration::from_secs(8));
    wait_for(&b, |table| owner(table, realm) == Some("b"));
}

#[test]
fn log_opens_only_for_the_owner_of_the_slot() {
    let Some(database) = TestDatabase::create() else { return };
    let ((a, own_a), (b, own_b)) = (node(&database, "a"), node(&database, "b"));
    let realm = a.create(&own_a, "acme").expect("answered").expect("made");
    let log = |own: &Identity| {
        let guard = Some(Guard { node: own.name.clone(), incarnation: own.incarnation });
        let options = PgLogOptions { guard, requirements: SINGLE, ..PgLogOptions::default() };
        PgLog::open(database.database(), &options, Box::new(Recorder::default())).expect("opens")
    };
    let (log_a, log_b) = (log(&own_a), log(&own_b));
    let first = log_a.open(realm, 0).expect("its own").epoch;
    assert!(matches!(log_b.open(realm, 0), Err(LogError::Fenced { .. })));
    let slot = wait_for(&b, |table| table.slot_of(realm).is_some()).slot_of(realm).expect("placed").slot;
    // A planned move: asked for, prepared, given.
    assert!(!a.hand_over(&own_a, slot, "b").expect("answered"), "it was not asked for");
    assert!(b.request_move(slot, "b").expect("answered"));
    b.note_prepared(&own_b, slot).expect("answered");
    wait_for(&a, |table| table.slots.get(&slot).is_some_and(|slot| slot.is_prepared));
    assert!(a.hand_over(&own_a, slot, "b").expect("answered"));
    assert!(!a.hand_over(&own_a, slot, "b").expect("answered"), "it is not its own any more");
    assert!(log_b.open(realm, 0).expect("its own").epoch > first);
    assert!(matches!(log_a.open(realm, 0), Err(LogError::Fenced { .. })));
}

#[test]
fn restarted_node_takes_what_it_owned_and_its_former_process_ends() {
    let Some(database) = TestDatabase::create() else { return };
    let (former, own_former) = node(&database, "a");
    let realm = former.create(&own_former, "acme").expect("answered").expect("made");
    let (a, own) = node(&database, "a");
    assert!(own.incarnation > own_former.incarnation);
    let slot = wait_for(&a, |table| table.slot_of(realm).is_some()).slot_of(realm).expect("placed").slot;
    assert_eq!(a.claim(&own, vec![slot]).expect("answered"), [slot]);
    wait(|| former.lease().is_replaced() && !former.lease().is_valid());
}

#[test]
fn draining_node_takes_nothing() {
    let Some(database) = TestDatabase::create() else { return };
    let (a, own) = node(&database, "a");
    assert!(a.drain("a", true).expect("answered"));
    assert!(!a.drain("z", true).expect("answered"));
    let table = wait_for(&a, |table| table.nodes.get("a").is_some_and(|node| node.is_draining));
    assert!(table.nodes["a"].is_alive());
    assert!(a.claim(&own, vec![3]).expect("answered").is_empty());
    assert!(a.drain("a", false).expect("answered"));
    assert_eq!(a.claim(&own, vec![3]).expect("answered"), [3]);
}

#[test]
fn records_of_a_new_version_wait_for_the_oldest_living_node() {
    let Some(database) = TestDatabase::create() else { return };
    let (old, own) = node(&database, "old");
    let realm = old.create(&own, "acme").expect("answered").expect("made");
    let new = Control::open(database.database(), SINGLE).expect("opens");
    new.register("new", "http://new", RECORDS + 1).expect("a newer node reads what older ones write");
    wait(|| new.lease().is_valid());
    let table = wait_for(&new, |table| table.nodes.len() == 2);
    assert_eq!(
        (table.records, table.nodes["old"].records, table.nodes["new"].records),
        (RECORDS, RECORDS, RECORDS + 1)
    );
    assert!(!new.upgrade(RECORDS + 1).expect("answered"), "the old node could not read it");
    assert_eq!(new.records().expect("answered"), RECORDS);
    // The old node leaves; what it was is still in the tables.
    old.leave(&own).expect("answered");
    assert!(new.upgrade(RECORDS + 1).expect("answered"));
    assert!(!new.upgrade(RECORDS + 1).expect("answered"), "it is that already");
    assert!(!new.upgrade(RECORDS).expect("answered"), "there is no way back");
    wait_for(&new, |table| table.records == RECORDS + 1);
    // It does not come back, neither as it was nor started again.
    let late = Control::open(database.database(), SINGLE).expect("opens");
    let refused = late.register("old", "http://old", RECORDS).expect_err("too old");
    assert!(matches!(refused, PgError::TooOld { found, known } if found == known + 1), "{refused}");
    assert_eq!(wait_for(&new, |table| table.slot_of(realm).is_some()).nodes["old"].identity, own);
}

#[test]
fn old_node_that_was_frozen_during_an_upgrade_gets_no_lease() {
    let Some(database) = TestDatabase::create() else { return };
    let (old, _) = node(&database, "old");
    // As after a pause of its process: the lease has ended, and the node does not know.
    database.sql(
        "UPDATE millstream.node SET lease_until = clock_timestamp() - interval '1 second'; \
                  UPDATE millstream.cluster SET records = records + 1",
    );
    wait(|| old.lease().is_replaced() && !old.lease().is_valid());
    assert_eq!(database.query("SELECT lease_until < clock_timestamp() FROM millstream.node"), "t");
}

#[test]
fn tables_of_an_earlier_version_are_completed() {
    let Some(database) = TestDatabase::create() else { return };
    let (first, own) = node(&database, "a");
    let realm = first.create(&own, "acme").expect("answered").expect("made");
    drop(first);
    database.sql(
        "ALTER TABLE millstream.realm DROP COLUMN place, DROP COLUMN leaving_until, DROP COLUMN is_closed, \
         DROP COLUMN home, DROP COLUMN secret; \
         ALTER TABLE millstream.cluster DROP COLUMN records; ALTER TABLE millstream.node DROP COLUMN records; \
         DROP TABLE millstream.standby",
    );
    let (second, _) = node(&database, "b");
    let table = wait_for(&second, |table| table.slot_of(realm).is_some());
    assert_eq!((table.records, table.nodes["a"].records), (1, 1));
}

#[test]
fn standbys_are_known_while_they_are_alive() {
    let Some(database) = TestDatabase::create() else { return };
    let ((a, own_a), (b, own_b)) = (node(&database, "a"), node(&database, "b"));
    a.note_standbys(&own_a, &[(1, 7), (2, 0)]).expect("noted");
    b.note_standbys(&own_b, &[(1, 3)]).expect("noted");
    let found = || -> Vec<(i32, String, i64)> {
        let standbys = a.standbys().expect("answered");
        standbys.into_iter().map(|standby| (standby.slot, standby.node, standby.lag)).collect()
    };
    assert_eq!(found(), [(1, "b".to_owned(), 3), (1, "a".to_owned(), 7), (2, "a".to_owned(), 0)]);
    // What a node does not follow any more is forgotten.
    a.note_standbys(&own_a, &[(2, 5)]).expect("noted");
    assert_eq!(found(), [(1, "b".to_owned(), 3), (2, "a".to_owned(), 5)]);
    b.drain("b", true).expect("drained");
    assert_eq!(found(), [(2, "a".to_owned(), 5)]);
    b.drain("b", false).expect("resumed");
    b.leave(&own_b).expect("left");
    assert_eq!(found(), [(2, "a".to_owned(), 5)]);
    // Another process of the node has not followed anything yet.
    a.register("a", "http://a", RECORDS).expect("registered");
    assert!(found().is_empty());
}

#[test]
fn heads_are_the_newest_frames() {
    let Some(database) = TestDatabase::create() else { return };
    let (a, _) = node(&database, "a");
    database.sql(
        "INSERT INTO millstream.realm_head (realm, epoch, first, seq, chain) VALUES (1, 1, 1, 40, 0), (2, 1, 5, 7, 0)",
    );
    let heads = a.heads(&[1, 2, 3]).expect("answered");
    assert_eq!((heads.len(), heads[&1], heads[&2]), (2, 40, 7));
}
