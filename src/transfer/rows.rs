//! Rows of an export as they are in its files: an object for each, with the columns of any version of Zulip.

use super::problem::TransferError;
use model::Timestamp;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A row with all of its columns.
#[derive(Clone, Debug, Default)]
pub struct Row(pub Map<String, Value>);

impl Row {
    /// Whether the column exists and is not null.
    pub fn has(&self, column: &str) -> bool {
        self.0.get(column).is_some_and(|value| !value.is_null())
    }

    /// A number; none if it is null or missing.
    pub fn int(&self, column: &str) -> Option<i64> {
        self.0.get(column).and_then(Value::as_i64)
    }

    /// An id that fits this server; none if it is null, missing or too large.
    pub fn id(&self, column: &str) -> Option<u32> {
        self.int(column).and_then(|id| u32::try_from(id).ok())
    }

    /// A text; empty if it is null or missing.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).and_then(Value::as_str).unwrap_or_default()
    }

    /// A boolean; none if it is null or missing.
    pub fn flag(&self, column: &str) -> Option<bool> {
        self.0.get(column).and_then(Value::as_bool)
    }

    /// Whether a boolean is true.
    pub fn is(&self, column: &str) -> bool {
        self.flag(column).unwrap_or_default()
    }

    /// A point in time; none if it is null or missing.
    pub fn time(&self, column: &str) -> Option<Timestamp> {
        self.0.get(column).and_then(Value::as_f64).map(timestamp)
    }

    /// Ids in a list; those that do not fit are left out.
    pub fn ids(&self, column: &str) -> impl Iterator<Item = u32> {
        let list = self.0.get(column).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|id| u32::try_from(id.as_u64()?).ok())
    }
}

/// Unix seconds as milliseconds.
pub fn timestamp(seconds: f64) -> Timestamp {
    Timestamp((seconds.max(0.0) * 1000.0).floor() as u64)
}

/// Receives the rows of the tables of a file.
pub trait TableSink {
    /// Takes all rows of a table, with [`Rows::each`] or [`Rows::skip`].
    fn table<'de, A: SeqAccess<'de>>(&mut self, name: &str, rows: Rows<A>) -> Result<(), A::Error>;

    /// Takes a value beside the tables, such as the product that wrote the export.
    fn value(&mut self, name: &str, value: Value);
}

/// The rows of one table, which are read one after the other.
pub struct Rows<A>(A);

impl<'de, A: SeqAccess<'de>> Rows<A> {
    /// Gives each row to `take`; returns how many there were.
    pub fn each<T: DeserializeOwned>(mut self, mut take: impl FnMut(T)) -> Result<u64, A::Error> {
        let mut count = 0;
        while let Some(row) = self.0.next_element::<T>()? {
            take(row);
            count += 1;
        }
        Ok(count)
    }

    /// Counts the rows.
    pub fn skip(self) -> Result<u64, A::Error> {
        self.each::<IgnoredAny>(|_| ())
    }
}

impl<'de> serde::Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self)
    }
}

/// Largest file that is read into memory as a whole, which is faster.
const WHOLE_BYTES_MAX: u64 = 48 << 20;

/// Reads a file of tables. It is never in memory as a whole unless it is small.
///
/// # Errors
/// `System` and `Invalid`.
pub fn read_tables(path: &Path, sink: &mut impl TableSink) -> Result<(), TransferError> {
    let failed = |reason| TransferError::system(path, reason);
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let invalid = |error: serde_json::Error| TransferError::invalid(&*name, error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() <= WHOLE_BYTES_MAX {
        let bytes = std::fs::read(path).map_err(failed)?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        reader.deserialize_map(Tables(sink)).map_err(invalid)?;
        return reader.end().map_err(invalid);
    }
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 18, file));
    reader.deserialize_map(Tables(sink)).map_err(invalid)?;
    reader.end().map_err(invalid)
}

struct Tables<'s, S>(&'s mut S);

impl<'de, S: TableSink> Visitor<'de> for Tables<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of rows for each table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            map.next_value_seed(Table { name: &name, sink: self.0 })?;
        }
        Ok(())
    }
}

struct Table<'s, S> {
    name: &'s str,
    sink: &'s mut S,
}

impl<'de, S: TableSink> DeserializeSeed<'de> for Table<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: TableSink> Visitor<'de> for Table<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<(), A::Error> {
        self.sink.table(self.name, Rows(rows))
    }

    /// An object that is no table; it is ignored.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.sink.value(self.name, Value::Null);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.sink.value(self.name, value.into());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.sink.value(self.name, value.into());
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.sink.value(self.name, value.into());
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.sink.value(self.name, value.into());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.sink.value(self.name, value.into());
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.sink.value(self.name, Value::Null);
        Ok(())
    }
}
