//! Organizations that are carried between a data folder and the cluster: what the tables allow.

use crate::testing::{SINGLE, TestDatabase};
use crate::testing_nodes::{control, node, wait, wait_for};
use crate::{Arrival, Control, Guard, Identity, PgLog, PgLogOptions, ServingState};
use bytes::Bytes;
use storage::log::conformance::Recorder;
use storage::log::{FrameBytes, LogError, RealmLog};

const SECRET: [u8; 32] = [5; 32];

fn log(database: &TestDatabase, guard: Option<&Identity>) -> (PgLog, Recorder) {
    let recorder = Recorder::default();
    let guard = guard.map(|own| Guard { node: own.name.clone(), incarnation: own.incarnation });
    let options = PgLogOptions { guard, requirements: SINGLE, ..PgLogOptions::default() };
    (PgLog::open(database.database(), &options, Box::new(recorder.clone())).expect("opens"), recorder)
}

/// Appends one frame; returns the epoch.
fn append(log: &PgLog, realm: u32, sequence: u64) -> u64 {
    let epoch = log.open(realm, 0).expect("its own").epoch;
    let frame = FrameBytes { realm, sequence, payload: Bytes::from_static(b"frame"), original: None };
    log.append(frame, epoch).expect("queued");
    wait(|| log.read(realm, sequence + 1).is_ok());
    epoch
}

fn arrival<'a>(realm: u32, subdomain: &'a str) -> Arrival<'a> {
    Arrival { realm, subdomain, secret: &SECRET }
}

fn place(control: &Control, realm: u32) -> Option<ServingState> {
    let known = control.known(realm, "?").expect("answered");
    known.first().map(|known| known.place)
}

#[test]
fn arriving_organization_is_served_once_its_log_is_whole() {
    let Some(database) = TestDatabase::create() else { return };
    let ((node, own), tool) = (node(&database, "n1"), control(&database));
    let made = node.create(&own, "zoo").expect("answered").expect("made");
    assert!(made > 1000, "small numbers are left to organizations that arrive");
    assert!(!tool.reserve(arrival(7, "zoo")).expect("answered"), "the subdomain is in use");
    assert!(!tool.reserve(arrival(made, "acme")).expect("answered"), "the number is in use");
    assert!(tool.reserve(arrival(7, "acme")).expect("answered"));
    assert_eq!(place(&tool, 7), Some(ServingState::Arriving));
    assert_eq!(node.create(&own, "acme").expect("answered"), None, "it is reserved");
    let (copied, _) = log(&database, None);
    let epoch = append(&copied, 7, 1);
    assert!(!tool.activate(7, epoch, 2).expect("answered"), "a frame is missing");
    assert!(!tool.activate(7, epoch + 1, 1).expect("answered"), "another process has opened it");
    assert!(wait_for(&node, |table| table.organization("zoo").is_some()).organization("acme").is_none());
    assert!(tool.activate(7, epoch, 1).expect("answered"));
    let table = wait_for(&node, |table| table.organization("acme").is_some());
    let found = table.organization("acme").expect("there");
    assert_eq!((found.realm, found.secret.as_ref().map(|secret| &secret.0[..])), (7, Some(&SECRET[..])));
    assert!(table.slots.contains_key(&found.slot), "nodes do not know its slot, so none claims it");
    assert_eq!(node.claim(&own, vec![found.slot]).expect("answered"), [found.slot]);
    let (served, _) = log(&database, Some(&own));
    assert!(served.open(7, 0).expect("its own").epoch > epoch);
    assert!(!tool.withdraw(7).expect("answered"), "it is served");
}

