//! Messages that were edited, moved and deleted: their present state, their rows in the trees, and the cost of large
//! changes. Properties of all histories are in `property_tests`.

use super::key::fields_of;
use super::packed::plain;
use super::tests::World;
use super::{Changes, Location, RowChange, View, records};
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::open::encode_frame;
use crate::stored_message::PendingVersions;
use model::fact::{ArrivalFact, DeletedFrom, Delivery, MessageUpdate, Movement, NewTopic};
use model::history::CARRIED_EDITS_MAX;
use model::{
    ChannelId, ConversationId, EventNumber, Fact, Flag, FlagOp, Frame, HistoryBound, Message, MessageFact,
    MessageId, MessageRanges, MessageVersion, Place, PropagateMode, Reaction, RecipientId,
    RemainingReactions, Submessage, Timestamp, TopicKey, TopicLink, UserFact, UserId,
};
use roaring::RoaringBitmap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn ids(first: u32, last: u32) -> MessageRanges {
    MessageRanges(vec![(MessageId(first), MessageId(last))])
}

/// A move from channel 1's topic `topic` to its topic `to`.
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

/// A move to channel 2, where `users` receive the messages.
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

fn updated(at: u64, edited: Option<MessageVersion>, movement: Option<Movement>) -> Fact {
    edited_message(1, at, edited, movement)
}

fn edited_message(id: u32, at: u64, edited: Option<MessageVersion>, movement: Option<Movement>) -> Fact {
    Fact::Message(MessageFact::Updated(Box::new(MessageUpdate {
        target: MessageId(id),
        by: UserId(1),
        at: Timestamp(at),
        conversation: ConversationId::Channel(ChannelId(1)),
        edited: edited.map(Arc::new),
        movement,
    })))
}

fn deleted(messages: MessageRanges) -> Fact {
    Fact::Message(MessageFact::Deleted {
        from: DeletedFrom::Topic { channel: ChannelId(1), topic: "tea".into() },
        messages,
        by: None,
    })
}

/// An edit of the content.
fn edited(number: u32, at: u64, content: &str) -> MessageVersion {
    MessageVersion {
        number,
        by: UserId(1),
        at: Timestamp(at),
        content: content.into(),
        rendered: format!("<p>{content}</p>"),
        traits: Default::default(),
        user_flags: Vec::new(),
    }
}

fn composed(view: &View, id: u32) -> Arc<Message> {
    view.compose(view.recent.get(MessageId(id)).unwrap())
}

#[test]
fn moved_message_has_its_new_place_and_history() {
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
fn topic_that_was_renamed_often_has_its_place_and_its_newest_history() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea")), sent(channel_message(2, 1, 1, "tea"))]);
    for at in 100..700 {
        let (from, to) = if at % 2 == 0 { ("tea", "milk") } else { ("milk", "tea") };
        world.run.frame(vec![moved(at, renamed(ids(1, 2), from, to))]);
    }
    let message = composed(world.run.view(), 2);
    assert_eq!(message.place, Place::Channel { channel: ChannelId(1), topic: "tea".into() });
    assert_eq!((message.last_moved, message.edits.len()), (Some(Timestamp(699)), CARRIED_EDITS_MAX));
    assert_eq!(message.edits[0].topic, Some(("milk".into(), "tea".into())));
    assert_eq!(
        world.restart().place_of(MessageId(2)),
        Some(Location::Topic(ChannelId(1), TopicKey::new("tea")))
    );
}

#[test]
fn resolving_a_topic_is_not_a_move() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    let resolve = Movement { is_resolve: true, ..renamed(ids(1, 1), "tea", "✔ tea") };
    world.run.frame(vec![moved(50, resolve)]);
    let message = composed(world.run.view(), 1);
    assert_eq!((message.last_moved, message.edits.len()), (None, 1));
}

#[test]
fn edit_and_move_by_one_request_is_one_history_entry() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![updated(40, Some(edited(1, 40, "one")), None)]);
    let movement = renamed(ids(1, 1), "tea", "milk");
    world.run.frame(vec![updated(50, Some(edited(2, 50, "two")), Some(movement))]);
    world.run.frame(vec![updated(60, Some(edited(3, 60, "three")), None)]);
    let edits = composed(world.run.view(), 1).edits.clone();
    let kinds: Vec<_> = edits
        .iter()
        .map(|edit| (edit.at.0, edit.prev_content.as_deref().unwrap(), edit.topic.is_some()))
        .collect();
    assert_eq!(kinds, [(60, "two", false), (50, "one", true), (40, "tea 1", false)]);
}

