//! The ids of acknowledged messages. A server that gives two messages one id has not stored both, and a load test of sends alone
//! would not notice.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Ids of a block.
const BLOCK: u64 = 64;
/// Blocks that are kept, of all organizations together. Each takes at most 40 bytes, so all of them 80 MB, and they have room for
/// 134 million ids in a row, or for two million that are far from each other.
const BLOCKS_MAX: usize = 2 << 20;

/// The ids of one organization. Beyond its bound it forgets the lowest, which are the oldest where ids ascend.
#[derive(Debug)]
pub struct Ids {
    /// The ids of each block, a bit for each.
    blocks: Mutex<BTreeMap<u64, u64>>,
    most: usize,
}

impl Ids {
    /// None so far, of one of so many organizations.
    pub fn of_one_among(organizations: u32) -> Self {
        Self { blocks: Mutex::default(), most: BLOCKS_MAX / organizations.max(1) as usize }
    }

    /// Adds an id; `false` if it was there.
    pub fn add(&self, id: u64) -> bool {
        let bit = 1 << (id % BLOCK);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let block = blocks.entry(id / BLOCK).or_default();
        let is_new = *block & bit == 0;
        *block |= bit;
        if blocks.len() > self.most {
            blocks.pop_first();
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once() {
        let ids = Ids::of_one_among(1);
        for id in [0, 1, 63, 64, 7_000_000_000, u64::MAX] {
            assert!(ids.add(id), "{id}");
        }
        for id in [0, 1, 63, 64, 7_000_000_000, u64::MAX] {
            assert!(!ids.add(id), "{id}");
        }
        assert!(ids.add(2) && ids.add(u64::MAX - 1), "of the same blocks");
    }

    #[test]
    fn memory_is_bounded_and_the_lowest_ids_are_forgotten() {
        let ids = Ids { most: 3, ..Ids::of_one_among(1) };
        assert!((0..BLOCK * 3).all(|id| ids.add(id)) && (0..BLOCK * 3).all(|id| !ids.add(id)));
        assert!(ids.add(BLOCK * 3));
        assert_eq!(ids.blocks.lock().unwrap().len(), 3);
        assert!(!ids.add(BLOCK) && !ids.add(BLOCK * 3), "kept");
        assert!(ids.add(0), "forgotten");
        assert_eq!(Ids::of_one_among(100).most, BLOCKS_MAX / 100);
    }
}
