//! Requests decided on the organization of the fixture.

use super::*;
use crate::fixture::{self, CORE, HAMLET, IAGO, POLONIUS, VERONA};
use crate::realm::testing::decide;
use crate::shared::RealmShared;
use model::{EventNumber, Frame, MessageFact, Place, Realm, RealmFact, SettingValue, SubscriptionFact};
use rules::new_channels::CHANNELS_MAX;
use rules::subscribing::{SUBSCRIPTIONS_MAX, WantedChannel};

fn apply(realm: &RealmShared, facts: Vec<Fact>) {
    let mut view = realm.view.write();
    let (sequence, first) = (view.progress.sequence.next(), view.progress.last_event.next());
    let frame = Frame { at: realm.clock.now(), first_event: EventNumber(first.0), facts };
    view.apply(sequence, &frame).unwrap();
}

fn request(by: UserId, names: &[&str], users: Vec<UserId>) -> AddSubscriptions {
    let wanted =
        |name: &&str| WantedChannel { name: (*name).into(), description: String::new(), color: None };
    let request = SubscribeRequest {
        wanted: names.iter().map(wanted).collect(),
        options: ChannelOptions { announce: true, ..ChannelOptions::default() },
        authorization_errors_fatal: true,
    };
    AddSubscriptions { by, request, users, for_others: true, sends_messages: true }
}

fn done(progress: Progress) -> Added {
    match progress {
        Progress::Done(added) => added,
        Progress::More(_) => panic!("one frame is enough"),
    }
}

/// Messages of a frame: destination and content.
fn messages(facts: &[Fact]) -> Vec<(String, String)> {
    let sent = facts.iter().filter_map(|fact| match fact {
        Fact::Message(MessageFact::Sent { message, .. }) => Some(message),
        _ => None,
    });
    sent.map(|message| {
        let place = match &message.place {
            Place::Channel { channel, topic } => format!("{channel} {topic}"),
            Place::Direct => format!("direct {}", message.recipient),
        };
        (place, message.content.clone())
    })
    .collect()
}

#[test]
fn notices_are_in_the_frame_of_the_subscriptions() {
    let (realm, ..) = fixture::shared();
    let mut settings = Realm::clone(realm.directory().realm());
    let announcements = SettingValue::Int(VERONA.0.into());
    settings.settings.insert("new_stream_announcements_stream_id".into(), announcements);
    apply(&realm, vec![Fact::Realm(RealmFact::Changed(Box::new(settings)))]);
    let (progress, facts) = decide(&realm, request(IAGO, &["core team", "new one"], vec![HAMLET])).unwrap();
    let added = done(progress);
    assert_eq!(added.subscribed[&HAMLET], ["core team", "new one"]);
    assert_eq!(added.messages_sent, Some(true));
    let sent = messages(&facts);
    let places: Vec<&str> = sent.iter().map(|(place, _)| place.as_str()).collect();
    let created = added.created[0];
    let direct = facts.iter().find_map(|fact| match fact {
        Fact::Message(MessageFact::ConversationCreated(direct)) => Some(direct),
        _ => None,
    });
    let direct = direct.expect("a conversation of the notification bot");
    assert!(direct.users.contains(&HAMLET));
    let expected = [
        format!("{created} channel events"),
        format!("{VERONA} new channels"),
        format!("direct {}", direct.recipient),
    ];
    assert_eq!(places, expected);
    assert!(sent[1].1.contains("created a new channel #**new one**"), "{}", sent[1].1);
    // The channel that the request created is not mentioned to its subscribers.
    assert_eq!(sent[2].1, "@**iago|4** subscribed you to #**core team**.");
    // The frame can be applied as it is: its ids are in order.
    apply(&realm, facts);
    assert!(realm.directory().is_subscribed(CORE, HAMLET));
}

#[test]
fn a_conversation_that_is_not_durable_is_used() {
    let (realm, ..) = fixture::shared();
    let pending = model::RecipientId(77);
    let command = request(IAGO, &["core team"], vec![HAMLET]);
    let decided = crate::realm::testing::decide_with(&realm, command, &|_| Some(pending)).unwrap();
    let facts = decided.1;
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::Message(MessageFact::ConversationCreated(_)))));
    assert_eq!(messages(&facts)[0].0, "direct 77");
}

#[test]
fn a_name_is_created_once_whatever_its_case() {
    let (realm, ..) = fixture::shared();
    let (progress, facts) = decide(&realm, request(IAGO, &["Race"], vec![IAGO])).unwrap();
    assert_eq!(done(progress).created.len(), 1);
    apply(&realm, facts);
    let (progress, _) = decide(&realm, request(HAMLET, &["race"], vec![HAMLET])).unwrap();
    let added = done(progress);
    assert_eq!((added.created.len(), &added.subscribed[&HAMLET][..]), (0, &["Race".to_owned()][..]));
}

#[test]
fn access_is_checked_in_the_decision() {
    let (realm, ..) = fixture::shared();
    for (by, names) in [(HAMLET, ["core team"]), (POLONIUS, ["Verona"])] {
        assert!(decide(&realm, request(by, &names, vec![HAMLET])).is_err(), "{by} {names:?}");
    }
}

