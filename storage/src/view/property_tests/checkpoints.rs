//! Any sequence of frames: a checkpoint and the frames after it give the same view as the trees and the live view, wherever
//! the checkpoints are made.

use super::{check_same, folders, run, step};
use crate::checkpoint::{Advanced, Checkpoints, Pace, SmallRows, advance, start_from};
use crate::fixture::*;
use crate::view::Row;
use crate::view::property_tests::plain::Plain;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn checkpoint_and_tail_equal_a_rebuild(
        frames in proptest::collection::vec((proptest::collection::vec(step(), 0..4), 1u8..16), 1..40),
        places in proptest::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let (_folder, trees, scratch) = folders();
        let mut plain = Plain::default();
        let mut run = run(&frames, &trees, &mut plain)?;
        let last = run.view().progress.sequence.0;
        let checkpoints = Checkpoints::of(scratch.path(), REALM);
        let mut places: Vec<u64> = places.iter().map(|place| 1 + place.index(last as usize) as u64).collect();
        places.sort_unstable();
        places.dedup();
        for upto in places {
            let made = advance(&checkpoints, &run.log, upto, &Pace::unlimited()).unwrap();
            let is_written = matches!(made, Advanced::Written { sequence, .. } if sequence == upto);
            prop_assert!(is_written, "{:?}", made);
            let started = start_from(&checkpoints, &run.log, u64::MAX).unwrap().unwrap();
            prop_assert_eq!(started.replayed, last - upto);
            check_same(run.view(), &started.view)?;
        }
        // A checkpoint of the end has exactly the small rows of the trees.
        run.write_all(&trees);
        if checkpoints.sequences().first() != Some(&last) {
            advance(&checkpoints, &run.log, last, &Pace::unlimited()).unwrap();
        }
        let rows: SmallRows =
            trees.small_rows(REALM).map(|row| row.map(|Row { key, value }| (key, value)).unwrap()).collect();
        prop_assert_eq!(checkpoints.newest(&run.log, last).unwrap().rows, rows);
    }
}
