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
    let sent = decision.facts.iter().find_map(|fact| match fact {
        Fact::Message(MessageFact::Sent { message, .. }) => Some(message),
        _ => None,
    });
    sent.expect("a message")
}

#[test]
fn starting_a_topic_follows_it() {
    let view = fixture::view();
    let mut state = state(&view, VERONA);
    let first =
        state.send(fixture::draft(&view, HAMLET, VERONA, "Lunch", "hi"), None, &context(&view, &[])).unwrap();
    assert_eq!(first.new_policy, Some(VisibilityPolicy::Followed));
    assert!(matches!(
        &first.facts[..],
        [
            Fact::Subscription(SubscriptionFact::TopicPolicySet { users, .. }),
            Fact::Message(MessageFact::Sent { .. }),
            ..
        ] if users[..] == [HAMLET]
    ));
    first.facts.iter().for_each(|fact| state.apply(fact));
    // The same topic in other case, although nothing of it is durable yet.
    let second =
        state.send(fixture::draft(&view, IAGO, VERONA, "LUNCH", "hi"), None, &context(&view, &[])).unwrap();
    assert_eq!(second.new_policy, None);
    assert_eq!(second.facts.len(), 1);
}

#[test]
fn sending_to_private_channel_requires_subscription() {
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
fn mention_flags_only_recipients() {
    let view = fixture::view();
    let state = state(&view, VERONA);
    let mut draft = fixture::draft(&view, IAGO, VERONA, "t", "hi");
    draft.draft.rendered.mentions.users = vec![HAMLET.0.into(), POLONIUS.0.into()];
    let decision = state.send(draft, None, &context(&view, &[])).unwrap();
    let flags = &message(&decision).user_flags;
    assert_eq!(flags.as_slice(), [(HAMLET, model::Flags::only(model::Flag::Mentioned))]);
}

#[test]
fn topic_wildcard_mention_requires_permission() {
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
fn send_cost_is_independent_of_subscriber_count() {
    let view = fixture::view();
    let few = state(&view, VERONA);
    let mut many = few.clone();
    let subscribers =
        (1000..11_000).map(|id| (UserId(id), Subscription::start("#76ce90".into(), MessageId(0))));
    many.apply(&Fact::Subscription(SubscriptionFact::Added {
        channel: VERONA,
        subscribers: subscribers.collect(),
        by: IAGO,
    }));
    let facts = |state: &ChannelState| {
        state
            .send(fixture::draft(&view, HAMLET, VERONA, "t", "hi"), None, &context(&view, &[]))
            .unwrap()
            .facts
    };
    assert_eq!(facts(&few), facts(&many));
}

#[test]
fn unsubscribing_is_decided_from_subscriptions_that_are_not_durable() {
    let view = fixture::view();
    let mut state = state(&view, VERONA);
    let subscribers = vec![(POLONIUS, Subscription::start("#aabbcc".into(), MessageId(10)))];
    state.apply(&Fact::Subscription(SubscriptionFact::Added { channel: VERONA, subscribers, by: IAGO }));
    assert_eq!(state.subscribed_among(&[POLONIUS, UserId(99)]), [POLONIUS]);
    let (last, users) = (MessageId(20), vec![POLONIUS]);
    state.apply(&Fact::Subscription(SubscriptionFact::Removed { channel: VERONA, last, users, by: IAGO }));
    assert!(state.subscribed_among(&[POLONIUS]).is_empty());
}
