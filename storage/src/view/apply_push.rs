//! Facts about notifications become the directory's records and their rows.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use model::push::PushFact;

impl View {
    /// Phones, what they show, and how far it has been decided who is notified.
    pub(super) fn apply_push_fact(&mut self, fact: &PushFact, rows: &mut Rows) -> Result<(), StoreError> {
        self.directory.put_push(fact.clone());
        let realm = self.realm();
        match fact {
            PushFact::TokensSet { user, tokens } => {
                put_list(rows, tables::push(realm, Table::PushTokens, *user), tokens)
            }
            PushFact::DevicesSet { user, devices, .. } => {
                put_list(rows, tables::push(realm, Table::PushDevices, *user), devices)
            }
            PushFact::ShownSet { user, messages } => {
                put_list(rows, tables::push(realm, Table::PushShown, *user), messages)
            }
            PushFact::NoticedUpTo(message) => rows.put(Key::table(realm, Table::NoticedUpTo), message),
        }
    }
}

/// A list in one row; none without anything in it.
fn put_list<T: serde::Serialize>(rows: &mut Rows, key: Key, list: &Vec<T>) -> Result<(), StoreError> {
    if list.is_empty() {
        rows.remove(key);
        return Ok(());
    }
    rows.put(key, list)
}
