//! The file `erased` of a data folder: what was erased from the journal, and which messages each sealed part of it has contents
//! of, so that erasing again reads only what is new. Without the file everything is read again.
//!
//! ```text
//! file = magic (8) ‖ version (u32) ‖ body ‖ checksum of the body (u64)
//! ```

use crate::checkpoint::codec::{Input, Output, Saved, saved};
use crate::error::StoreError;
use crate::private_files::write_private;
use model::Timestamp;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"\x89MSERAS\n";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 12;

/// What was erased.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EraseRecord {
    /// When erasing was complete; 0: never.
    pub completed: Timestamp,
    pub realms: BTreeMap<u32, RealmRecord>,
    pub shards: BTreeMap<u32, ShardRecord>,
}

saved!(EraseRecord { completed, realms, shards });

/// What was erased of an organization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RealmRecord {
    /// Deleted messages whose contents are erased.
    pub messages: RoaringBitmap,
    /// Messages of which versions are erased, with the oldest version that is not.
    pub histories: BTreeMap<u32, u32>,
    /// Deleted accounts whose data is erased.
    pub users: RoaringBitmap,
}

saved!(RealmRecord { messages, histories, users });

/// The sealed parts of a journal.
pub type ShardRecord = BTreeMap<u64, PartRecord>;

/// What a sealed part of the journal has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartRecord {
    /// Its erased frames when it was read.
    pub erased: u32,
    /// Messages of which it has contents, by organization.
    pub messages: BTreeMap<u32, RoaringBitmap>,
}

saved!(PartRecord { erased, messages });

impl EraseRecord {
    /// Reads the file; empty if it is missing or damaged.
    pub fn read(path: &Path) -> Self {
        std::fs::read(path).ok().and_then(|bytes| Self::decode(&bytes)).unwrap_or_default()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (body, checksum) = rest.split_last_chunk::<8>()?;
        let is_ours = head[..8] == MAGIC && head[8..] == VERSION.to_le_bytes();
        if !is_ours || xxh3_64(body) != u64::from_le_bytes(*checksum) {
            return None;
        }
        let mut input = Input::new(body);
        Self::load(&mut input).filter(|_| input.is_empty())
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), StoreError> {
        let mut body = Vec::new();
        let saved = self.save(&mut Output::new(&mut body));
        saved.map_err(|error| StoreError::io("cannot write", path, error))?;
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&VERSION.to_le_bytes());
        let written = file.write_all(&body);
        written.map_err(|error| StoreError::io("cannot write", path, error))?;
        file.extend_from_slice(&xxh3_64(&body).to_le_bytes());
        write_private(path, &file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_read_back_and_damage_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("erased");
        assert_eq!(EraseRecord::read(&path), EraseRecord::default());
        let realm = RealmRecord {
            messages: [3, 900].into_iter().collect(),
            histories: [(7, 2)].into(),
            users: [8].into_iter().collect(),
        };
        let part = PartRecord { erased: 4, messages: [(2, [1, 2].into_iter().collect())].into() };
        let record = EraseRecord {
            completed: Timestamp(99),
            realms: [(2, realm)].into(),
            shards: [(0, [(1, part)].into())].into(),
        };
        record.write(&path).unwrap();
        assert_eq!(EraseRecord::read(&path), record);
        let whole = std::fs::read(&path).unwrap();
        for damaged in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[damaged] ^= 1;
            assert_eq!(EraseRecord::decode(&bytes), None, "byte {damaged}");
        }
        assert_eq!(EraseRecord::decode(&whole[..whole.len() - 1]), None);
    }
}
