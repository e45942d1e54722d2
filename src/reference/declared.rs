//! In debug builds: which parameters handlers asked for, by row of the table of routes. Tests compare that with the declarations.

use super::operation::Operation;
use super::operations::operations;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What was asked for until now.
#[derive(Default)]
struct Asked {
    /// The names by row, as `POST /api/v1/messages`.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Those that are not declared, each after its row.
    undeclared: Vec<String>,
}

fn lock() -> MutexGuard<'static, Asked> {
    static ASKED: OnceLock<Mutex<Asked>> = OnceLock::new();
    ASKED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn operation(row: &str) -> Option<&'static Operation> {
    static ROWS: OnceLock<BTreeMap<&'static str, Operation>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let all = operations().into_iter();
        all.flat_map(|one| one.routes.clone().into_iter().map(move |row| (row, one.clone()))).collect()
    });
    rows.get(row)
}

/// Records the names that the handler of a row asked for.
pub fn record<'n>(row: String, names: impl Iterator<Item = &'n str>) {
    let mut asked = lock();
    let asked = &mut *asked;
    let known = asked.names.entry(row.clone()).or_default();
    for name in names {
        if !known.contains(name) {
            known.insert(name.to_owned());
            if operation(&row).is_some_and(|operation| !operation.declares(name)) {
                asked.undeclared.push(format!("{row}: {name}"));
            }
        }
    }
}

/// The names that the handler of a row asked for until now.
pub fn asked(row: &str) -> BTreeSet<String> {
    lock().names.get(row).cloned().unwrap_or_default()
}

/// The names that a handler asked for, but its operation does not declare, each after its row.
pub fn undeclared() -> Vec<String> {
    lock().undeclared.clone()
}
