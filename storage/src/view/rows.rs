//! What a frame changes in the trees. Rows are absolute values, so that they may be written again; only
//! deleting takes something out of rows that this process does not have in memory.

use crate::codec::encode;
use crate::error::StoreError;
use crate::tables::{self, Table};
use model::RealmId;
use roaring::RoaringBitmap;

/// A row as it is in the trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// See `tables`.
    pub key: Vec<u8>,
    /// The record, or the chunk.
    pub value: Vec<u8>,
}

/// A change of the trees.
#[derive(Clone, Debug, PartialEq)]
pub enum RowChange {
    /// The row is now this.
    Put(Row),
    /// The row with this key is gone.
    Remove(Vec<u8>),
    /// The entries of messages are gone from the chunks that have them; what is not there is not missed. None of
    /// them is in the newest chunk, which is always written whole.
    Erase {
        /// Whose.
        realm: RealmId,
        /// A table of chunks.
        table: Table,
        /// Which messages.
        messages: RoaringBitmap,
    },
}

impl RowChange {
    /// Bytes that it holds while it waits to be written.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Put(row) => row.key.len() + row.value.len(),
            Self::Remove(key) => key.len(),
            Self::Erase { messages, .. } => messages.serialized_size(),
        }
    }
}

/// The changes of one frame, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(pub Vec<RowChange>);

impl Rows {
    pub(super) fn put<T: serde::Serialize>(
        &mut self,
        key: tables::Key,
        record: &T,
    ) -> Result<(), StoreError> {
        self.0.push(RowChange::Put(Row { key: key.into_bytes(), value: encode(record)? }));
        Ok(())
    }

    pub(super) fn put_bytes(&mut self, key: tables::Key, bytes: &[u8]) {
        self.0.push(RowChange::Put(Row { key: key.into_bytes(), value: bytes.to_vec() }));
    }

    pub(super) fn remove(&mut self, key: tables::Key) {
        self.0.push(RowChange::Remove(key.into_bytes()));
    }

    pub(super) fn erase(&mut self, realm: RealmId, table: Table, messages: RoaringBitmap) {
        if !messages.is_empty() {
            self.0.push(RowChange::Erase { realm, table, messages });
        }
    }
}
