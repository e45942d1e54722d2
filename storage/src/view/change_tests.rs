//! Messages that were edited, moved and deleted: what readers see, what is left in the trees, and what a large
//! change costs. What holds for any order of them is in `property_tests`.

use super::tests::World;
use super::{Location, RowChange, View};
use crate::fixture::*;
use crate::tables::{self, Table};
use model::fact::{ArrivalFact, DeletedFrom, Delivery, MessageUpdate, Movement, NewTopic};
use model::{
    ChannelId, EditEntry, Fact, Flag, FlagOp, Message, MessageId, MessageRanges, Place, PropagateMode,
    RecipientId, Timestamp, TopicKey, TopicLink, UserId,
};
use roaring::RoaringBitmap;
use std::sync::Arc;

fn ids(first: u32, last: u32) -> MessageRanges {
    MessageRanges(vec![(MessageId(first), MessageId(last))])
}

/// Of channel 1's topic `topic`, to its topic `to`.
fn renamed(messages: MessageRanges, topic: &str, to: &str) -> Movement {
    Movement {
        messages,
        mode: PropagateMode::All,
        channel: ChannelId(1),
        topic: topic.into(),
        new_channel: None,
        new_topic: Some(NewTopic {
            name: to.into(),
            links: vec![TopicLink { text: to.into(), url: "https://tea.example".into() }],
        }),
        is_resolve: false,
    }
}

/// To channel 2, where `users` have them.
fn to_second(messages: MessageRanges, topic: &str, users: &[u32], is_new: bool) -> Movement {
    let users = users.iter().copied().map(UserId).collect();
    let deliveries = vec![Delivery { messages: messages.clone(), users, is_new }];
    Movement {
        new_channel: Some(ArrivalFact { channel: ChannelId(2), recipient: RecipientId(2), deliveries }),
        new_topic: None,
        ..renamed(messages, topic, "")
    }
}

fn moved(at: u64, movement: Movement) -> Fact {
    updated(at, None, Some(movement))
}

fn updated(at: u64, edited: Option<Message>, movement: Option<Movement>) -> Fact {
    Fact::MessageUpdated(Box::new(MessageUpdate {
        target: MessageId(1),
        by: UserId(1),
        at: Timestamp(at),
        edited: edited.map(Arc::new),
        movement,
    }))
}

fn deleted(messages: MessageRanges) -> Fact {
    Fact::MessagesDeleted {
        from: DeletedFrom::Topic { channel: ChannelId(1), topic: "tea".into() },
        messages,
        by: None,
    }
}

/// Another content, with its entry in the history.
fn edited(mut message: Message, at: u64, content: &str) -> Message {
    let entry = EditEntry {
        user: UserId(1),
        at: Timestamp(at),
        prev_content: Some(message.content.clone()),
        prev_rendered: Some(message.rendered.clone()),
        channel: None,
        topic: None,
    };
    message.edits.insert(0, entry);
    message.content = content.into();
    message.last_edited = Some(Timestamp(at));
    message
}

fn composed(view: &View, id: u32) -> Arc<Message> {
    view.recent_message(MessageId(id)).unwrap()
}

#[test]
fn a_message_is_where_its_moves_have_brought_it() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "Tea")), sent(channel_message(2, 1, 1, "tea"))]);
    world.run.frame(vec![moved(50, renamed(ids(1, 2), "tea", "milk"))]);
    world.run.frame(vec![moved(60, to_second(ids(1, 1), "milk", &[1], false))]);
    let message = composed(world.run.view(), 1);
    assert_eq!(message.place, Place::Channel { channel: ChannelId(2), topic: "milk".into() });
    assert_eq!((message.recipient, message.last_moved), (RecipientId(2), Some(Timestamp(60))));
    assert_eq!(message.topic_links[0].text, "milk");
    let history: Vec<_> = message.edits.iter().map(|edit| (edit.channel, edit.topic.clone())).collect();
    assert_eq!(
        history,
        [(Some((ChannelId(1), ChannelId(2))), None), (None, Some(("Tea".into(), "milk".into())))]
    );
    // Each has its own spelling before.
    assert_eq!(composed(world.run.view(), 2).edits[0].topic, Some(("tea".into(), "milk".into())));
    let view = world.restart();
    assert_eq!(view.place_of(MessageId(1)), Some(Location::Topic(ChannelId(2), TopicKey::new("milk"))));
}

#[test]
fn resolving_is_in_the_history_and_is_no_move() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    let resolve = Movement { is_resolve: true, ..renamed(ids(1, 1), "tea", "✔ tea") };
    world.run.frame(vec![moved(50, resolve)]);
    let message = composed(world.run.view(), 1);
    assert_eq!((message.last_moved, message.edits.len()), (None, 1));
}

