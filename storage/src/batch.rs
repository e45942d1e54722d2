//! The changes of several frames as one write: each row is written once, in its final state.

use crate::codec::{decode, encode};
use crate::error::StoreError;
use crate::view::key::{self, Key, Number};
use crate::view::packed::{OpenBlocks, closed_bodies, open_bodies, packed, packed_bodies, plain};
use crate::view::record::Record;
use crate::view::{Progress, Row, RowChange, Rows, chunk, records};
use model::{MessageId, MessageVersion, RealmId, UserGroup};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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

/// A pending write. Chunks are plain until they are written, or open.
#[derive(Clone, Debug)]
enum Pending {
    Removed,
    Value(Vec<u8>),
    /// A plain chunk to which messages were added, and the last one of them.
    Chunk(Vec<u8>, MessageId),
    /// A stored chunk of bodies to which messages were added.
    Bodies(Box<OpenBlocks>),
    /// A group, which is encoded when it is written.
    Group(Arc<UserGroup>),
}

impl Pending {
    /// The row in the trees, before messages are added to it.
    fn stored(key: &[u8], stored: &[u8]) -> Result<Self, StoreError> {
        if is_bodies(key)
            && let Some(blocks) = open_bodies(stored)?
        {
            return Ok(Self::Bodies(Box::new(blocks)));
        }
        Ok(Self::Value(plain(stored)?.into_owned()))
    }

    /// Adds a message to a chunk, unless the chunk has it.
    fn append(&mut self, message: MessageId, record: &[u8]) -> Result<(), StoreError> {
        if let Self::Bodies(blocks) = self
            && blocks.add(message, record)?
        {
            return Ok(());
        }
        let (mut chunk, last) = match std::mem::replace(self, Self::Removed) {
            // The last entry of the chunk need not be looked for.
            Self::Chunk(chunk, last) => (chunk, Some(last)),
            other => (other.into_plain()?.unwrap_or_default(), None),
        };
        let last = match last {
            Some(last) => chunk::append_after(&mut chunk, last, message, record),
            None => chunk::append(&mut chunk, message, record)?,
        };
        *self = Self::Chunk(chunk, last);
        Ok(())
    }

    /// The new value, of a chunk the plain one; `None` if the row is removed.
    fn into_plain(self) -> Result<Option<Vec<u8>>, StoreError> {
        match self {
            Self::Removed => Ok(None),
            Self::Value(value) | Self::Chunk(value, _) => Ok(Some(value)),
            Self::Bodies(blocks) => Ok(Some(plain(&blocks.finish()?)?.into_owned())),
            Self::Group(group) => encode(&group).map(Some),
        }
    }

    /// The new value as it is written; `None` if the row is removed. Bodies are read one by one, index entries all together.
    fn into_stored(self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match self {
            Self::Bodies(blocks) => closed_bodies(*blocks).map(Some),
            other => match other.into_plain()? {
                Some(chunk) if is_bodies(key) => packed_bodies(chunk).map(Some),
                Some(chunk) if records::is_chunk(key) => packed(chunk).map(Some),
                value => Ok(value),
            },
        }
    }
}

/// A key with its new value, or `None` to remove the row.
pub type Write = (Vec<u8>, Option<Vec<u8>>);

