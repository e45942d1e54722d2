//! The changes of several frames as one write: each row is written once, in its final state.

use crate::error::StoreError;
use crate::view::key::Key;
use crate::view::{Progress, Row, RowChange, Rows, chunk};
use model::{MessageId, RealmId};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The rows of one frame, to be written to the trees.
#[derive(Debug)]
pub struct Applied {
    pub realm: RealmId,
    pub progress: Progress,
    pub rows: Rows,
    /// Receives the frame's sequence once it is written.
    pub stored: Arc<AtomicU64>,
}

impl Applied {
    /// Bytes of its rows.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.0.iter().map(RowChange::bytes).sum()
    }
}

/// The pending writes: by key, the new value, or `None` to remove the row.
#[derive(Debug)]
pub struct Batch<'t> {
    tree: &'t sled::Tree,
    newest: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl<'t> Batch<'t> {
    /// An empty batch of changes to `tree`.
    pub fn new(tree: &'t sled::Tree) -> Self {
        Self { tree, newest: BTreeMap::new() }
    }

    /// Adds the next change.
    pub fn add(&mut self, change: RowChange) -> Result<(), StoreError> {
        match change {
            RowChange::Put(Row { key, value }) => {
                self.newest.insert(key, Some(value));
            }
            RowChange::Remove(key) => {
                self.newest.insert(key, None);
            }
            RowChange::RemoveUnder(prefix) => self.remove_under(&prefix)?,
            RowChange::Erase { realm, table, messages } => self.erase(realm, table, messages)?,
        }
        Ok(())
    }

    /// All pending writes, in key order.
    pub fn into_rows(self) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        self.newest
    }

    fn remove_under(&mut self, prefix: &[u8]) -> Result<(), StoreError> {
        let pending = self.newest.range_mut(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix));
        pending.for_each(|(_, value)| *value = None);
        for key in self.tree.scan_prefix(prefix).keys() {
            self.newest.insert(key?.to_vec(), None);
        }
        Ok(())
    }

    /// Removes messages from their chunks, chunk by chunk.
    fn erase(&mut self, realm: RealmId, table: u8, mut messages: RoaringBitmap) -> Result<(), StoreError> {
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
    fn chunk_with(&self, realm: RealmId, table: u8, id: MessageId) -> Result<Option<Row>, StoreError> {
        let from = Key::table(realm, table).into_bytes();
        let to = Key::new(realm, table, &id).into_bytes();
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
