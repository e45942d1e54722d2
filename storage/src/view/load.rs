//! Reads an organization back from its rows.

use super::chunk::OpenChunk;
use super::key::Key;
use super::packed::plain;
use super::record::{Record, StoredValue, decode_key};
use super::records::{self, TABLES};
use super::{OpenChunks, View};
use crate::error::StoreError;
use model::{MessageId, RealmId};

/// Loads an organization from the rows of `tree`; `None` if its own record or its progress is missing.
pub fn load(tree: &sled::Tree, realm: RealmId) -> Result<Option<View>, StoreError> {
    let (Some(record), true) =
        (get::<records::Realm>(tree, realm, &())?, get::<records::Progress>(tree, realm, &())?.is_some())
    else {
        return Ok(None);
    };
    let mut view = View::empty(record);
    for table in TABLES {
        let Some(load) = table.load else { continue };
        for row in tree.scan_prefix(Key::table(realm, table.id).as_bytes()) {
            let (key, value) = row?;
            load(&mut view, &key, &value)?;
        }
    }
    view.chunks = OpenChunks {
        bodies: newest_chunk::<records::Messages>(tree, realm)?,
        index_rows: newest_chunk::<records::MessageIndex>(tree, realm)?,
    };
    // Blocks of flags are not rewritten when messages are deleted. This also removes users without flags.
    view.messages.users.remove_from_each(&view.deleted);
    view.messages.users.optimize();
    Ok(Some(view))
}

/// The chunk that the next message is added to.
fn newest_chunk<R: Record<Key = MessageId>>(
    tree: &sled::Tree,
    realm: RealmId,
) -> Result<OpenChunk, StoreError> {
    let Some(row) = tree.scan_prefix(Key::table(realm, R::ID).as_bytes()).next_back() else {
        return Ok(OpenChunk::default());
    };
    let (key, value) = row?;
    OpenChunk::restore(decode_key::<R>(&key)?, plain(&value)?.into_owned())
}

fn get<R: Record>(tree: &sled::Tree, realm: RealmId, key: &R::Key) -> Result<Option<R::Value>, StoreError> {
    let value = tree.get(Key::new(realm, R::ID, key).as_bytes())?;
    value.map(|bytes| R::Value::decode(&bytes, R::NAME)).transpose()
}