#[test]
fn one_request_is_one_entry_of_the_history() {
    let mut world = World::new();
    let own = channel_message(1, 1, 1, "tea");
    world.run.frame(vec![sent(own.clone())]);
    let own = edited(own, 40, "one");
    world.run.frame(vec![updated(40, Some(own.clone()), None)]);
    let own = edited(own, 50, "two");
    world.run.frame(vec![updated(50, Some(own.clone()), Some(renamed(ids(1, 1), "tea", "milk")))]);
    let own = edited(own, 60, "three");
    world.run.frame(vec![updated(60, Some(own), None)]);
    let edits = composed(world.run.view(), 1).edits.clone();
    let kinds: Vec<_> = edits
        .iter()
        .map(|edit| (edit.at.0, edit.prev_content.clone().unwrap(), edit.topic.is_some()))
        .collect();
    assert_eq!(kinds, [(60, "two".into(), false), (50, "one".into(), true), (40, "tea 1".into(), false)]);
}

#[test]
fn who_was_let_in_before_a_move_does_not_see_where_it_led() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![moved(50, renamed(ids(1, 1), "tea", "milk"))]);
    let before = world.run.view().relocation(MessageId(1)).unwrap();
    world.run.frame(vec![moved(60, to_second(ids(1, 1), "milk", &[1], false))]);
    world.run.write_all(&world.trees);
    let own = world.trees.message(REALM, MessageId(1), false).unwrap().unwrap();
    assert_eq!(before.apply(&own).place, Place::Channel { channel: ChannelId(1), topic: "milk".into() });
}

#[test]
fn an_edit_takes_and_gives_mentions_and_leaves_what_people_did() {
    let mut world = World::new();
    let mut own = channel_message(1, 1, 1, "tea");
    own.user_flags = vec![(UserId(1), flags(&[Flag::Mentioned])), (UserId(2), flags(&[Flag::Read]))];
    world.run.frame(vec![sent(own.clone())]);
    world.run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Remove, &[(1, 1)])]);
    own.user_flags = (2..=3)
        .map(|user| (UserId(user), flags(&[Flag::Read, Flag::Mentioned, Flag::HasAlertWord])))
        .collect();
    world.run.frame(vec![updated(50, Some(own.clone()), None)]);
    world.restart();
    assert_eq!(world.flags(1, &own), flags(&[]));
    assert_eq!(world.flags(2, &own), flags(&[Flag::Mentioned, Flag::HasAlertWord]));
    // Never had it.
    assert_eq!(world.flags(3, &own), flags(&[Flag::Historical, Flag::Read]));
}

#[test]
fn flags_are_lost_with_the_message_and_do_not_come_back_with_an_edit() {
    let mut world = World::new();
    let mut own = channel_message(1, 1, 1, "tea");
    own.user_flags = vec![(UserId(2), flags(&[Flag::Mentioned]))];
    world.run.frame(vec![sent(own.clone())]);
    world.run.frame(vec![flags_changed(2, Flag::Starred, FlagOp::Add, &[(1, 1)])]);
    world.run.frame(vec![moved(50, to_second(ids(1, 1), "tea", &[1], false))]);
    world.run.frame(vec![updated(60, Some(edited(own.clone(), 60, "again")), None)]);
    world.restart();
    own.place = Place::Channel { channel: ChannelId(2), topic: "tea".into() };
    assert_eq!(world.flags(2, &own), flags(&[Flag::Historical, Flag::Read]));
    assert!(world.run.view().delivered_in_channel(UserId(2), ChannelId(2)).is_empty());
    let held = world.run.view().holders(ChannelId(2), &RoaringBitmap::from_iter([1]));
    assert_eq!(held.into_keys().collect::<Vec<_>>(), [UserId(1)]);
}

#[test]
fn what_was_starred_from_outside_is_lost_to_those_outside_the_new_channel() {
    let mut world = World::new();
    let mut own = channel_message(1, 1, 1, "tea");
    world.run.frame(vec![sent(own.clone())]);
    world.run.frame(vec![flags_changed(3, Flag::Starred, FlagOp::Add, &[(1, 1)])]);
    assert_eq!(world.flags(3, &own), flags(&[Flag::Historical, Flag::Read, Flag::Starred]));
    world.run.frame(vec![moved(50, to_second(ids(1, 1), "tea", &[1], false))]);
    world.restart();
    own.place = Place::Channel { channel: ChannelId(2), topic: "tea".into() };
    assert_eq!(world.flags(3, &own), flags(&[Flag::Historical, Flag::Read]));
    assert!(world.run.view().messages.users.get(&UserId(3)).is_none_or(|mine| mine.historical.is_empty()));
}

#[test]
fn messages_that_somebody_gets_by_a_move_are_read() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![moved(50, to_second(ids(1, 1), "tea", &[3], true))]);
    world.restart();
    let view = world.run.view();
    let message = view.compose(&Arc::new(world.trees.message(REALM, MessageId(1), false).unwrap().unwrap()));
    assert_eq!(view.flags_for(UserId(3), &message), flags(&[Flag::Read]));
    assert!(!view.is_delivered(UserId(1), &message), "everybody else has none");
}

