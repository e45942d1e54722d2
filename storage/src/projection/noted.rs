//! What is written while the trees are copied.

use std::collections::BTreeSet;

/// The keys of rows that were written since copying began.
#[derive(Debug, Default)]
pub(super) struct Noted(pub Option<BTreeSet<Vec<u8>>>);

impl Noted {
    /// Notes the keys of rows that are being written.
    pub(super) fn add<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) {
        if let Some(noted) = &mut self.0 {
            noted.extend(keys.map(<[u8]>::to_vec));
        }
    }
}
