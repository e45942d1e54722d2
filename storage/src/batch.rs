//! The changes of several frames as one write: for each row only what it is in the end.

use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use crate::view::{Row, RowChange, chunk};
use model::{MessageId, RealmId};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// What is to be written: by key, the row or none.
#[derive(Debug)]
pub struct Batch<'t> {
    tree: &'t sled::Tree,
    newest: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl<'t> Batch<'t> {
    /// Nothing yet.
    pub fn new(tree: &'t sled::Tree) -> Self {
        Self { tree, newest: BTreeMap::new() }
    }

    /// Adds the next change.
    ///
    /// # Errors
    /// [`StoreError::Decode`], [`StoreError::Trees`] when a chunk that is to lose messages cannot be read.
    pub fn add(&mut self, change: RowChange) -> Result<(), StoreError> {
        match change {
            RowChange::Put(Row { key, value }) => {
                self.newest.insert(key, Some(value));
            }
            RowChange::Remove(key) => {
                self.newest.insert(key, None);
            }
            RowChange::Erase { realm, table, messages } => self.erase(realm, table, messages)?,
        }
        Ok(())
    }

    /// All that is to be written, in key order.
    pub fn into_rows(self) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        self.newest
    }

    /// Takes messages out of their chunks, one chunk after the other.
    fn erase(&mut self, realm: RealmId, table: Table, mut messages: RoaringBitmap) -> Result<(), StoreError> {
        while let Some(first) = messages.min() {
            let mut through = first;
            if let Some(Row { key, value }) = self.chunk_with(realm, table, MessageId(first))? {
                let (rest, last) = chunk::without(&value, |id| messages.contains(id.0))?;
                through = through.max(last.0);
                match rest {
                    chunk::Rest::Same => {}
                    chunk::Rest::Some(bytes) => _ = self.newest.insert(key, Some(bytes)),
                    chunk::Rest::Empty => _ = self.newest.insert(key, None),
                }
            }
            messages.remove_range(first..=through);
        }
        Ok(())
    }

    /// The chunk that has a message, as of the changes so far: the last one that begins at or before it.
    fn chunk_with(&self, realm: RealmId, table: Table, id: MessageId) -> Result<Option<Row>, StoreError> {
        let from = Key::table(realm, table).into_bytes();
        let to = tables::chunk(realm, table, id).into_bytes();
        let pending = self.newest.range(from.clone()..=to.clone()).next_back();
        let stored = self.tree.range(from..=to).next_back().transpose()?;
        match (pending, stored) {
            (Some((key, bytes)), stored) if stored.as_ref().is_none_or(|(other, _)| **other <= **key) => {
                Ok(bytes.as_ref().map(|bytes| Row { key: key.clone(), value: bytes.clone() }))
            }
            (_, stored) => Ok(stored.map(|(key, bytes)| Row { key: key.to_vec(), value: bytes.to_vec() })),
        }
    }
}
