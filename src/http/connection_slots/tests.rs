//! Which connections make room for others.

use super::*;
use std::future::pending;
use std::net::IpAddr;

/// One slot in sixteen is spare.
const CONNECTIONS_MAX: usize = 32;
const USED_MAX: usize = 30;

fn network(address: &str) -> Option<Network> {
    Some(Network::from(Some(address.parse::<IpAddr>().unwrap())))
}

/// Each of a network of its own.
fn somewhere(number: usize) -> Option<Network> {
    network(&format!("192.0.2.{number}"))
}

/// Connections that have sent nothing, one for each number.
fn taken(slots: &ConnectionSlots, numbers: std::ops::Range<usize>) -> Vec<ConnectionSlot> {
    numbers.map(|number| slots.take(somewhere(number))).collect()
}

/// What a connection does in its task.
fn in_task(slot: &ConnectionSlot, act: impl FnOnce()) {
    CURRENT.sync_scope(slot.connected.clone(), act);
}

fn work(slot: &ConnectionSlot) {
    in_task(slot, || {
        begin_request();
        has_valid_credentials();
    });
}

fn closing(slots: &[ConnectionSlot]) -> Vec<usize> {
    (0..slots.len()).filter(|at| slots[*at].connected.is_closing.get()).collect()
}

#[test]
fn first_silent_connection_makes_room() {
    let slots = ConnectionSlots::new(CONNECTIONS_MAX);
    let mut all = taken(&slots, 0..USED_MAX);
    assert_eq!(closing(&all), [0; 0]);
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [0]);
    // A request makes a connection the newest, with or without an answer.
    in_task(&all[1], begin_request);
    in_task(&all[2], || {
        begin_request();
        end_request();
    });
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [0, 3]);
    // What is being closed is not counted any more.
    drop(all.remove(3));
    drop(all.remove(0));
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [2]);
}

#[test]
fn requests_with_valid_credentials_are_never_closed() {
    let slots = ConnectionSlots::new(CONNECTIONS_MAX);
    let mut all = taken(&slots, 0..USED_MAX);
    all.iter().for_each(work);
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [0; 0]);
    // The newest is without credentials, and the only one that can be closed.
    all.push(slots.take(None));
    assert_eq!(closing(&all), [USED_MAX]);
    // After its response a connection of an account is idle; anonymous ones go first, and a proxy's stay.
    in_task(&all[4], end_request);
    in_task(&all[5], end_request);
    in_task(&all[6], || {
        end_request();
        begin_request();
        end_request();
    });
    let proxy = [slots.take(None), slots.take(None)];
    assert_eq!(closing(&all), [4, 6, USED_MAX]);
    assert_eq!(closing(&proxy), [0; 0]);
}

#[test]
fn network_with_too_many_connections_makes_room_first() {
    let slots = ConnectionSlots::new(CONNECTIONS_MAX);
    let mut all = taken(&slots, 0..USED_MAX - 3);
    // One client has a /48.
    let subnets = ["2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:ffff::1"];
    all.extend(subnets.map(|address| slots.take(network(address))));
    assert_eq!(closing(&all), [0; 0]);
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [USED_MAX - 3]);
    // Two are its share.
    all.push(slots.take(somewhere(99)));
    assert_eq!(closing(&all), [0, USED_MAX - 3]);
}

#[test]
fn few_slots_are_all_used() {
    let slots = ConnectionSlots::new(8);
    let all = taken(&slots, 0..8);
    assert_eq!(closing(&all), [0; 0]);
}

#[actix_web::test]
async fn closed_connection_ends_unless_it_has_a_request() {
    let slots = ConnectionSlots::new(CONNECTIONS_MAX);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let polling = actix_rt::spawn(slots.take(somewhere(1)).serve(async move {
        begin_request();
        has_valid_credentials();
        begun.send(()).unwrap();
        pending().await
    }));
    let silent = actix_rt::spawn(slots.take(somewhere(2)).serve(pending()));
    has_begun.await.unwrap();
    let _others = taken(&slots, 3..USED_MAX + 2);
    silent.await.unwrap().unwrap();
    assert!(!polling.is_finished());
    polling.abort();
}
