//! The changes of a frame in the trees. Rows are absolute values, so writing them again changes nothing; only messages that are
//! added to a chunk and deletions change what is in the trees.

use super::key::{Key, KeyField};
use super::record::Record;
use super::records;
use crate::codec::encode;
use crate::error::StoreError;
use model::{MessageId, RealmId, UserGroup};
use roaring::RoaringBitmap;
use serde::Serialize;
use std::sync::Arc;

/// A row as it is in the trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

/// A change of the trees.
#[derive(Clone, Debug, PartialEq)]
pub enum RowChange {
    Put(Row),
    /// The record of a user group, which is encoded when it is written: it has all members, and several changes of them are
    /// one write.
    PutGroup {
        key: Vec<u8>,
        group: Arc<UserGroup>,
    },
    /// Adds a message to the newest chunk of a table: only the record, because the chunk is in the trees.
    Append {
        key: Vec<u8>,
        /// Whether the chunk begins with it.
        is_first: bool,
        message: MessageId,
        record: Vec<u8>,
    },
    /// Removes the row with this key.
    Remove(Vec<u8>),
    /// Removes all rows whose keys begin like this.
    RemoveUnder(Vec<u8>),
    /// Removes the entries of messages from the chunks that have them; those that are in no chunk are ignored. None of
    /// them is in the newest chunk, which is always written whole.
    Erase {
        realm: RealmId,
        /// The id of a table of chunks.
        table: u8,
        messages: RoaringBitmap,
    },
    /// Erases the texts of versions of messages: those before a number. Version 0 is in the chunk of the message.
    EraseVersions {
        realm: RealmId,
        versions: Vec<(MessageId, u32)>,
    },
}

impl RowChange {
    /// Bytes that it holds until it is written.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Put(row) => row.key.len() + row.value.len(),
            // Members are shared with the view.
            Self::PutGroup { key, .. } => key.len() + size_of::<UserGroup>(),
            Self::Append { key, record, .. } => key.len() + record.len(),
            Self::Remove(key) | Self::RemoveUnder(key) => key.len(),
            Self::Erase { messages, .. } => messages.serialized_size(),
            Self::EraseVersions { versions, .. } => size_of_val(&**versions),
        }
    }
}

/// The changes of one frame, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(pub Vec<RowChange>);

impl Rows {
    pub(crate) fn put<R: Record>(
        &mut self,
        realm: RealmId,
        key: &R::Key,
        value: &R::Value,
    ) -> Result<(), StoreError>
    where
        R::Value: Serialize,
    {
        self.put_bytes::<R>(realm, key, encode(value)?);
        Ok(())
    }

    pub(crate) fn put_bytes<R: Record>(&mut self, realm: RealmId, key: &R::Key, value: Vec<u8>) {
        self.0.push(RowChange::Put(Row { key: Key::new(realm, R::ID, key).into_bytes(), value }));
    }

    pub(super) fn put_group(&mut self, realm: RealmId, group: Arc<UserGroup>) {
        let key = Key::new(realm, records::UserGroups::ID, &group.id).into_bytes();
        self.0.push(RowChange::PutGroup { key, group });
    }

    /// Adds a message to the chunk that begins with the message `first`.
    pub(super) fn append<R: Record<Key = MessageId>>(
        &mut self,
        realm: RealmId,
        first: MessageId,
        (message, is_first, record): (MessageId, bool, Vec<u8>),
    ) {
        let key = Key::new(realm, R::ID, &first).into_bytes();
        self.0.push(RowChange::Append { key, is_first, message, record });
    }

    pub(crate) fn remove<R: Record>(&mut self, realm: RealmId, key: &R::Key) {
        self.0.push(RowChange::Remove(Key::new(realm, R::ID, key).into_bytes()));
    }

    /// Removes all rows whose keys begin with a field.
    pub(super) fn remove_under<R: Record>(&mut self, realm: RealmId, first: &impl KeyField) {
        self.0.push(RowChange::RemoveUnder(Key::new(realm, R::ID, first).into_bytes()));
    }

    pub(super) fn erase<R: Record>(&mut self, realm: RealmId, messages: RoaringBitmap) {
        if !messages.is_empty() {
            self.0.push(RowChange::Erase { realm, table: R::ID, messages });
        }
    }
}
