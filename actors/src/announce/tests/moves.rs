//! Events of moves: which messages each recipient keeps, and which ones are lost.

use super::*;
use model::fact::{ArrivalFact, Delivery};

/// Applies a frame and returns its facts.
fn applied(view: &mut View, facts: Vec<Fact>) -> Frame {
    let pre_images = pre_images_fact(&view.directory, &facts);
    let facts = pre_images.into_iter().chain(facts).collect();
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    frame
}

/// Moves message 1 of Verona to the private channel, whose subscribers receive it.
fn to_core(users: &[UserId]) -> Fact {
    let messages = MessageRanges::from_sorted([MessageId(1)]);
    let delivery = Delivery { messages: messages.clone(), users: users.to_vec(), is_new: true };
    let arrival =
        ArrivalFact { channel: CORE, recipient: model::RecipientId(CORE.0), deliveries: vec![delivery] };
    let movement = Some(Movement {
        messages,
        mode: PropagateMode::One,
        channel: VERONA,
        topic: "lunch".into(),
        new_channel: Some(arrival),
        new_topic: None,
        is_resolve: false,
    });
    let conversation = ConversationId::Channel(VERONA);
    let update =
        MessageUpdate { target: MessageId(1), by: IAGO, at: START, conversation, edited: None, movement };
    Fact::Message(MessageFact::Updated(Box::new(update)))
}

#[test]
fn replayed_move_takes_deleted_messages_from_those_who_left_the_protected_channel() {
    let mut view = fixture::view();
    let opened = channel(&view, CORE, |record| {
        record.permissions.subscribe = GroupSetting::Group(GroupId(6));
        record.history_public_to_subscribers = false;
    });
    applied(&mut view, vec![opened, subscribed(CORE, HAMLET)]);
    let message = sent(&view, 1);
    applied(&mut view, vec![Fact::Message(MessageFact::Sent { message, echo: None })]);
    let moved = applied(&mut view, vec![to_core(&[IAGO, HAMLET])]);
    let left = applied(&mut view, vec![unsubscribed(CORE, &[HAMLET])]);
    let (messages, by) = (MessageRanges::from_sorted([MessageId(1)]), Some(IAGO));
    let from = DeletedFrom::Topic { channel: CORE, topic: "lunch".into() };
    let deleted = applied(&mut view, vec![Fact::Message(MessageFact::Deleted { from, messages, by })]);
    let changes = [&moved, &left, &deleted].into_iter().flat_map(|frame| &frame.facts);
    let mut replay = Replay::start(view.directory.clone(), changes);
    let of_move = replay.events(&view, Default::default(), &moved);
    let lost = of_move.iter().filter(|(event, _)| matches!(event.body, EventBody::MessagesDeleted { .. }));
    let lost: Vec<_> = lost.map(|(_, audience)| people(&view, audience)).collect();
    assert_eq!(lost, [[HAMLET]], "Hamlet is not sent the later deletion");
}

/// Renames the topic of messages 1 and 2 of the private channel by a request about one of them.
fn renamed(target: u32) -> Fact {
    let movement = Some(Movement {
        messages: MessageRanges::from_sorted([MessageId(1), MessageId(2)]),
        mode: PropagateMode::All,
        channel: CORE,
        topic: "lunch".into(),
        new_channel: None,
        new_topic: Some(NewTopic { name: "dinner".into(), links: Vec::new() }),
        is_resolve: false,
    });
    let (target, conversation) = (MessageId(target), ConversationId::Channel(CORE));
    let update = MessageUpdate { target, by: IAGO, at: START, conversation, edited: None, movement };
    Fact::Message(MessageFact::Updated(Box::new(update)))
}

/// The recipients of the events of a move, with the messages in each.
fn moved_for(view: &View, events: &[(Event, Audience)]) -> Vec<(Vec<UserId>, Vec<u32>)> {
    let moves = events.iter().filter_map(|(event, audience)| match &event.body {
        EventBody::MessageChanged(change) => {
            Some((people(view, audience), change.messages.iter().map(|id| id.0).collect()))
        }
        _ => None,
    });
    moves.collect()
}

#[test]
fn each_recipient_of_a_move_gets_the_messages_that_it_can_read() {
    for target in [1, 2] {
        let mut view = fixture::view();
        let protected = channel(&view, CORE, |record| record.history_public_to_subscribers = false);
        applied(&mut view, vec![protected]);
        for id in [1, 2] {
            let (draft, place) = (fixture::draft(&view, IAGO, CORE, "lunch", "hi").draft, "lunch".into());
            let place = Place::Channel { channel: CORE, topic: place };
            let recipient = view.directory.channel(CORE).unwrap().recipient;
            let destination = crate::draft::Destination { recipient, place, topic_links: Vec::new() };
            let message = draft.into_message(MessageId(id), START, destination, Default::default());
            applied(
                &mut view,
                vec![Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })],
            );
            if id == 1 {
                let subscribers = vec![(HAMLET, Subscription::start("#76ce90".into(), MessageId(1)))];
                let added = SubscriptionFact::Added { channel: CORE, subscribers, by: IAGO };
                applied(&mut view, vec![Fact::Subscription(added)]);
            }
        }
        let frame =
            Frame { at: START, first_event: view.progress.last_event.next(), facts: vec![renamed(target)] };
        let before = PreImages::of(&view, &frame, None);
        view.apply(view.progress.sequence.next(), &frame).unwrap();
        let expected = [(vec![IAGO], vec![1, 2]), (vec![HAMLET], vec![2])];
        let sorted = |mut found: Vec<(Vec<UserId>, Vec<u32>)>| {
            found.sort();
            found
        };
        assert_eq!(sorted(moved_for(&view, &events(&view, &before, &frame, None))), expected, "{target}");
        let mut replay = Replay::start(view.directory.clone(), frame.facts.iter());
        let replayed = replay.events(&view, Default::default(), &frame);
        assert_eq!(sorted(moved_for(&view, &replayed)), expected, "{target}");
    }
}
