//! Events for those who can receive them alone, with numbers that do not depend on who that is.

use super::*;

/// Events with who gets them.
type Announced = Vec<(Event, Audience)>;

/// The events of a frame where these users have queues, and all of its events.
fn announced_among(view: &mut View, facts: Vec<Fact>, listening: &[UserId]) -> [Announced; 2] {
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
    let before = PreImages::of(view, &frame, None);
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let queues = Queues(listening.to_vec(), EventKinds::ALL);
    [events(view, &before, &frame, Some(&queues)), events(view, &before, &frame, None)]
}

/// Who receives which users as removed; without events that bots alone receive.
fn removed_peers(view: &View, events: &[(Event, Audience)]) -> Vec<(Vec<UserId>, Vec<UserId>)> {
    let removed = events.iter().filter_map(|(event, audience)| match &event.body {
        EventBody::PeersRemoved { users, .. } => Some((people(view, audience), users.to_vec())),
        _ => None,
    });
    removed.filter(|(to, _)| !to.is_empty()).collect()
}

#[test]
fn lists_of_users_unsubscribed_together_are_made_for_those_who_listen() {
    let mut view = fixture::view();
    let facts = vec![unsubscribed(VERONA, &[IAGO, HAMLET])];
    let [narrowed, all] = announced_among(&mut view, facts, &[HAMLET]);
    assert_eq!(removed_peers(&view, &narrowed), [(vec![HAMLET], vec![IAGO])]);
    let each = [(vec![IAGO], vec![HAMLET]), (vec![HAMLET], vec![IAGO])];
    assert_eq!(removed_peers(&view, &all), each);
}

#[test]
fn subscriptions_of_a_deactivated_account_go_to_those_who_listen() {
    let mut view = fixture::view();
    fixture::apply(&mut view, vec![subscribed(VERONA, POLONIUS), subscribed(CORE, POLONIUS)]);
    let events = activity_events_max(&view.directory, POLONIUS);
    let deactivated = UserFact::ActiveSet { user: POLONIUS, is_active: false, last: MessageId(0), events };
    let [narrowed, all] = announced_among(&mut view, vec![Fact::User(deactivated)], &[HAMLET]);
    assert_eq!(removed_peers(&view, &narrowed), [(vec![HAMLET], vec![POLONIUS])]);
    assert_eq!(removed_peers(&view, &all).len(), 2);
    let numbers = |events: &[(Event, Audience)]| -> Vec<_> {
        let user = |body: &EventBody| matches!(body, EventBody::UserChanged { .. });
        events.iter().filter(|(event, _)| user(&event.body)).map(|(event, _)| event.number).collect()
    };
    assert!(!numbers(&all).is_empty());
    assert_eq!(numbers(&narrowed), numbers(&all));
}
