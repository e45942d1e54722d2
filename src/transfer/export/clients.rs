//! The names of clients that sent messages.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// Names of clients that have entries of their own; further ones are exported as `other`.
const CLIENTS_MAX: usize = 10_000;
const OTHER_CLIENT: &str = "other";

/// The names of clients, with ids of this export.
#[derive(Debug, Default)]
pub struct Clients(RefCell<HashMap<String, u32>>);

impl Clients {
    /// The id of a client.
    pub fn id_of(&self, name: &str) -> u32 {
        let mut ids = self.0.borrow_mut();
        if let Some(id) = ids.get(name) {
            return *id;
        }
        let name = if ids.len() < CLIENTS_MAX { name } else { OTHER_CLIENT };
        let next = ids.len() as u32 + 1;
        *ids.entry(name.to_owned()).or_insert(next)
    }

    /// All names by id.
    pub fn all(&self) -> BTreeMap<u32, String> {
        self.0.borrow().iter().map(|(name, id)| (*id, name.clone())).collect()
    }
}