#[test]
fn withdrawn_organization_leaves_nothing() {
    let Some(database) = TestDatabase::create() else { return };
    let tool = control(&database);
    assert!(tool.reserve(arrival(2000, "acme")).expect("answered"));
    append(&log(&database, None).0, 2000, 1);
    assert!(tool.withdraw(2000).expect("answered") && !tool.withdraw(2000).expect("answered"));
    let rows =
        "SELECT (SELECT count(*) FROM millstream.realm_log), (SELECT count(*) FROM millstream.realm_head)";
    assert_eq!((place(&tool, 2000), database.query(rows).as_str()), (None, "0|0"));
    let (node, own) = node(&database, "n1");
    let made = node.create(&own, "acme").expect("answered").expect("made");
    assert!(made > 2000, "numbers of other servers are not given to new organizations");
}

#[test]
fn leaving_organization_is_opened_by_no_node_until_it_stays() {
    let Some(database) = TestDatabase::create() else { return };
    let ((node, own), tool) = (node(&database, "n1"), control(&database));
    let realm = node.create(&own, "acme").expect("answered").expect("made");
    let (served, _) = log(&database, Some(&own));
    append(&served, realm, 1);
    assert!(tool.depart(realm, "folder").expect("answered"));
    assert_eq!(tool.is_closed(realm).expect("answered"), Some(false), "its owner is alive");
    let table = wait_for(&node, |table| table.relocated_out("acme").is_some());
    assert!(table.organization("acme").is_none());
    assert!(matches!(served.open(realm, 0), Err(LogError::Fenced { .. })));
    node.note_closed(realm).expect("answered");
    assert_eq!(tool.is_closed(realm).expect("answered"), Some(true));
    let (copied, _) = log(&database, None);
    let epoch = copied.open(realm, 0).expect("free").epoch;
    assert!(!tool.complete_departure(realm, (epoch, 1), "other").expect("answered"), "another folder");
    assert!(!tool.complete_departure(realm, (epoch, 2), "folder").expect("answered"), "another end");
    // As if the process that carries it had been killed: half a minute later.
    database.sql("UPDATE millstream.realm SET leaving_until = clock_timestamp()");
    wait_for(&node, |table| table.organization("acme").is_some());
    append(&served, realm, 2);
    assert!(!tool.complete_departure(realm, (epoch, 1), "folder").expect("answered"), "it was opened again");
    assert_eq!(tool.is_closed(realm).expect("answered"), Some(true), "by the former attempt");
    assert!(tool.depart(realm, "folder").expect("answered"));
    assert_eq!(tool.is_closed(realm).expect("answered"), Some(false), "its owner must close it again");
    assert!(tool.stay(realm).expect("answered") && !tool.stay(realm).expect("answered"));
    append(&served, realm, 3);
}

#[test]
fn organization_that_left_comes_back_under_the_same_number() {
    let Some(database) = TestDatabase::create() else { return };
    let ((node, own), tool) = (node(&database, "n1"), control(&database));
    let realm = node.create(&own, "acme").expect("answered").expect("made");
    append(&log(&database, Some(&own)).0, realm, 1);
    assert!(tool.depart(realm, "folder").expect("answered"));
    node.note_closed(realm).expect("answered");
    let (copied, _) = log(&database, None);
    let epoch = copied.open(realm, 0).expect("free").epoch;
    assert!(tool.complete_departure(realm, (epoch, 1), "folder").expect("answered"));
    let known = tool.known(realm, "acme").expect("answered");
    assert_eq!((known[0].place, known[0].home.as_deref()), (ServingState::Away, Some("folder")));
    assert!(!tool.stay(realm).expect("answered") && !tool.depart(realm, "folder").expect("answered"));
    assert!(matches!(log(&database, Some(&own)).0.open(realm, 0), Err(LogError::Fenced { .. })));
    assert_eq!(node.create(&own, "acme").expect("answered"), None, "the subdomain is kept for it");
    assert!(tool.reserve_again(realm).expect("answered") && !tool.reserve_again(realm).expect("answered"));
    let epoch = copied.open(realm, 0).expect("free").epoch;
    assert!(tool.activate(realm, epoch, 1).expect("answered"));
    wait_for(&node, |table| table.organization("acme").is_some());
}