#[test]
fn nothing_of_a_deleted_message_is_left_in_the_trees() {
    let mut world = World::new();
    for id in 1..=20 {
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let own = edited(channel_message(3, 1, 1, "tea"), 40, "a secret");
    world.run.frame(vec![updated(40, Some(own), None)]);
    world.run.write_all(&world.trees);
    world.run.frame(vec![deleted(ids(3, 17)), deleted(ids(20, 20))]);
    world.restart();
    for row in world.trees.rows(REALM) {
        let value = row.unwrap().value;
        for text in ["a secret", "tea 3", "tea 17", "tea 20"] {
            assert!(!value.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
        }
    }
    // The first chunk has two left, the second is gone, the third goes on.
    let chunks: Vec<u32> = world
        .trees
        .table(REALM, Table::Messages)
        .map(|row| tables::number_at(&row.unwrap().key, 0).unwrap())
        .collect();
    assert_eq!(chunks, [1, 17]);
    assert_eq!(world.run.view().messages.all.iter().collect::<Vec<_>>(), [1, 2, 18, 19]);
    assert_eq!(world.trees.message(REALM, MessageId(3), true).unwrap(), None);
}

#[test]
fn ids_of_deleted_messages_are_not_used_again() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea")), sent(channel_message(2, 1, 1, "tea"))]);
    let days = world.run.view().messages.days.clone();
    world.run.frame(vec![deleted(ids(1, 2))]);
    let view = world.restart();
    assert_eq!((view.messages.last, view.messages.all.len()), (MessageId(2), 0));
    assert!(view.messages.channels.is_empty() && view.messages.users.is_empty());
    assert_eq!(view.messages.days, days);
}

#[test]
fn a_deletion_is_written_once_however_often() {
    let mut world = World::new();
    for id in 1..=10 {
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let first = world.run.frame(vec![deleted(ids(1, 9))]);
    assert!(first.0.iter().any(|change| matches!(change, RowChange::Erase { .. })));
    let again = world.run.frame(vec![deleted(ids(1, 9))]);
    assert!(again.0.is_empty());
    world.restart();
}

/// A channel with subscribers who have read all of its messages; every hundredth message is starred by somebody.
fn large(messages: u32, users: u32) -> World {
    let mut world = World::new();
    world.run.frame((4..=users).map(|id| Fact::UserCreated(Box::new(user(id)))).collect());
    world.run.frame(vec![subscribed(1, &(1..=users).collect::<Vec<_>>(), 0)]);
    for first in (1..=messages).step_by(100) {
        let sent = (first..first + 100).map(|id| sent(channel_message(id, 1 + id % users, 1, "tea")));
        world.run.frame(sent.collect());
        world.run.waiting.clear();
    }
    let facts = (1..=users).map(|user| flags_changed(user, Flag::Read, FlagOp::Add, &[(1, messages)]));
    world.run.frame(facts.collect());
    let facts = (1..=users).map(|user| flags_changed(user, Flag::Starred, FlagOp::Add, &[(user, user)]));
    world.run.frame(facts.collect());
    world
}

fn timed(world: &mut World, what: &str, facts: Vec<Fact>) {
    let start = std::time::Instant::now();
    let rows = world.run.frame(facts);
    println!("{what}: {:?} with the log's part, {} rows", start.elapsed(), rows.0.len());
}

/// `cargo test --release -p millstream-storage measure -- --ignored --nocapture`
#[test]
#[ignore = "measures; run by hand"]
fn measure_large_changes() {
    let users = 1_000;
    let mut world = large(200_000, users);
    let subscribers: Vec<u32> = (1..=users).collect();
    timed(
        &mut world,
        "10,000 messages to another topic",
        vec![moved(1, renamed(ids(1, 10_000), "tea", "milk"))],
    );
    let there = to_second(ids(1, 10_000), "milk", &subscribers, false);
    timed(&mut world, "10,000 messages to another channel, all keep them", vec![moved(2, there)]);
    let there = to_second(ids(20_001, 30_000), "tea", &[1], false);
    timed(&mut world, "10,000 messages to another channel, all but one lose them", vec![moved(3, there)]);
    let deletions = (40_001..=40_100).map(|id| deleted(ids(id, id))).collect();
    timed(&mut world, "100 deletions of one message", deletions);
    timed(&mut world, "a deletion of 100 messages", vec![deleted(ids(50_001, 50_100))]);
    timed(&mut world, "a deletion of 10,000 messages", vec![deleted(ids(60_001, 70_000))]);
    let start = std::time::Instant::now();
    let found: usize =
        (1..=1000).filter(|id| world.run.view().messages.place_of(MessageId(id * 190)).is_some()).count();
    println!("{found} places from the index: {:?}", start.elapsed());
}
