//! Adding new messages to sets of ids.

use roaring::RoaringBitmap;

/// A set of at most this many ids has no bitmaps.
const LIST_MAX: u64 = 4096;

/// Adds an id, which is mostly greater than all others. A list then grows at its end without a search; in a bitmap, which is
/// what most of a larger set is, the greatest id would have to be looked for.
pub(super) fn add_newest(set: &mut RoaringBitmap, id: u32) {
    if set.len() > LIST_MAX || set.try_push(id).is_err() {
        set.insert(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_are_added_in_any_order(
            first in 0_u32..200_000,
            steps in prop::collection::vec(prop_oneof![Just(1_i64), -70_000..70_000_i64], 0..60),
            optimized in any::<prop::sample::Index>(),
        ) {
            let (mut set, mut plain, mut id) = (RoaringBitmap::new(), RoaringBitmap::new(), i64::from(first));
            set.insert_range(first..first + LIST_MAX as u32 - 20);
            plain.insert_range(first..first + LIST_MAX as u32 - 20);
            for (position, step) in steps.iter().enumerate() {
                if position == optimized.index(steps.len()) {
                    set.optimize();
                }
                id = (id + step).clamp(0, u32::MAX.into());
                add_newest(&mut set, id as u32);
                plain.insert(id as u32);
                prop_assert_eq!(&set, &plain);
            }
        }
    }
}
