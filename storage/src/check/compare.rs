//! Compares the trees with the log: every row must equal, byte for byte, what a rebuild from the first frame writes. Of chunks the
//! messages are compared, because older versions packed fewer of them into one.

use crate::base::Bases;
use crate::error::StoreError;
use crate::log::RealmLog;
use crate::open::replay;
use crate::projection::Trees;
use crate::view::key::Key;
use crate::view::packed::plain;
use crate::view::{Row, chunk, records};
use model::RealmId;
use std::path::Path;

/// At most this many differences are listed; all are counted.
const DIFFERENCES_LISTED_MAX: usize = 20;

/// Page cache of the rebuilt trees, in bytes.
const SCRATCH_CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub rows: u64,
    pub differing: u64,
    /// The first differing rows, described.
    pub listed: Vec<String>,
}

impl Comparison {
    /// Whether everything agrees.
    pub fn is_clean(&self) -> bool {
        self.differing == 0
    }

    /// Records a difference.
    pub(super) fn add(&mut self, key: &[u8], what: &str) {
        self.differing += 1;
        if self.listed.len() < DIFFERENCES_LISTED_MAX {
            self.listed.push(format!("{}: {what}", records::describe(key)));
        }
    }
}

/// Rebuilds an organization from the first frame of its log, or from its base, in a scratch folder, and compares every
/// row with the trees, byte for byte.
///
/// # Errors
/// When the log or the trees cannot be read; differences are part of the result.
pub fn compare(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    scratch: &Path,
) -> Result<Comparison, StoreError> {
    let rebuilt = Trees::open(scratch, SCRATCH_CACHE_BYTES)?;
    rebuilt.clear(realm)?;
    let base = Bases::beside(trees, realm).load_into(log, &rebuilt)?;
    replay(log, &rebuilt, realm, base)?;
    compare_rows(unpacked(trees.rows(realm), realm), unpacked(rebuilt.rows(realm), realm))
}

/// The rows with a row for each message of a chunk. What is not a chunk stays as it is, and differs.
fn unpacked(
    rows: impl Iterator<Item = Result<Row, StoreError>>,
    realm: RealmId,
) -> impl Iterator<Item = Result<Row, StoreError>> {
    rows.flat_map(move |row| match row {
        Ok(row) => messages_of(&row, realm).unwrap_or_else(|| vec![Ok(row)]),
        Err(error) => vec![Err(error)],
    })
}

fn messages_of(row: &Row, realm: RealmId) -> Option<Vec<Result<Row, StoreError>>> {
    let table = records::table_with(&row.key).filter(|table| table.is_chunk)?;
    let chunk = plain(&row.value).ok()?;
    let entries: Result<Vec<_>, StoreError> = chunk::entries(&chunk).collect();
    let row = |(id, record): (_, &[u8])| {
        Ok(Row { key: Key::new(realm, table.id, &id).into_bytes(), value: record.to_vec() })
    };
    Some(entries.ok()?.into_iter().map(row).collect())
}

fn compare_rows(
    stored: impl Iterator<Item = Result<Row, StoreError>>,
    rebuilt: impl Iterator<Item = Result<Row, StoreError>>,
) -> Result<Comparison, StoreError> {
    let mut comparison = Comparison::default();
    let (mut stored, mut rebuilt) = (stored.peekable(), rebuilt.peekable());
    loop {
        let left = stored.next_if(|_| true).transpose()?;
        let right = rebuilt.next_if(|_| true).transpose()?;
        let (mut left, mut right) = match (left, right) {
            (None, None) => return Ok(comparison),
            pair => pair,
        };
        // Advance the side with the smaller key until both are at the same key.
        while left.as_ref().map(|row| &row.key) != right.as_ref().map(|row| &row.key) {
            let left_is_behind = match (&left, &right) {
                (Some(l), Some(r)) => l.key < r.key,
                (left, _) => left.is_some(),
            };
            if left_is_behind {
                let key = left.take().map(|row| row.key).unwrap_or_default();
                comparison.add(&key, "is in the trees, but not in the log");
                left = stored.next().transpose()?;
            } else {
                let key = right.take().map(|row| row.key).unwrap_or_default();
                comparison.add(&key, "is in the log, but not in the trees");
                right = rebuilt.next().transpose()?;
            }
        }
        match (left, right) {
            (Some(left), Some(right)) if left.value != right.value => {
                comparison.add(&left.key, "differs between the trees and the log");
            }
            (Some(_), Some(_)) => comparison.rows += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(u8, u8)]) -> Vec<Result<Row, StoreError>> {
        rows.iter().map(|(key, value)| Ok(Row { key: vec![*key], value: vec![*value] })).collect()
    }

    #[test]
    fn all_kinds_of_differences_are_found() {
        let stored = rows(&[(1, 1), (2, 2), (3, 3), (6, 6)]);
        let rebuilt = rows(&[(1, 1), (3, 4), (5, 5), (6, 6), (7, 7)]);
        let found = compare_rows(stored.into_iter(), rebuilt.into_iter()).unwrap();
        assert_eq!((found.rows, found.differing), (2, 4));
        assert!(!found.is_clean());
        let same = compare_rows(rows(&[(1, 1)]).into_iter(), rows(&[(1, 1)]).into_iter()).unwrap();
        assert!(same.is_clean());
    }
}
