//! The moves that are in memory, compared with all moves of each message.

use super::*;
use model::fact::NewTopic;
use model::{ChannelId, Place, RecipientId, Timestamp, UserId};

/// A move at a time: to another channel, to another topic, a resolution, or several of these.
fn step(at: u32) -> Move {
    let changes_channel = at.is_multiple_of(7);
    let (channel, topic) = (1 + at % 3, format!("topic {}", at % 5));
    Move {
        at: Timestamp(at.into()),
        by: UserId(1 + at % 4),
        new_channel: changes_channel.then_some((ChannelId(channel), RecipientId(channel))),
        new_topic: (!changes_channel || at.is_multiple_of(2))
            .then_some(NewTopic { name: topic, links: Vec::new() }),
        is_resolve: !changes_channel && at % 3 == 1,
    }
}

/// The messages that the move at a time is of.
fn moved_at(at: u32) -> RoaringBitmap {
    match at % 4 {
        0 => (1..=100).collect(),
        1 => (50..=70).filter(|id| id % 2 == 0).collect(),
        2 => (90..=200).collect(),
        _ => RoaringBitmap::from_iter([1, 150]),
    }
}

/// Adds the moves of some times, without those of some messages.
fn add(moves: &mut Moves, times: std::ops::Range<u32>, without: &RoaringBitmap) {
    times.for_each(|at| moves.add(moved_at(at) - without, step(at)));
}

#[test]
fn message_has_a_limited_number_of_moves_and_the_place_of_all() {
    let (mut moves, mut all) = (Moves::default(), BTreeMap::<u32, Vec<Arc<Move>>>::new());
    let sent = Place::Channel { channel: ChannelId(9), topic: "sent".into() };
    let last_moved = |moves: &[Arc<Move>]| moves.iter().rev().find(|one| !one.is_resolve).map(|one| one.at);
    for at in 0..3_000 {
        add(&mut moves, at..at + 1, &RoaringBitmap::new());
        moved_at(at).iter().for_each(|id| all.entry(id).or_default().push(Arc::new(step(at))));
        if at % 150 != 149 {
            continue;
        }
        for (id, expected) in &all {
            let found = moves.of_message(MessageId(*id)).unwrap();
            let whole = Relocation(expected.clone());
            assert_eq!(found.place(&sent), whole.place(&sent), "message {id} at {at}");
            assert_eq!(last_moved(&found.0), last_moved(expected), "message {id} at {at}");
            assert!(found.0.len() < MOVES_MAX);
            let is_whole = expected.len() < MOVES_MAX;
            assert!(is_whole || found.0.len() >= MOVES_LEFT);
            // All but the oldest one are as they were.
            let exact = if is_whole { &found.0[..] } else { &found.0[1..] };
            assert_eq!(exact, &expected[expected.len() - exact.len()..], "message {id} at {at}");
        }
    }
}

#[test]
fn memory_and_work_of_a_read_do_not_grow_with_the_number_of_moves() {
    let mut moves = Moves::default();
    for at in 0..5_000 {
        moves.add((1..=100).collect(), step(at));
        assert!(moves.all.len() < MOVES_MAX);
        assert!(moves.blocks.values().all(|numbers| numbers.len() < MOVES_MAX));
    }
    assert_eq!(moves.blocks.len(), 2);
    moves.forget(&(1..=100).collect());
    assert!(moves.all.is_empty() && moves.blocks.is_empty() && moves.moved.is_empty());
    assert!(moves.counts.iter().all(RoaringBitmap::is_empty));
}

#[test]
fn deleted_messages_and_checkpoints_change_nothing_for_the_others() {
    let first: RoaringBitmap = (1..=60).collect();
    let second = RoaringBitmap::from_iter([150]);
    let gone = &first | &second;
    let none = RoaringBitmap::new();
    let (mut live, mut loaded) = (Moves::default(), Moves::default());
    add(&mut live, 0..700, &none);
    live.forget(&first);
    add(&mut live, 700..1_500, &first);
    live.forget(&second);
    add(&mut loaded, 0..1_500, &gone);
    assert_eq!(live, loaded);
    let mut bytes = Vec::new();
    live.save(&mut Output::new(&mut bytes)).unwrap();
    let mut restored = Moves::load(&mut Input::new(&bytes)).unwrap();
    assert_eq!(restored, live);
    for moves in [&mut live, &mut loaded, &mut restored] {
        add(moves, 1_500..2_500, &gone);
    }
    assert_eq!(live, loaded);
    assert_eq!(live, restored);
}

#[test]
fn combined_moves_have_the_time_of_the_newest_that_counts() {
    let renamed = Move { is_resolve: false, ..step(10) };
    let resolved = Move { is_resolve: true, ..step(20) };
    let both = renamed.combined_with(&resolved);
    assert_eq!((both.at, both.by, both.is_resolve), (renamed.at, renamed.by, false));
    assert_eq!(both.new_topic, resolved.new_topic);
    let both = resolved.combined_with(&Move { at: Timestamp(30), ..resolved.clone() });
    assert_eq!((both.at, both.is_resolve), (Timestamp(30), true));
    let both = resolved.combined_with(&Move { at: Timestamp(30), new_topic: None, ..renamed.clone() });
    assert_eq!((both.at, both.by, both.is_resolve), (Timestamp(30), renamed.by, false));
    assert_eq!(both.new_topic, resolved.new_topic, "it stays");
}