/// The pending writes by key.
#[derive(Debug)]
pub struct Batch<'t> {
    tree: &'t sled::Tree,
    newest: BTreeMap<Vec<u8>, Pending>,
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
                self.newest.insert(key, Pending::Value(value));
            }
            RowChange::PutGroup { key, group } => {
                self.newest.insert(key, Pending::Group(group));
            }
            RowChange::Append { key, is_first, message, record } => {
                self.append(key, is_first, message, &record)?;
            }
            RowChange::Remove(key) => {
                self.newest.insert(key, Pending::Removed);
            }
            RowChange::RemoveUnder(prefix) => self.remove_under(&prefix)?,
            RowChange::Erase { realm, table, messages } => self.erase(realm, table, messages)?,
            RowChange::EraseVersions { realm, versions } => {
                versions.into_iter().try_for_each(|(id, kept)| self.erase_versions(realm, id, kept))?;
            }
        }
        Ok(())
    }

    /// All pending writes, in key order.
    ///
    /// # Errors
    /// [`StoreError::Encode`] when a chunk cannot be compressed, or a group is too large.
    pub fn into_rows(self) -> Result<Vec<Write>, StoreError> {
        let mut rows = Vec::with_capacity(self.newest.len());
        for (key, pending) in self.newest {
            let value = pending.into_stored(&key)?;
            rows.push((key, value));
        }
        Ok(rows)
    }

    fn append(
        &mut self,
        key: Vec<u8>,
        is_first: bool,
        message: MessageId,
        record: &[u8],
    ) -> Result<(), StoreError> {
        let pending = match self.newest.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if is_first => entry.insert(Pending::Removed),
            Entry::Vacant(entry) => {
                let Some(stored) = self.tree.get(entry.key())? else {
                    return Err(StoreError::TreesDamaged(format!(
                        "{} is missing",
                        records::describe(entry.key())
                    )));
                };
                let stored = Pending::stored(entry.key(), &stored)?;
                entry.insert(stored)
            }
        };
        pending.append(message, record)
    }

    fn remove_under(&mut self, prefix: &[u8]) -> Result<(), StoreError> {
        let pending = self.newest.range_mut(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix));
        pending.for_each(|(_, pending)| *pending = Pending::Removed);
        for key in self.tree.scan_prefix(prefix).keys() {
            self.newest.insert(key?.to_vec(), Pending::Removed);
        }
        Ok(())
    }

    /// Removes messages from their chunks, chunk by chunk.
    fn erase(&mut self, realm: RealmId, table: u8, mut messages: RoaringBitmap) -> Result<(), StoreError> {
        while let Some(first) = messages.min() {
            let mut through = first;
            if let Some(Row { key, value }) = self.chunk_with(realm, table, MessageId(first))? {
                let (rest, last) = chunk::without(&plain(&value)?, |id| messages.contains(id.0))?;
                through = through.max(last.0);
                match rest {
                    chunk::Rest::Same => {}
                    chunk::Rest::Some(bytes) => _ = self.newest.insert(key, Pending::Value(bytes)),
                    chunk::Rest::Empty => _ = self.newest.insert(key, Pending::Removed),
                }
            }
            messages.remove_range(first..=through);
        }
        Ok(())
    }

    /// Erases the texts of the versions of a message before number `kept`.
    fn erase_versions(&mut self, realm: RealmId, id: MessageId, kept: u32) -> Result<(), StoreError> {
        if let Some(Row { key, value }) = self.chunk_with(realm, records::Messages::ID, id)?
            && let Some(chunk) = chunk::with_changed(&plain(&value)?, id, chunk::blank_message)?
        {
            self.newest.insert(key, Pending::Value(chunk));
        }
        for number in 1..kept {
            let key = Key::new(realm, records::MessageVersions::ID, &(id, Number(number))).into_bytes();
            let known = match self.newest.get(&key) {
                Some(pending) => pending.clone().into_plain()?,
                None => self.tree.get(&key)?.map(|stored| stored.to_vec()),
            };
            let Some(known) = known else { continue };
            let mut version: MessageVersion = decode(&known, records::MessageVersions::NAME)?;
            version.blank();
            self.newest.insert(key, Pending::Value(encode(&version)?));
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
            (Some((key, pending)), stored) if stored.as_ref().is_none_or(|(other, _)| **other <= **key) => {
                Ok(pending.clone().into_plain()?.map(|value| Row { key: key.clone(), value }))
            }
            (_, stored) => Ok(stored.map(|(key, bytes)| Row { key: key.to_vec(), value: bytes.to_vec() })),
        }
    }
}

/// Whether a row is a chunk of bodies.
fn is_bodies(key: &[u8]) -> bool {
    key::table_of(key) == Some(records::Messages::ID)
}

#[cfg(test)]
mod tests;
