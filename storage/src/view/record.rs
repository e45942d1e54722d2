//! The declaration of a stored record, and the operations that every table has by its declaration: loading, checking and
//! describing its rows. The declarations are in `records`.

use super::View;
use super::chunk::{self, Chunk};
use super::key::{KeyField, References, fields_of};
use super::packed::plain;
use crate::codec;
use crate::error::StoreError;
use serde::de::DeserializeOwned;
use std::fmt::Display;

/// Loads a decoded row into memory.
type LoadRecord<K, V> = fn(&mut View, K, V);

/// Checks a decoded row; the error describes the contradiction.
type CheckRecord<K, V> = fn(&References, &K, &V) -> Result<(), String>;

/// Decodes a key and a value and loads the row into memory.
type LoadRow = fn(&mut View, &[u8], &[u8]) -> Result<(), StoreError>;

/// Decodes a key and a value and checks the row.
type CheckRow = fn(&References, &[u8], &[u8]) -> Result<(), String>;

/// A table: the record in each of its rows.
pub trait Record {
    /// The table's byte in keys. Stored, so it is never reused.
    const ID: u8;
    /// The name of a row in reports and errors.
    const NAME: &'static str;
    type Key: KeyField;
    type Value: StoredValue;
    /// Loads a row into memory; `None` for tables that are read from disk when needed.
    const LOAD: Option<LoadRecord<Self::Key, Self::Value>>;
    /// Whether checkpoints store the table as part of `View::save_sets`, because it grows with the number of messages. All
    /// other tables are stored as rows.
    const IN_SETS: bool;
    /// Checks a row whose key is already known to refer to existing records.
    const CHECK: CheckRecord<Self::Key, Self::Value>;
}

/// A record that may be removed.
pub trait Removable: Record {
    /// Removes a row from memory.
    fn unload(view: &mut View, key: &Self::Key);
}

/// The value of a row.
pub trait StoredValue: Sized {
    /// Whether rows are chunks of messages, which are compressed when they are written.
    const IS_CHUNK: bool = false;

    fn decode(bytes: &[u8], what: &'static str) -> Result<Self, StoreError>;
}

impl<T: DeserializeOwned> StoredValue for T {
    fn decode(bytes: &[u8], what: &'static str) -> Result<Self, StoreError> {
        codec::decode(bytes, what)
    }
}

impl<T: DeserializeOwned> StoredValue for Chunk<T> {
    const IS_CHUNK: bool = true;

    fn decode(bytes: &[u8], what: &'static str) -> Result<Self, StoreError> {
        let entry = |entry: Result<_, StoreError>| {
            let (id, record) = entry?;
            Ok((id, codec::decode(record, what)?))
        };
        chunk::entries(&plain(bytes)?).map(entry).collect::<Result<_, _>>().map(Self)
    }
}

/// The operations of a table, independent of its record type.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub id: u8,
    pub name: &'static str,
    /// Loads a row into memory; `None` for tables that are not loaded.
    pub load: Option<LoadRow>,
    /// Whether checkpoints store it as part of `View::save_sets`.
    pub is_in_sets: bool,
    /// Whether its rows are chunks of messages.
    pub is_chunk: bool,
    /// Checks that a row can be decoded, matches its key and refers to existing records.
    pub check: CheckRow,
    /// The fields of a key, such as `channel 3, user 8`.
    pub describe: fn(&[u8]) -> Option<String>,
}

impl Table {
    pub(super) const fn of<R: Record>() -> Self {
        Self {
            id: R::ID,
            name: R::NAME,
            load: match R::LOAD {
                Some(_) => Some(load_row::<R>),
                None => None,
            },
            is_in_sets: R::IN_SETS,
            is_chunk: R::Value::IS_CHUNK,
            check: check_row::<R>,
            describe: |key| fields_of::<R::Key>(key).map(|fields| fields.describe()),
        }
    }
}

/// The fields of a row's key.
pub fn decode_key<R: Record>(key: &[u8]) -> Result<R::Key, StoreError> {
    fields_of(key)
        .ok_or_else(|| StoreError::Decode { what: R::NAME, why: "its key has the wrong form".into() })
}

fn load_row<R: Record>(view: &mut View, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let key = decode_key::<R>(key)?;
    let value = R::Value::decode(value, R::NAME)?;
    if let Some(load) = R::LOAD {
        load(view, key, value);
    }
    Ok(())
}

fn check_row<R: Record>(known: &References, key: &[u8], value: &[u8]) -> Result<(), String> {
    let key: R::Key = fields_of(key).ok_or("its key has the wrong form")?;
    key.check(known)?;
    let value = R::Value::decode(value, R::NAME).map_err(|error| match error {
        StoreError::Decode { why, .. } => format!("cannot be read: {why}"),
        error => error.to_string(),
    })?;
    (R::CHECK)(known, &key, &value)
}

/// Checks the id in a record against that of its key.
pub fn same<T: PartialEq + Display>(key: T, found: T) -> Result<(), String> {
    if found == key { Ok(()) } else { Err(format!("holds the record with id {found}")) }
}