#[test]
fn relocation_taken_before_a_move_does_not_reveal_it() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![moved(50, renamed(ids(1, 1), "tea", "milk"))]);
    let before = world.run.view().relocation(MessageId(1)).unwrap();
    world.run.frame(vec![moved(60, to_second(ids(1, 1), "milk", &[1], false))]);
    world.run.write_all(&world.trees);
    let own = world.trees.message_as_sent(REALM, MessageId(1)).unwrap().unwrap();
    assert_eq!(before.apply(&own).place, Place::Channel { channel: ChannelId(1), topic: "milk".into() });
}

#[test]
fn edit_changes_mentions_and_keeps_own_flags() {
    let mut world = World::new();
    let mut own = channel_message(1, 1, 1, "tea");
    own.user_flags = vec![(UserId(1), flags(&[Flag::Mentioned])), (UserId(2), flags(&[Flag::Read]))];
    world.run.frame(vec![sent(own.clone())]);
    world.run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Remove, &[(1, 1)])]);
    let mut version = edited(1, 50, "again");
    version.user_flags = (2..=3)
        .map(|user| (UserId(user), flags(&[Flag::Read, Flag::Mentioned, Flag::HasAlertWord])))
        .collect();
    world.run.frame(vec![updated(50, Some(version), None)]);
    world.restart();
    assert_eq!(world.flags(1, &own), flags(&[]));
    assert_eq!(world.flags(2, &own), flags(&[Flag::Mentioned, Flag::HasAlertWord]));
    // Never received it.
    assert_eq!(world.flags(3, &own), flags(&[Flag::Historical, Flag::Read]));
}

#[test]
fn flags_lost_by_a_move_do_not_return_with_an_edit() {
    let mut world = World::new();
    let mut own = channel_message(1, 1, 1, "tea");
    own.user_flags = vec![(UserId(2), flags(&[Flag::Mentioned]))];
    world.run.frame(vec![sent(own.clone())]);
    world.run.frame(vec![flags_changed(2, Flag::Starred, FlagOp::Add, &[(1, 1)])]);
    world.run.frame(vec![moved(50, to_second(ids(1, 1), "tea", &[1], false))]);
    let version = MessageVersion { user_flags: own.user_flags.clone(), ..edited(1, 60, "again") };
    world.run.frame(vec![updated(60, Some(version), None)]);
    world.restart();
    own.place = Place::Channel { channel: ChannelId(2), topic: "tea".into() };
    assert_eq!(world.flags(2, &own), flags(&[Flag::Historical, Flag::Read]));
    assert!(world.run.view().delivered_in_channel(UserId(2), ChannelId(2)).is_empty());
    let held = world.run.view().holders(ChannelId(2), &RoaringBitmap::from_iter([1]));
    assert_eq!(held.into_keys().collect::<Vec<_>>(), [UserId(1)]);
}

#[test]
fn historical_stars_are_lost_by_a_move_to_another_channel() {
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
fn messages_received_by_a_move_are_read() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![moved(50, to_second(ids(1, 1), "tea", &[3], true))]);
    world.restart();
    let view = world.run.view();
    let message = view.compose(&Arc::new(world.trees.message_as_sent(REALM, MessageId(1)).unwrap().unwrap()));
    assert_eq!(view.flags_for(UserId(3), &message), flags(&[Flag::Read]));
    assert!(!view.is_delivered(UserId(1), &message), "no other user receives it");
}

