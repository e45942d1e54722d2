//! Facts about notifications become the directory's records and their rows.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use model::UserId;
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
            PushFact::Shown { users, .. } => users.iter().try_for_each(|user| self.put_shown(*user, rows)),
            PushFact::Unshown { user, .. } => self.put_shown(*user, rows),
            PushFact::NoticedUpTo(message) => rows.put(Key::table(realm, Table::NoticedUpTo), message),
        }
    }
}

impl View {
    fn put_shown(&self, user: UserId, rows: &mut Rows) -> Result<(), StoreError> {
        let key = tables::push(self.realm(), Table::PushShown, user);
        put_list(rows, key, self.directory.push_shown(user))
    }
}

/// A list in one row; none without anything in it.
fn put_list<T: serde::Serialize>(rows: &mut Rows, key: Key, list: &[T]) -> Result<(), StoreError> {
    if list.is_empty() {
        rows.remove(key);
        return Ok(());
    }
    rows.put(key, &list)
}
