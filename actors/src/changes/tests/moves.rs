//! Moves: what moves, who has it afterwards, whose policies go with it, and who decides.

use super::*;

#[test]
fn modes_say_what_moves() {
    let world = World::new();
    let ids: Vec<MessageId> = ["Lunch", "LUNCH", "tea", "lunch"]
        .into_iter()
        .map(|topic| world.send(IAGO, VERONA, topic, "x"))
        .collect();
    let plan = |mode| {
        let command = rename(IAGO, ids[1], "dinner", mode);
        match world.decide(VERONA, &command) {
            Ok(Verdict::Decided(_, facts)) => moved(&facts),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(plan(PropagateMode::One), [ids[1]]);
    assert_eq!(plan(PropagateMode::Later), [ids[1], ids[3]]);
    assert_eq!(plan(PropagateMode::All), [ids[0], ids[1], ids[3]]);
    world.change(VERONA, &rename(IAGO, ids[1], "dinner", PropagateMode::All));
    let message = world.realm.message(ids[0]).unwrap().unwrap();
    assert_eq!(message.place.topic(), "dinner");
    assert_eq!(message.edits[0].topic, Some(("Lunch".into(), "dinner".into())));
}

#[test]
fn policies_follow_whole_topics_and_only_those() {
    use VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
    let world = World::new();
    let first = world.send(IAGO, VERONA, "lunch", "x");
    let second = world.send(IAGO, VERONA, "lunch", "y");
    world.set_policy(HAMLET, "lunch", Muted);
    world.set_policy(POLONIUS, "lunch", Unmuted);
    world.change(VERONA, &rename(IAGO, second, "dinner", PropagateMode::One));
    assert_eq!(world.policy(HAMLET, VERONA, "lunch"), Muted, "a part moved");
    assert_eq!(world.policy(IAGO, VERONA, "dinner"), Followed, "Iago wrote what starts the topic");
    world.change(VERONA, &rename(IAGO, first, "dinner", PropagateMode::One));
    for user in [HAMLET, POLONIUS] {
        assert_eq!(world.policy(user, VERONA, "lunch"), Inherit);
    }
    assert_eq!(world.policy(HAMLET, VERONA, "dinner"), Inherit, "none is more visible than muted");
    assert_eq!(world.policy(POLONIUS, VERONA, "dinner"), Unmuted);
}

#[test]
fn whoever_cannot_follow_has_nothing_left() {
    let world = World::new();
    let id = world.send(HAMLET, VERONA, "lunch", "x");
    world.set_policy(HAMLET, "lunch", VisibilityPolicy::Followed);
    world.set_policy(IAGO, "lunch", VisibilityPolicy::Followed);
    let facts = world.change(VERONA, &carry(IAGO, id, CORE, PropagateMode::All));
    let messages = MessageRanges::from_sorted([id]);
    assert_eq!(deliveries(&facts), [Delivery { messages, users: vec![IAGO], is_new: false }]);
    for (user, policy) in [(HAMLET, VisibilityPolicy::Inherit), (IAGO, VisibilityPolicy::Followed)] {
        assert_eq!(world.policy(user, CORE, "lunch"), policy);
        assert_eq!(world.policy(user, VERONA, "lunch"), VisibilityPolicy::Inherit);
    }
    let view = world.realm.view.read();
    let message = world.realm.message(id).unwrap().unwrap();
    assert!(view.is_delivered(IAGO, &message) && !view.is_delivered(HAMLET, &message));
}

#[test]
fn protected_history_gives_everybody_there_what_comes() {
    let world = World::new();
    world.change_channel(CORE, |channel| channel.history_public_to_subscribers = false);
    world.subscribe(POLONIUS, CORE);
    let early = world.send(HAMLET, VERONA, "lunch", "x");
    world.subscribe(POLONIUS, VERONA);
    let late = world.send(HAMLET, VERONA, "lunch", "y");
    let facts = world.change(VERONA, &carry(IAGO, early, CORE, PropagateMode::All));
    let delivery = |ids: &[MessageId], users: &[UserId], is_new| Delivery {
        messages: MessageRanges::from_sorted(ids.iter().copied()),
        users: users.to_vec(),
        is_new,
    };
    assert_eq!(
        deliveries(&facts),
        [
            delivery(&[early, late], &[IAGO], false),
            delivery(&[late], &[POLONIUS], false),
            delivery(&[early], &[POLONIUS], true)
        ]
    );
}

#[test]
fn what_cannot_be_seen_in_protected_history_does_not_move() {
    let world = World::new();
    let early = world.send(HAMLET, CORE, "lunch", "x");
    world.change_channel(CORE, |channel| channel.history_public_to_subscribers = false);
    world.subscribe(HAMLET, CORE);
    let late = world.send(HAMLET, CORE, "lunch", "y");
    let facts = world.change(CORE, &rename(HAMLET, late, "dinner", PropagateMode::All));
    assert_eq!(moved(&facts), [late]);
    assert!(world.refused(CORE, &rename(HAMLET, early, "x", PropagateMode::One)).contains("Invalid message"));
}

#[test]
fn only_young_topics_move_as_a_whole() {
    let world = World::new();
    world.set("move_messages_within_stream_limit_seconds", model::SettingValue::Int(100));
    let first = world.send(IAGO, VERONA, "lunch", "0");
    let mut ids = vec![first];
    for number in 1..9 {
        world.clock.advance_secs(30);
        ids.push(world.send(IAGO, VERONA, "lunch", &number.to_string()));
    }
    let command = rename(HAMLET, first, "dinner", PropagateMode::All);
    // 240 seconds after the first; those of the last 120 may move.
    let Err(DomainError::Rule(refused)) = world.decide(VERONA, &command).map(|_| ()) else {
        panic!("permitted")
    };
    let expected = EditError::PartOfTopicTimeOver { first_allowed: ids[4], total: 9, allowed: 5 };
    assert_eq!(refused, expected.into());
    world.clock.advance_secs(121);
    assert_eq!(world.refused(VERONA, &command), "The time limit for moving this topic has passed.");
    assert_eq!(moved(&world.change(VERONA, &rename(IAGO, first, "dinner", PropagateMode::All))).len(), 9);
}

#[test]
fn what_moved_away_is_another_actors() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.change(VERONA, &carry(IAGO, id, CORE, PropagateMode::One));
    let command = content(IAGO, id, "y");
    assert!(matches!(world.decide(VERONA, &command), Ok(Verdict::Elsewhere)));
    assert!(matches!(world.decide(CORE, &command), Ok(Verdict::Decided(..))));
    let delete = DeleteMessage { user: IAGO, message: id };
    assert!(matches!(world.decide(VERONA, &delete), Ok(Verdict::Elsewhere)));
    world.change(CORE, &delete);
    assert_eq!(world.refused(CORE, &delete), "Message already deleted");
    assert_eq!(world.refused(CORE, &command), "Invalid message(s)");
}

#[test]
fn a_move_waits_for_what_becomes_of_its_destination() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.changing.set(Some(CORE));
    let command = carry(IAGO, id, CORE, PropagateMode::One);
    assert!(matches!(world.decide(VERONA, &command), Ok(Verdict::Elsewhere)));
    world.changing.set(None);
    assert!(matches!(world.decide(VERONA, &command), Ok(Verdict::Decided(..))));
}

#[test]
fn moving_ten_thousand_messages_is_one_fact() {
    let world = World::new();
    let first = world.send(IAGO, VERONA, "lunch", "x");
    for _ in 1..10_000 {
        world.send(IAGO, VERONA, "lunch", "x");
    }
    let facts = world.change(VERONA, &carry(IAGO, first, CORE, PropagateMode::All));
    assert_eq!(moved(&facts).len(), 10_000);
    let view = world.realm.view.read();
    assert!(view.channel_ids(VERONA).is_none_or(|ids| ids.is_empty()));
    assert_eq!(view.channel_ids(CORE).map(|ids| ids.len()), Some(10_000));
}