#[test]
fn deleted_message_is_erased_from_trees() {
    let mut world = World::new();
    for id in 1..=80 {
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    for (number, content) in [(1, "a secret"), (2, "a second secret")] {
        world.run.frame(vec![edited_message(3, 40, Some(edited(number, 40, content)), None)]);
    }
    world.run.frame(vec![reacted(3, 1, "1f375"), voted(3, 9, "a secret vote")]);
    world.run.write_all(&world.trees);
    world.run.frame(vec![edited_message(3, 41, Some(edited(3, 41, "a third secret")), None)]);
    world.run.frame(vec![deleted(ids(3, 65)), deleted(ids(68, 68))]);
    world.restart();
    for row in world.trees.rows(REALM) {
        let row = row.unwrap();
        let value = plain(&row.value).unwrap();
        for text in ["secret", "1f375", "tea 3", "tea 33", "tea 65", "tea 68"] {
            assert!(!value.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
        }
    }
    // The first chunk has two left, the second is removed, the third has lost its first.
    let chunks: Vec<u32> = world
        .trees
        .table::<records::Messages>(REALM)
        .map(|row| fields_of::<MessageId>(&row.unwrap().key).unwrap().0)
        .collect();
    assert_eq!(chunks, [1, 65]);
    let left: Vec<u32> = world.run.view().messages.all.iter().collect();
    assert_eq!(left, [&[1, 2, 66, 67][..], &(69..=80).collect::<Vec<_>>()].concat());
    let changes = Changes { is_edited: true, has_reactions: true, has_submessages: true, erased_before: 0 };
    assert_eq!(world.trees.message(REALM, MessageId(3), changes).unwrap(), None);
    assert!(world.run.view().changes_of(MessageId(3)).is_none());
    assert_eq!(world.trees.table::<records::MessageVersions>(REALM).count(), 0);
    assert_eq!(world.trees.table::<records::EditedMessages>(REALM).count(), 0);
    assert_eq!(world.trees.table::<records::Reactions>(REALM).count(), 0);
    assert_eq!(world.trees.table::<records::Submessages>(REALM).count(), 0);
}

fn reaction(user: u32, code: &str) -> Reaction {
    Reaction {
        emoji_name: "tea".into(),
        emoji_code: code.into(),
        reaction_type: "unicode_emoji".into(),
        user: UserId(user),
    }
}

fn reacted(id: u32, user: u32, code: &str) -> Fact {
    let (message, conversation) = (MessageId(id), ConversationId::Channel(ChannelId(1)));
    Fact::Message(MessageFact::ReactionAdded { message, conversation, reaction: reaction(user, code) })
}

fn voted(message: u32, id: u32, content: &str) -> Fact {
    let submessage = Submessage { id, msg_type: "widget".into(), content: content.into(), sender: UserId(1) };
    let (message, conversation) = (MessageId(message), ConversationId::Channel(ChannelId(1)));
    Fact::Message(MessageFact::SubmessageAdded { message, conversation, submessage })
}

/// Bytes of a frame with one fact in the log, and of the rows that it changes.
fn costs(run: &mut Run<MemoryLog>, fact: Fact) -> (usize, usize) {
    let frame = Frame { at: Timestamp(0), first_event: EventNumber(0), facts: vec![fact] };
    let bytes = encode_frame(&frame).unwrap().len();
    let rows = run.frame(frame.facts);
    (bytes, rows.0.iter().map(RowChange::bytes).sum())
}

#[test]
fn cost_of_a_change_is_independent_of_history() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    let text = "tea ".repeat(2_500);
    let costs_of_all = |run: &mut Run<MemoryLog>, number: u32| {
        let edit = updated(u64::from(number), Some(edited(number, u64::from(number), &text)), None);
        let code = format!("{:05x}", 0x1f300 + number);
        [
            costs(run, edit),
            costs(run, reacted(1, 1, &code)),
            costs(run, voted(1, number, "{\"type\":\"vote\"}")),
        ]
    };
    let first = costs_of_all(&mut world.run, 1);
    for number in 2..1_000 {
        costs_of_all(&mut world.run, number);
    }
    let last = costs_of_all(&mut world.run, 1_000);
    // Long records are compressed, which makes a few bytes of difference.
    let is_near = |one: usize, other: usize| one.abs_diff(other) <= 16;
    for ((fact, rows), (last_fact, last_rows)) in first.into_iter().zip(last) {
        assert!(is_near(fact, last_fact) && is_near(rows, last_rows), "{first:?} {last:?}");
    }
    let [(edit, _), (react, react_rows), (vote, vote_rows)] = last;
    assert!(edit < 2 * text.len() + 400, "{edit}");
    assert!(react < 256 && react_rows < 256, "{react} {react_rows}");
    assert!(vote < 256 && vote_rows < 256, "{vote} {vote_rows}");
    let code = format!("{:05x}", 0x1f300 + 500);
    let (message, conversation) = (MessageId(1), ConversationId::Channel(ChannelId(1)));
    let left = RemainingReactions::OfUser;
    let (unreact, rows) = costs(
        &mut world.run,
        Fact::Message(MessageFact::ReactionRemoved {
            message,
            conversation,
            reaction: reaction(1, &code),
            left,
        }),
    );
    assert!(unreact < 256 && rows < 64, "{unreact} {rows}");
}

#[test]
fn memory_and_trees_have_the_same_part_of_a_long_history() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    for number in 1..=400 {
        let text = "tea ".repeat(if number % 7 == 0 { 5_000 } else { 10 });
        world.run.frame(vec![updated(
            u64::from(number),
            Some(edited(number, u64::from(number), &text)),
            None,
        )]);
        if number % 40 != 0 {
            continue;
        }
        world.run.write_all(&world.trees);
        let view = world.run.view();
        let (own, changes) = (view.recent.get(MessageId(1)).unwrap(), view.changes_of(MessageId(1)));
        let stored = world.trees.message(REALM, MessageId(1), changes).unwrap().unwrap();
        assert_eq!(stored, **own);
        assert_eq!(own.is_history_cut(), number > 80, "{number}");
    }
    let mut sent = world.trees.message_as_sent(REALM, MessageId(1)).unwrap().unwrap();
    let mut bound = HistoryBound::new(usize::MAX, usize::MAX);
    world.trees.add_versions(REALM, &mut sent, &PendingVersions::new(), &mut bound).unwrap();
    assert_eq!((sent.edits.len(), sent.is_history_cut()), (400, false));
    assert_eq!(sent.edits[399].prev_content.as_deref(), Some("tea 1"));
}

