use super::*;
use crate::fixture::{self, CORE, HAMLET, IAGO, POLONIUS, START, VERONA};
use storage::View;

fn state(view: &View, id: ChannelId) -> ChannelState {
    let channel = view.directory.channel(id).unwrap();
    ChannelState::new(channel, view.directory.subscriptions_of(id), HashMap::new())
}

fn context<'v>(view: &'v View, participants: &'v [UserId]) -> SendContext<'v> {
    SendContext {
        directory: &view.directory,
        participants,
        id: MessageId(1),
        now: START,
        durable: view.progress.sequence,
    }
}

fn message(decision: &SendDecision) -> &model::Message {
    match &decision.facts[0] {
        Fact::MessageSent { message, .. } => message,
        other => panic!("not a message: {other:?}"),
    }
}

#[test]
fn starting_a_topic_follows_it_and_answering_does_not() {
    let view = fixture::view();
    let mut state = state(&view, VERONA);
    let first =
        state.send(fixture::draft(&view, HAMLET, VERONA, "Lunch", "hi"), None, &context(&view, &[])).unwrap();
    assert_eq!(first.new_policy, Some(VisibilityPolicy::Followed));
    first.facts.iter().for_each(|fact| state.apply(fact));
    // The same topic in other case, although nothing of it is durable yet.
    let second =
        state.send(fixture::draft(&view, IAGO, VERONA, "LUNCH", "hi"), None, &context(&view, &[])).unwrap();
    assert_eq!(second.new_policy, None);
    assert_eq!(second.facts.len(), 1);
}

#[test]
fn outsiders_cannot_write_in_private() {
    let view = fixture::view();
    let state = state(&view, CORE);
    for sender in [HAMLET, POLONIUS] {
        let refused = state
            .send(fixture::draft(&view, sender, CORE, "t", "hi"), None, &context(&view, &[]))
            .unwrap_err();
        assert_eq!(refused.to_string(), "Not authorized to send to channel 'core team'");
    }
}

#[test]
fn only_readers_are_flagged() {
    let view = fixture::view();
    let state = state(&view, VERONA);
    let mut draft = fixture::draft(&view, IAGO, VERONA, "t", "hi");
    draft.draft.rendered.mentions.users = vec![HAMLET.0.into(), POLONIUS.0.into()];
    let decision = state.send(draft, None, &context(&view, &[])).unwrap();
    let flags = &message(&decision).user_flags;
    assert_eq!(flags.as_slice(), [(HAMLET, model::Flags::only(model::Flag::Mentioned))]);
}

#[test]
fn a_topic_wildcard_of_many_needs_permission() {
    let view = fixture::view();
    let state = state(&view, VERONA);
    let many: Vec<UserId> = (100..115).map(UserId).collect();
    let send = |sender, people: &[UserId]| {
        let mut draft = fixture::draft(&view, sender, VERONA, "t", "hi");
        draft.draft.rendered.mentions.topic_wildcard = true;
        state.send(draft, None, &context(&view, people))
    };
    assert!(send(HAMLET, &many[..14]).is_ok());
    assert!(send(HAMLET, &many).is_err(), "15 participants and the sender are 16");
    assert!(send(IAGO, &many).is_ok());
}

#[test]
fn sending_to_many_costs_what_sending_to_few_costs() {
    let view = fixture::view();
    let few = state(&view, VERONA);
    let mut many = few.clone();
    let subscribers =
        (1000..11_000).map(|id| (UserId(id), Subscription::start("#76ce90".into(), MessageId(0))));
    many.apply(&Fact::Subscribed { channel: VERONA, subscribers: subscribers.collect(), by: IAGO });
    let facts = |state: &ChannelState| {
        state
            .send(fixture::draft(&view, HAMLET, VERONA, "t", "hi"), None, &context(&view, &[]))
            .unwrap()
            .facts
    };
    assert_eq!(facts(&few), facts(&many));
}

#[test]
fn subscribing_is_decided_ahead_of_the_disk() {
    let view = fixture::view();
    let mut state = state(&view, VERONA);
    let color = || "#aabbcc".to_owned();
    let new = state.subscribe(vec![(POLONIUS, color()), (HAMLET, color())], MessageId(10));
    assert_eq!(new.iter().map(|(user, _)| *user).collect::<Vec<_>>(), [POLONIUS]);
    state.apply(&Fact::Subscribed { channel: VERONA, subscribers: new, by: IAGO });
    assert!(state.subscribe(vec![(POLONIUS, color())], MessageId(11)).is_empty());
    assert_eq!(state.unsubscribe(&[POLONIUS, UserId(99)]), [POLONIUS]);
    let fact = Fact::Unsubscribed { channel: VERONA, last: MessageId(20), users: vec![POLONIUS], by: IAGO };
    state.apply(&fact);
    assert!(state.unsubscribe(&[POLONIUS]).is_empty());
    let again = state.subscribe(vec![(POLONIUS, color())], MessageId(30));
    let received: Vec<u32> =
        [10, 11, 20, 21, 30, 31].into_iter().filter(|id| again[0].1.received(MessageId(*id))).collect();
    assert_eq!(received, [11, 20, 31]);
}