#[test]
fn requests_and_organizations_are_bounded() {
    let (realm, ..) = fixture::shared();
    let (names, users): (Vec<String>, Vec<UserId>) =
        ((0..400).map(|number| format!("c{number}")).collect(), (0..251).map(UserId).collect());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let refused = |command| decide(&realm, command).map(|_| ()).unwrap_err().to_string();
    let too_many = format!("Too many subscriptions in one request (maximum {SUBSCRIPTIONS_MAX}).");
    assert_eq!(refused(request(IAGO, &names, users)), too_many);

    let present = realm.directory().channel_count();
    for id in (1000..).take(CHANNELS_MAX - present - 1) {
        let channel = Channel { id: ChannelId(id), name: format!("channel {id}"), ..fixture_channel(&realm) };
        realm.view.write().directory.put_channel(channel);
    }
    let full = format!("Too many channels (maximum {CHANNELS_MAX}).");
    assert_eq!(refused(request(IAGO, &["one", "two"], vec![IAGO])), full);
    let (progress, facts) = decide(&realm, request(IAGO, &["one"], vec![IAGO])).unwrap();
    assert_eq!(done(progress).created.len(), 1);
    apply(&realm, facts);
    assert_eq!(refused(request(IAGO, &["two"], vec![IAGO])), full);
    let create = CreateChannel {
        by: IAGO,
        name: "two".into(),
        description: String::new(),
        subscribers: Vec::new(),
        options: ChannelOptions::default(),
    };
    assert_eq!(decide(&realm, create).map(|_| ()).unwrap_err().to_string(), full);
    // Those that exist can be subscribed to.
    assert!(decide(&realm, request(IAGO, &["core team"], vec![HAMLET])).is_ok());
}

fn fixture_channel(realm: &RealmShared) -> Channel {
    Channel::clone(realm.directory().channel(VERONA).unwrap())
}

#[test]
fn colors_are_the_least_used_ones_for_each_user() {
    let (realm, ..) = fixture::shared();
    let directory = realm.directory();
    let mut colors = Colors { directory: &directory, users: &[IAGO], uses: HashMap::new() };
    let own = directory.subscriptions_of_user(IAGO).filter(|(_, own)| own.is_active).count();
    let given: Vec<String> = (0..48 - own).map(|_| colors.next(None, None)[0].1.clone()).collect();
    let mut uses = color_uses(&directory, IAGO);
    for color in &given {
        assert_eq!(color, uses.least_used());
        uses.add(color);
    }
    assert_eq!(colors.next(None, Some("#123456")), [(IAGO, "#123456".to_owned())]);
}

#[test]
fn a_request_for_many_users_takes_several_frames() {
    let (realm, ..) = fixture::shared();
    let users = (10..1510).map(|id| (UserId(id), String::new())).collect();
    let mut pending = PendingSubscriptions::new(IAGO, false, true);
    pending.add_steps(Target::Existing(CORE), users);
    let (progress, facts) = decide(&realm, pending).unwrap();
    let Progress::More(rest) = progress else { panic!("a frame is bounded") };
    assert!(
        matches!(&facts[..], [Fact::Subscription(SubscriptionFact::Added { subscribers, .. })] if subscribers.len() == SUBSCRIBERS_MAX)
    );
    let (progress, facts) = decide(&realm, *rest).unwrap();
    assert!(
        matches!(&facts[..], [Fact::Subscription(SubscriptionFact::Added { subscribers, .. })] if subscribers.len() == 500)
    );
    let added = done(progress);
    assert_eq!((added.subscribed.len(), added.messages_sent), (1500, Some(false)));
}

#[test]
fn an_ended_subscription_continues() {
    let (realm, ..) = fixture::shared();
    let directory = realm.directory();
    let color = || "#aabbcc".to_owned();
    assert_eq!(subscription(&directory, VERONA, HAMLET, color(), MessageId(10)), None);
    let mut first = subscription(&directory, VERONA, POLONIUS, color(), MessageId(10)).unwrap();
    first.end(MessageId(20));
    apply(
        &realm,
        vec![Fact::Subscription(SubscriptionFact::Added {
            channel: VERONA,
            subscribers: vec![(POLONIUS, first)],
            by: IAGO,
        })],
    );
    let again = subscription(&realm.directory(), VERONA, POLONIUS, color(), MessageId(30)).unwrap();
    let received = [10, 11, 20, 21, 30, 31].into_iter().filter(|id| again.received(MessageId(*id)));
    assert_eq!(received.collect::<Vec<u32>>(), [11, 20, 31]);
}

#[test]
fn subscribers_of_a_channel_need_no_color_for_it() {
    let view = fixture::view();
    let users = [IAGO, HAMLET, POLONIUS];
    let mut colors = Colors { directory: &view.directory, users: &users, uses: HashMap::new() };
    let next = colors.next(Some(VERONA), None);
    assert_eq!(next.iter().map(|(user, _)| *user).collect::<Vec<_>>(), users);
    assert!(next[0].1.is_empty() && next[1].1.is_empty() && next[2].1.starts_with('#'), "{next:?}");
    assert_eq!(colors.uses.keys().collect::<Vec<_>>(), [&POLONIUS], "only these subscriptions are visited");
    let next = colors.next(None, None);
    assert!(next.iter().all(|(_, color)| color.starts_with('#')), "{next:?}");
}
