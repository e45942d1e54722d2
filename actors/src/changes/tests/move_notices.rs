//! The notices of moves, and their removal.

use super::*;

#[test]
fn move_notices_in_both_topics() {
    let world = World::new();
    let first = world.send(IAGO, VERONA, "lunch", "x");
    let second = world.send(IAGO, VERONA, "lunch", "y");
    let mut command = rename(IAGO, second, "dinner", PropagateMode::One);
    (command.tells_old, command.tells_new) = (true, true);
    let facts = world.change(VERONA, &command);
    let url = format!("https://chat.example/#narrow/channel/1-Verona/topic/dinner/near/{second}");
    assert_eq!(
        notices(&facts),
        [
            (
                "dinner".to_owned(),
                format!("[A message]({url}) was moved here from #**Verona>lunch** by @_**iago|4**.")
            ),
            (
                "lunch".to_owned(),
                "A message was moved from this topic to #**Verona>dinner** by @_**iago|4**.".to_owned()
            ),
        ]
    );
    let Fact::Message(MessageFact::Sent { message, .. }) = facts.last().unwrap() else { panic!() };
    assert_eq!(message.user_flags, [(IAGO, Flags::only(Flag::Read))], "who moved has read it");
    let here = MessageId(message.id.0 - 1);
    assert!(message.rendered.contains(&format!("/with/{here}")), "{}", message.rendered);
    let mut rest = rename(IAGO, first, "supper", PropagateMode::All);
    rest.tells_new = true;
    let facts = world.change(VERONA, &rest);
    assert_eq!(notices(&facts)[0].1, "This topic was moved here from #**Verona>lunch** by @_**iago|4**.");
    let respelled = rename(IAGO, first, "Supper", PropagateMode::All);
    let facts = world.change(VERONA, &EditCommand { tells_new: true, tells_old: true, ..respelled });
    let here = "This topic was moved here from #**Verona>supper** by @_**iago|4**.";
    assert_eq!(notices(&facts), [("Supper".to_owned(), here.to_owned())]);
}

#[test]
fn move_notices_respect_topics_policy() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    world.change_channel(VERONA, |channel| {
        channel.topics_policy = model::TopicsPolicy::EmptyTopicOnly;
    });
    let mut command = rename(IAGO, id, "", PropagateMode::All);
    (command.tells_old, command.tells_new) = (true, true);
    let facts = world.change(VERONA, &command);
    let topics: Vec<String> = notices(&facts).into_iter().map(|(topic, _)| topic).collect();
    assert_eq!(topics, [""]);
}

#[test]
fn resolve_notice_is_added_and_undone() {
    let world = World::new();
    let id = world.send(HAMLET, VERONA, "lunch", "x");
    world.set_policy(HAMLET, "lunch", VisibilityPolicy::Followed);
    let resolve = |topic: &str| {
        let command = rename(IAGO, id, topic, PropagateMode::All);
        world.change(VERONA, &EditCommand { tells_new: true, ..command })
    };
    let facts = resolve("✔ lunch");
    assert!(update(&facts).movement.as_ref().unwrap().is_resolve);
    let Fact::Message(MessageFact::Sent { message, .. }) = facts.last().unwrap() else { panic!("{facts:?}") };
    assert_eq!(message.content, "@_**iago|4** has marked this topic as resolved.");
    assert_eq!(message.user_flags, [(IAGO, Flags::only(Flag::Read))], "Hamlet follows it");
    assert_eq!(world.policy(HAMLET, VERONA, "✔ lunch"), VisibilityPolicy::Followed);
    let notice = message.id;
    world.clock.advance_secs(59);
    let facts = resolve("lunch");
    let from = DeletedFrom::Topic { channel: VERONA, topic: "lunch".into() };
    let gone = Fact::Message(MessageFact::Deleted {
        from,
        messages: MessageRanges::from_sorted([notice]),
        by: None,
    });
    assert_eq!(facts.last(), Some(&gone));
    world.set_policy(HAMLET, "lunch", VisibilityPolicy::Inherit);
    resolve("✔ lunch");
    world.clock.advance_secs(60);
    let facts = resolve("lunch");
    let Fact::Message(MessageFact::Sent { message, .. }) = facts.last().unwrap() else { panic!("{facts:?}") };
    assert_eq!(message.content, "@_**iago|4** has marked this topic as unresolved.");
    assert_eq!(message.user_flags.len(), 2, "who does not follow it need not see this");
    assert_eq!(message.sent, world.realm.clock.now());
}
