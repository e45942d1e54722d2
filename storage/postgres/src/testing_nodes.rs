//! Nodes for the tests of the control tables, and waiting for what they learn.

use crate::testing::{SINGLE, TestDatabase};
use crate::{Control, Identity, Table};
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::codec::RECORDS;

/// A connection to the control tables that is not a node.
pub fn control(database: &TestDatabase) -> Control {
    Control::open(database.database(), SINGLE).expect("opens")
}

/// A node that has its lease.
pub fn node(database: &TestDatabase, name: &str) -> (Control, Identity) {
    let control = control(database);
    let own = control.register(name, &format!("http://{name}"), RECORDS).expect("answered");
    wait(|| control.lease().is_valid());
    (control, own)
}

/// Waits until something is so.
pub fn wait(mut is_done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < Duration::from_secs(20), "it did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the copy of the tables has something, and returns it.
pub fn wait_for(control: &Control, mut is_there: impl FnMut(&Table) -> bool) -> Arc<Table> {
    let table = control.table();
    wait(|| is_there(&table.borrow()));
    table.borrow().clone()
}
