//! A user's flag on a block of 4096 messages, as it is stored: the same set always has the same bytes.

use model::MessageId;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

/// Messages in one block.
pub const BLOCK_MESSAGES: u32 = 4096;

/// With more ranges than this, a plain bitmap is smaller.
const RANGES_MAX: usize = 128;

/// The members of a set within one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagBlock {
    /// The block does not cover messages after this one.
    pub through: MessageId,
    bits: Bits,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Bits {
    /// First and last position, inclusive, ascending.
    Ranges(Vec<(u16, u16)>),
    /// One bit for each position.
    Plain(Vec<u8>),
}

/// The blocks that the messages of a set are in, ascending.
pub fn blocks_of(ids: &RoaringBitmap) -> Vec<u32> {
    blocks_of_size(BLOCK_MESSAGES, ids)
}

/// The blocks of `size` messages each that the messages of a set are in, ascending.
pub fn blocks_of_size(size: u32, ids: &RoaringBitmap) -> Vec<u32> {
    let mut blocks = Vec::new();
    let mut next = ids.min();
    while let Some(id) = next {
        let block = id / size;
        blocks.push(block);
        next = (block + 1).checked_mul(size).and_then(|start| ids.range(start..).next());
    }
    blocks
}

impl FlagBlock {
    /// The part of `set` that lies in `block`.
    pub fn of(set: &RoaringBitmap, block: u32, through: MessageId) -> Self {
        let start = block * BLOCK_MESSAGES;
        let mut ids = set.range(start..=start + (BLOCK_MESSAGES - 1));
        let position = |id: &u32| (id - start) as u16;
        let ranges: Vec<(u16, u16)> = std::iter::from_fn(|| ids.next_range())
            .map(|range| (position(range.start()), position(range.end())))
            .collect();
        let bits = if ranges.len() <= RANGES_MAX { Bits::Ranges(ranges) } else { plain(&ranges) };
        Self { through, bits }
    }

    /// Replaces the part of `set` that this block covers.
    pub fn restore(&self, set: &mut RoaringBitmap, block: u32) {
        let start = block * BLOCK_MESSAGES;
        let last = (start + (BLOCK_MESSAGES - 1)).min(self.through.0);
        if start <= last {
            set.remove_range(start..=last);
        }
        match &self.bits {
            Bits::Ranges(ranges) => {
                for (first, last) in ranges {
                    set.insert_range(start + u32::from(*first)..=start + u32::from(*last));
                }
            }
            Bits::Plain(bytes) => {
                for position in 0..BLOCK_MESSAGES {
                    if bytes
                        .get((position / 8) as usize)
                        .is_some_and(|byte| byte & (1 << (position % 8)) != 0)
                    {
                        set.insert(start + position);
                    }
                }
            }
        }
    }
}

fn plain(ranges: &[(u16, u16)]) -> Bits {
    let mut bytes = vec![0u8; (BLOCK_MESSAGES / 8) as usize];
    for (first, last) in ranges {
        for position in *first..=*last {
            bytes[usize::from(position / 8)] |= 1 << (position % 8);
        }
    }
    Bits::Plain(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn flag_block_roundtrip(ids in proptest::collection::btree_set(4096u32..8192, 0..600)) {
            let set: RoaringBitmap = ids.iter().copied().collect();
            let block = FlagBlock::of(&set, 1, MessageId(8191));
            let mut other: RoaringBitmap = (4000..8300).collect();
            block.restore(&mut other, 1);
            other.remove_range(..4096);
            other.remove_range(8192..);
            prop_assert_eq!(other, set);
        }
    }

    #[test]
    fn flag_block_does_not_cover_later_messages() {
        let block = FlagBlock::of(&RoaringBitmap::new(), 0, MessageId(10));
        let mut set: RoaringBitmap = [5, 10, 11].into_iter().collect();
        block.restore(&mut set, 0);
        assert_eq!(set.iter().collect::<Vec<_>>(), [11]);
    }
}