#[test]
fn unstored_versions_are_readable() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    for number in 1..=3 {
        world.run.frame(vec![updated(50, Some(edited(number, 50, &format!("tea again {number}"))), None)]);
    }
    let view = world.run.view();
    let contents: Vec<String> =
        view.versions.of(MessageId(1)).into_values().map(|version| version.content.clone()).collect();
    assert_eq!(contents, ["tea 1", "tea again 1", "tea again 2", "tea again 3"]);
    view.recent.stored().store(view.progress.sequence.0, Ordering::Release);
    world.run.frame(vec![updated(60, Some(edited(4, 60, "tea again 4")), None)]);
    assert_eq!(world.run.view().versions.of(MessageId(1)).into_keys().collect::<Vec<_>>(), [4]);
}

#[test]
fn erased_texts_do_not_come_back_from_trees_that_lag() {
    let mut world = World::new();
    world.run.frame(vec![sent(channel_message(1, 1, 1, "tea"))]);
    world.run.frame(vec![sent(channel_message(2, 1, 1, "tea"))]);
    let id = MessageId(1);
    for message in [1, 2] {
        world.run.frame(vec![edited_message(message, 50, Some(edited(1, 50, "tea again")), None)]);
    }
    world.restart();
    world.run.frame(vec![Fact::Message(MessageFact::HistoryErased { versions: vec![(id, 1)] })]);
    let changes = world.run.view().changes_of(id);
    let read = world.trees.message(REALM, id, changes).unwrap().unwrap();
    world.run.frame(vec![reacted(1, 2, "2615")]);
    let in_memory = world.run.view().recent.get(id).unwrap();
    for message in [&read, in_memory] {
        assert_eq!(message.edits[0].prev_content.as_deref(), Some("     "));
    }
    // Once that is in the trees, the next one forgets it.
    let view = world.run.view();
    view.recent.stored().store(view.progress.sequence.0, Ordering::Release);
    let second = MessageId(2);
    world.run.frame(vec![Fact::Message(MessageFact::HistoryErased { versions: vec![(second, 1)] })]);
    let versions = &world.run.view().versions;
    assert_eq!((versions.erased_before(id), versions.erased_before(second)), (0, 1));
}

#[test]
fn ids_of_deleted_messages_are_not_reused() {
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
fn repeated_deletion_writes_once() {
    let mut world = World::new();
    for id in 1..=40 {
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let first = world.run.frame(vec![deleted(ids(1, 9))]);
    assert!(first.0.iter().any(|change| matches!(change, RowChange::Erase { .. })));
    let again = world.run.frame(vec![deleted(ids(1, 9))]);
    assert!(again.0.is_empty());
    world.restart();
}

/// A channel with subscribers who have read all of its messages; every hundredth message is starred by some user.
fn large(messages: u32, users: u32) -> World {
    let mut world = World::new();
    world.run.frame((4..=users).map(|id| Fact::User(UserFact::Created(Box::new(user(id))))).collect());
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
