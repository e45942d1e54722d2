//! Moves: the moved messages, their readers afterwards, topic policies, and the deciding actor.

use super::*;

#[test]
fn propagate_mode_selects_moved_messages() {
    let world = World::new();
    let ids: Vec<MessageId> = ["Lunch", "LUNCH", "tea", "lunch"]
        .into_iter()
        .map(|topic| world.send(IAGO, VERONA, topic, "x"))
        .collect();
    let plan = |mode| {
        let command = rename(IAGO, ids[1], "dinner", mode);
        match world.decide(VERONA, &command) {
            Ok(Decision::Decided(_, facts)) => moved(&facts),
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
fn topic_policies_move_with_whole_topic_only() {
    use VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
    let world = World::new();
    world.subscribe(POLONIUS, VERONA);
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
fn who_does_not_see_a_topic_learns_nothing_of_its_move() {
    use VisibilityPolicy::{Followed, Inherit};
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    // A guest who is not subscribed.
    world.set_policy(POLONIUS, "lunch", Followed);
    world.change(VERONA, &rename(IAGO, id, "dinner", PropagateMode::All));
    let policies = ["lunch", "dinner"].map(|topic| world.policy(POLONIUS, VERONA, topic));
    assert_eq!(policies, [Followed, Inherit]);
}

#[test]
fn renaming_topic_adds_no_followers() {
    use VisibilityPolicy::{Followed, Inherit, Muted};
    for (mode, before, after) in [
        (PropagateMode::All, Inherit, Inherit),
        (PropagateMode::All, Muted, Muted),
        (PropagateMode::All, Followed, Followed),
        // It is all there is.
        (PropagateMode::One, Muted, Muted),
    ] {
        let world = World::new();
        let id = world.send(IAGO, VERONA, "lunch", "x");
        world.set_policy(IAGO, "lunch", before);
        world.change(VERONA, &rename(IAGO, id, "dinner", mode));
        assert_eq!(world.policy(IAGO, VERONA, "dinner"), after, "{mode:?} {before:?}");
    }
}

#[test]
fn policy_facts_precede_move_fact() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.set_policy(HAMLET, "lunch", VisibilityPolicy::Followed);
    let facts = world.change(VERONA, &rename(IAGO, id, "dinner", PropagateMode::All));
    let at = |wanted: fn(&Fact) -> bool| facts.iter().position(wanted).expect("such a fact");
    let policy = at(|fact| matches!(fact, Fact::Subscription(SubscriptionFact::TopicPolicySet { .. })));
    assert!(policy < at(|fact| matches!(fact, Fact::Message(MessageFact::Updated(_)))), "{facts:?}");
}

#[test]
fn move_to_same_channel_changes_nothing() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    let decided = world.decide(VERONA, &carry(IAGO, id, VERONA, PropagateMode::All));
    assert!(matches!(decided, Ok(Decision::Decided(_, facts)) if facts.is_empty()));
}

#[test]
fn move_to_inaccessible_channel_removes_messages() {
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
fn move_to_protected_history_delivers_to_subscribers() {
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
fn hidden_messages_of_protected_history_do_not_move() {
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
fn topic_move_time_limit_is_checked() {
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
fn change_of_moved_message_is_retried() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.change(VERONA, &carry(IAGO, id, CORE, PropagateMode::One));
    let command = content(IAGO, id, "y");
    assert!(matches!(world.decide(VERONA, &command), Ok(Decision::Retry)));
    assert!(matches!(world.decide(CORE, &command), Ok(Decision::Decided(..))));
    let delete = DeleteMessage { user: IAGO, message: id };
    assert!(matches!(world.decide(VERONA, &delete), Ok(Decision::Retry)));
    world.change(CORE, &delete);
    assert_eq!(world.refused(CORE, &delete), "Message already deleted");
    assert_eq!(world.refused(CORE, &command), "Invalid message(s)");
}

#[test]
fn move_waits_for_pending_destination_change() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.changing.set(Some(CORE));
    let command = carry(IAGO, id, CORE, PropagateMode::One);
    assert!(matches!(world.decide(VERONA, &command), Ok(Decision::Retry)));
    world.changing.set(None);
    assert!(matches!(world.decide(VERONA, &command), Ok(Decision::Decided(..))));
}

#[test]
fn large_move_is_one_fact() {
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
