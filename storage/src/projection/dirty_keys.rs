//! What is written while the trees are copied.

use std::collections::BTreeSet;

/// The keys of rows that were written since copying began.
#[derive(Debug, Default)]
pub(super) struct DirtyKeys(pub Option<BTreeSet<Vec<u8>>>);

impl DirtyKeys {
    /// Adds the keys of rows that are being written.
    pub(super) fn add<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) {
        if let Some(dirty_keys) = &mut self.0 {
            dirty_keys.extend(keys.map(<[u8]>::to_vec));
        }
    }
}
