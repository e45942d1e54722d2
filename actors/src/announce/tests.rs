//! The events of each family of facts, and their recipients: exactly these.

mod listeners;
mod moves;
mod unread;

use super::*;
use crate::fixture::{self, CORE, HAMLET, IAGO, POLONIUS, START, VERONA};
use model::event::{ChannelChange, GroupChange, SubscriptionChange, UserChange};
use model::fact::{DeletedFrom, MessageRanges, MessageUpdate, Movement, NewTopic};
use model::picture::{PictureFact, RealmEmoji};
use model::push::PushFact;
use model::{
    Channel, ChannelFact, ChannelId, ConversationId, EventBody, EventKind, EventKinds, GroupFact, GroupId,
    GroupSetting, Message, MessageFact, MessageId, PersonalFact, Place, PropagateMode, Reaction, RealmFact,
    Role, Subscription, SubscriptionFact, User, UserFact, UserGroup, UserId, VisibilityPolicy,
};
use std::sync::Arc;

/// Users who have queues, and the types of events that these get.
struct Queues(Vec<UserId>, EventKinds);

impl Listeners for Queues {
    fn users(&self) -> Vec<UserId> {
        self.0.clone()
    }

    fn receives(&self, user: UserId, kind: EventKind) -> bool {
        self.0.contains(&user) && self.1.contains(kind)
    }
}

/// Applies a frame and returns its events, each with the people who receive it.
fn announced_to(view: &mut View, facts: Vec<Fact>) -> Vec<(EventBody, Vec<UserId>)> {
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
    let before = PreImages::of(view, &frame, None);
    let narrowed_before = PreImages::of(view, &frame, Some(&Queues(vec![HAMLET], EventKinds::ALL)));
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let narrowed = events(view, &narrowed_before, &frame, Some(&Queues(vec![HAMLET], EventKinds::ALL)));
    let events = events(view, &before, &frame, None);
    // Who listens changes neither what a listener receives nor its numbers.
    let of_hamlet = |events: &[(Event, Audience)]| -> Vec<_> {
        let own = events.iter().filter(|(_, audience)| people(view, audience).contains(&HAMLET));
        own.map(|(event, _)| (event.number, EventBody::clone(&event.body))).collect()
    };
    assert_eq!(of_hamlet(&narrowed), of_hamlet(&events));
    let numbers: Vec<_> = events.iter().map(|(event, _)| event.number).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    events
        .into_iter()
        .map(|(event, audience)| (EventBody::clone(&event.body), people(view, &audience)))
        .collect()
}

fn people(view: &View, audience: &Audience) -> Vec<UserId> {
    let users = view.directory.users().filter(|user| user.is_active && !user.is_bot());
    match audience {
        Audience::Everyone => users.map(|user| user.id).collect(),
        Audience::NonGuests => users.filter(|user| !user.is_guest()).map(|user| user.id).collect(),
        Audience::Users(ids) => users.map(|user| user.id).filter(|id| ids.contains(id)).collect(),
        Audience::Flagged(ids) => ids.iter().map(|(id, _)| *id).collect(),
        Audience::Readers(message) => {
            let channel = message.place.channel().expect("a channel message");
            view.directory.subscriber_ids(channel).collect()
        }
        Audience::Queue(_) => panic!("{audience:?}"),
    }
}

/// The kind of each event, with its recipients. Events without people are left out: a bot received them.
fn kinds(events: &[(EventBody, Vec<UserId>)]) -> Vec<(&'static str, &[UserId])> {
    let kind = |body: &EventBody| match body {
        EventBody::ChannelsCreated(_) => "created",
        EventBody::ChannelsLost(_) => "lost",
        EventBody::ChannelChanged { .. } => "changed",
        EventBody::SubscriptionsAdded(_) => "subscribed",
        EventBody::SubscriptionsRemoved(_) => "unsubscribed",
        EventBody::PeersAdded { .. } => "peer added",
        EventBody::PeersRemoved { .. } => "peer removed",
        EventBody::UserChanged { .. } => "user",
        EventBody::DefaultChannels(_) => "default channels",
        EventBody::GroupMembersAdded { .. } => "member added",
        EventBody::GroupMembersRemoved { .. } => "member removed",
        EventBody::MutedTopics(_) => "muted topics",
        EventBody::UserTopic { .. } => "topic",
        other => panic!("{other:?}"),
    };
    events.iter().filter(|(_, to)| !to.is_empty()).map(|(body, to)| (kind(body), &to[..])).collect()
}

fn channel(view: &View, id: ChannelId, change: impl FnOnce(&mut Channel)) -> Fact {
    let mut record = Channel::clone(view.directory.channel(id).unwrap());
    change(&mut record);
    Fact::Channel(ChannelFact::Changed(Box::new(record)))
}

fn subscribed(channel: ChannelId, user: UserId) -> Fact {
    let subscribers = vec![(user, Subscription::start("#76ce90".into(), MessageId(0)))];
    Fact::Subscription(SubscriptionFact::Added { channel, subscribers, by: IAGO })
}

fn unsubscribed(channel: ChannelId, users: &[UserId]) -> Fact {
    let (last, users) = (MessageId(0), users.to_vec());
    Fact::Subscription(SubscriptionFact::Removed { channel, last, users, by: IAGO })
}

#[test]
fn audience_of_subscribers_is_those_who_listen() {
    let mut view = fixture::view();
    let frame = Frame {
        at: START,
        first_event: view.progress.last_event.next(),
        facts: vec![subscribed(VERONA, POLONIUS)],
    };
    let before = PreImages::of(&view, &frame, None);
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let audience_of = |listening: Vec<UserId>| {
        let found = events(&view, &before, &frame, Some(&Queues(listening, EventKinds::ALL)));
        let peers = found.into_iter().find(|(event, _)| matches!(event.body, EventBody::PeersAdded { .. }));
        peers.map(|(_, audience)| people(&view, &audience))
    };
    assert_eq!(audience_of(vec![HAMLET, IAGO, POLONIUS]), Some(vec![IAGO, HAMLET]));
    assert_eq!(audience_of(Vec::new()), None);
}

fn members(group: GroupId, added: &[UserId], removed: &[UserId]) -> Fact {
    let (added, removed) = (added.to_vec(), removed.to_vec());
    Fact::Group(GroupFact::MembersChanged { group, added, removed })
}

fn sent(view: &View, id: u32) -> Arc<Message> {
    let draft = fixture::draft(view, HAMLET, VERONA, "lunch", "hi").draft;
    let recipient = view.directory.channel(VERONA).unwrap().recipient;
    let place = Place::Channel { channel: VERONA, topic: "lunch".into() };
    let destination = crate::draft::Destination { recipient, place, topic_links: Vec::new() };
    Arc::new(draft.into_message(MessageId(id), START, destination, Default::default()))
}

#[test]
fn new_channel_goes_to_everyone_who_sees_it() {
    let mut view = fixture::view();
    let mut record = Channel::clone(view.directory.channel(CORE).unwrap());
    (record.id, record.name) = (ChannelId(3), "plans".into());
    let created = |record: &Channel| Fact::Channel(ChannelFact::Created(Box::new(record.clone())));
    let private = announced_to(&mut view, vec![created(&record)]);
    assert_eq!(kinds(&private), [("created", &[IAGO][..])]);
    (record.id, record.name, record.invite_only) = (ChannelId(4), "open".into(), false);
    let public = announced_to(&mut view, vec![created(&record)]);
    assert_eq!(kinds(&public), [("created", &[IAGO, HAMLET][..])]);
}

#[test]
fn channel_made_public_is_created_for_those_who_gain_it_and_changed_for_others() {
    let mut view = fixture::view();
    let fact = channel(&view, CORE, |record| record.invite_only = false);
    let events = announced_to(&mut view, vec![fact]);
    let expected = [("created", &[HAMLET][..]), ("peer added", &[HAMLET]), ("changed", &[IAGO])];
    assert_eq!(kinds(&events), expected);
    let EventBody::ChannelsCreated(created) = &events[0].0 else { panic!("{events:?}") };
    assert_eq!(created[0].subscriber_count, 0, "subscribers are counted with the event about them");
}

#[test]
fn channel_made_private_is_lost_by_non_subscribers_alone() {
    let mut view = fixture::view();
    announced_to(&mut view, vec![unsubscribed(VERONA, &[HAMLET]), subscribed(VERONA, POLONIUS)]);
    let fact = channel(&view, VERONA, |record| record.invite_only = true);
    let events = announced_to(&mut view, vec![fact]);
    assert_eq!(kinds(&events), [("lost", &[HAMLET][..]), ("changed", &[IAGO, POLONIUS])]);
}

#[test]
fn property_of_a_private_channel_goes_to_those_who_see_it() {
    let mut view = fixture::view();
    let fact = channel(&view, CORE, |record| record.name = "team".into());
    let change = ChannelChange::Name("team".into());
    let body = EventBody::ChannelChanged { channel: CORE, name: "core team".into(), change };
    assert_eq!(announced_to(&mut view, vec![fact]), [(body, vec![IAGO])]);
    let defaults = announced_to(&mut view, vec![Fact::Channel(ChannelFact::DefaultsChanged(vec![VERONA]))]);
    assert_eq!(defaults, [(EventBody::DefaultChannels(vec![VERONA]), vec![IAGO, HAMLET])]);
}

#[test]
fn subscribing_creates_the_channel_first_for_users_who_did_not_see_it() {
    let mut view = fixture::view();
    let events = announced_to(&mut view, vec![subscribed(CORE, HAMLET)]);
    let expected = [("created", &[HAMLET][..]), ("subscribed", &[HAMLET]), ("peer added", &[IAGO])];
    assert_eq!(kinds(&events), expected);
    let events = announced_to(&mut view, vec![subscribed(VERONA, POLONIUS)]);
    let expected =
        [("created", &[POLONIUS][..]), ("subscribed", &[POLONIUS]), ("peer added", &[IAGO, HAMLET])];
    assert_eq!(kinds(&events), expected);
}

#[test]
fn unsubscribing_loses_the_channel_for_users_who_no_longer_see_it() {
    let mut view = fixture::view();
    let public = announced_to(&mut view, vec![unsubscribed(VERONA, &[HAMLET])]);
    assert_eq!(kinds(&public), [("unsubscribed", &[HAMLET][..]), ("peer removed", &[IAGO])]);
    announced_to(&mut view, vec![subscribed(CORE, HAMLET)]);
    let private = announced_to(&mut view, vec![unsubscribed(CORE, &[HAMLET])]);
    assert_eq!(
        kinds(&private),
        [("unsubscribed", &[HAMLET][..]), ("lost", &[HAMLET]), ("peer removed", &[IAGO])]
    );
}

#[test]
fn own_subscription_and_topic_policy_go_to_the_user_alone() {
    let mut view = fixture::view();
    let mut record = Subscription::clone(view.directory.subscription(VERONA, HAMLET).unwrap());
    record.pin_to_top = true;
    let subscription = Box::new(record);
    let fact = Fact::Subscription(SubscriptionFact::Changed { user: HAMLET, channel: VERONA, subscription });
    let change = SubscriptionChange::PinToTop(true);
    let body = EventBody::SubscriptionChanged { channel: VERONA, change };
    assert_eq!(announced_to(&mut view, vec![fact]), [(body, vec![HAMLET])]);
    let (topic, policy) = ("lunch".to_owned(), VisibilityPolicy::Muted);
    let fact = Fact::Subscription(SubscriptionFact::TopicPolicySet {
        channel: VERONA,
        topic,
        policy,
        users: vec![HAMLET, POLONIUS],
    });
    let events = announced_to(&mut view, vec![fact]);
    let expected =
        [("muted topics", &[HAMLET][..]), ("muted topics", &[POLONIUS]), ("topic", &[HAMLET, POLONIUS])];
    assert_eq!(kinds(&events), expected);
}

#[test]
fn muted_topics_are_for_queues_that_get_them() {
    let mut view = fixture::view();
    let policy = Fact::Subscription(SubscriptionFact::TopicPolicySet {
        channel: VERONA,
        topic: "lunch".to_owned(),
        policy: VisibilityPolicy::Muted,
        users: vec![HAMLET, POLONIUS],
    });
    let first = view.progress.last_event.next();
    let frame = Frame { at: START, first_event: first, facts: vec![policy] };
    let before = PreImages::of(&view, &frame, None);
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let announced = |kinds: &[EventKind]| -> Vec<_> {
        let queues = Queues(vec![HAMLET], EventKinds::of(kinds));
        let found = events(&view, &before, &frame, Some(&queues));
        found.into_iter().map(|(event, _)| (event.number, event.body.kind())).collect()
    };
    let topic = (first.next(), EventKind::UserTopic);
    assert_eq!(announced(&[EventKind::MutedTopics]), [(first, EventKind::MutedTopics), topic]);
    assert_eq!(announced(&[EventKind::UserTopic]), [topic]);
}

#[test]
fn group_member_gains_and_loses_the_channels_of_the_group() {
    let mut view = fixture::view();
    let mut group = UserGroup::clone(view.directory.groups().next().unwrap());
    (group.id, group.name, group.is_system) = (GroupId(90), "team".into(), false);
    (group.members, group.subgroups) = Default::default();
    let added = announced_to(&mut view, vec![Fact::Group(GroupFact::Created(Box::new(group.clone())))]);
    assert_eq!(added, [(EventBody::GroupAdded(group.clone().into()), vec![IAGO, HAMLET, POLONIUS])]);
    let fact = channel(&view, CORE, |record| record.permissions.subscribe = GroupSetting::Group(group.id));
    announced_to(&mut view, vec![fact]);
    let everyone = &[IAGO, HAMLET, POLONIUS][..];
    let joins = announced_to(&mut view, vec![members(group.id, &[HAMLET], &[])]);
    assert_eq!(kinds(&joins), [("member added", everyone), ("created", &[HAMLET])]);
    let leaves = announced_to(&mut view, vec![members(group.id, &[], &[HAMLET])]);
    assert_eq!(kinds(&leaves), [("member removed", everyone), ("lost", &[HAMLET])]);
    let mut renamed = group.clone();
    renamed.name = "crew".into();
    let change = GroupChange { name: Some("crew".into()), ..GroupChange::default() };
    let events = announced_to(&mut view, vec![Fact::Group(GroupFact::Changed(Box::new(renamed)))]);
    let body = EventBody::GroupChanged { group: group.id, change: Box::new(change) };
    assert_eq!(events, [(body, everyone.to_vec())]);
}

#[test]
fn promoted_user_gains_private_channels_and_their_subscribers() {
    let mut view = fixture::view();
    let mut hamlet = User::clone(view.directory.user(HAMLET).unwrap());
    hamlet.role = Role::Administrator;
    let mut facts = vec![Fact::User(UserFact::Changed(Box::new(hamlet)))];
    facts.extend(record_user_visibility(&view.directory, &facts));
    let events = announced_to(&mut view, facts);
    let of_channels: Vec<_> = events
        .iter()
        .filter(|(body, _)| matches!(body, EventBody::ChannelsCreated(_) | EventBody::PeersAdded { .. }))
        .cloned()
        .collect();
    assert_eq!(kinds(&of_channels), [("created", &[HAMLET][..]), ("peer added", &[HAMLET])]);
    let role = EventBody::UserChanged { user: HAMLET, change: UserChange::Role(Role::Administrator) };
    let (_, to) = events.iter().find(|(body, _)| *body == role).expect("the new role");
    assert_eq!(to[..], [IAGO, HAMLET, POLONIUS]);
}

#[test]
fn channel_is_renewed_for_users_who_gain_or_lose_sight_of_its_subscribers() {
    let mut view = fixture::view();
    let fact = channel(&view, CORE, |record| record.permissions.subscribe = GroupSetting::only(HAMLET));
    assert_eq!(kinds(&announced_to(&mut view, vec![fact]))[0], ("created", &[HAMLET][..]));
    let renewed = [("lost", &[HAMLET][..]), ("created", &[HAMLET])];
    for (role, expected) in [
        (Role::Administrator, [&renewed[..], &[("peer added", &[HAMLET])]].concat()),
        (Role::Member, renewed.to_vec()),
    ] {
        let mut hamlet = User::clone(view.directory.user(HAMLET).unwrap());
        hamlet.role = role;
        let mut facts = vec![Fact::User(UserFact::Changed(Box::new(hamlet)))];
        facts.extend(record_user_visibility(&view.directory, &facts));
        let mut events = announced_to(&mut view, facts);
        events.retain(|(body, _)| matches!(body.kind(), EventKind::Channel | EventKind::Subscription));
        assert_eq!(kinds(&events), expected, "{role:?}");
        let EventBody::ChannelsCreated(created) = &events[1].0 else { panic!("{events:?}") };
        let is_counted_with_peers = role == Role::Administrator;
        assert_eq!(created[0].subscriber_count, if is_counted_with_peers { 0 } else { 1 });
    }
}

#[test]
fn personal_facts_go_to_the_user_alone() {
    let mut view = fixture::view();
    let words = vec!["two".to_owned()];
    let facts = vec![
        Fact::Personal(PersonalFact::AlertWordsSet { user: HAMLET, words: words.clone() }),
        Fact::Personal(PersonalFact::Muted { user: HAMLET, muted: IAGO, since: Some(START) }),
    ];
    let expected = [
        (EventBody::AlertWords(words), vec![HAMLET]),
        (EventBody::MutedUsers(vec![(IAGO, START)]), vec![HAMLET]),
    ];
    assert_eq!(announced_to(&mut view, facts), expected);
}

#[test]
fn message_and_reaction_go_to_subscribers_and_flags_to_their_owner() {
    let mut view = fixture::view();
    let message = sent(&view, 1);
    let fact = Fact::Message(MessageFact::Sent { message: message.clone(), echo: None });
    let events = announced_to(&mut view, vec![fact]);
    let [(EventBody::Message { message: sent, .. }, to)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((sent.id, &to[..]), (MessageId(1), &[IAGO, HAMLET][..]));
    let reaction = Reaction {
        user: IAGO,
        emoji_name: "tada".into(),
        emoji_code: "1f389".into(),
        reaction_type: "unicode_emoji".into(),
    };
    let conversation = ConversationId::Channel(VERONA);
    let fact = Fact::Message(MessageFact::ReactionAdded { message: MessageId(1), conversation, reaction });
    let events = announced_to(&mut view, vec![fact]);
    let [(EventBody::Reaction { is_added: true, .. }, to)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(to[..], [IAGO, HAMLET]);
    let messages = MessageRanges::from_sorted([MessageId(1)]);
    let from = DeletedFrom::Topic { channel: VERONA, topic: "lunch".into() };
    let fact = Fact::Message(MessageFact::Deleted { from, messages, by: Some(IAGO) });
    let events = announced_to(&mut view, vec![fact]);
    let body =
        EventBody::MessagesDeleted { place: Some((VERONA, "lunch".into())), messages: vec![MessageId(1)] };
    assert_eq!(events[0], (body, vec![IAGO, HAMLET]));
}

/// The recipients of a frame's events about messages when only some users can receive events.
fn recipients_among(view: &mut View, listening: &[UserId], fact: Fact) -> BTreeSet<UserId> {
    let listening = Queues(listening.to_vec(), EventKinds::ALL);
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts: vec![fact] };
    let before = PreImages::of(view, &frame, Some(&listening));
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let of_messages = |body: &EventBody| !matches!(body, EventBody::ChannelChanged { .. });
    let found = events(view, &before, &frame, Some(&listening));
    let found = found.into_iter().filter(|(event, _)| of_messages(&event.body));
    found.flat_map(|(_, audience)| people(view, &audience)).collect()
}

#[test]
fn changes_of_messages_are_for_those_who_listen() {
    let mut view = fixture::view();
    let message = sent(&view, 1);
    announced_to(&mut view, vec![Fact::Message(MessageFact::Sent { message, echo: None })]);
    let (id, conversation, messages) =
        (MessageId(1), ConversationId::Channel(VERONA), MessageRanges::from_sorted([MessageId(1)]));
    let reaction = Reaction {
        user: POLONIUS,
        emoji_name: "tada".into(),
        emoji_code: "1f389".into(),
        reaction_type: "unicode_emoji".into(),
    };
    let added = MessageFact::ReactionAdded { message: id, conversation, reaction };
    let movement = Movement {
        messages: messages.clone(),
        mode: PropagateMode::One,
        channel: VERONA,
        topic: "lunch".into(),
        new_channel: None,
        new_topic: Some(NewTopic { name: "dinner".into(), links: Vec::new() }),
        is_resolve: false,
    };
    let (by, movement) = (IAGO, Some(movement));
    let moved = MessageUpdate { target: id, by, at: START, conversation, edited: None, movement };
    let from = DeletedFrom::Topic { channel: VERONA, topic: "dinner".into() };
    let deleted = MessageFact::Deleted { from, messages, by: Some(IAGO) };
    for (fact, requester) in
        [(added, None), (MessageFact::Updated(Box::new(moved)), None), (deleted, Some(IAGO))]
    {
        let expected = BTreeSet::from_iter(requester.into_iter().chain([HAMLET]));
        assert_eq!(recipients_among(&mut view, &[HAMLET], Fact::Message(fact)), expected);
    }
}

#[test]
fn numbers_after_a_deletion_do_not_depend_on_who_listens() {
    let mut view = fixture::view();
    let message = sent(&view, 1);
    announced_to(&mut view, vec![Fact::Message(MessageFact::Sent { message, echo: None })]);
    let from = DeletedFrom::Topic { channel: VERONA, topic: "lunch".into() };
    let messages = MessageRanges::from_sorted([MessageId(1)]);
    let facts = vec![Fact::Message(MessageFact::Deleted { from, messages, by: Some(IAGO) })];
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
    let listening = Queues(Vec::new(), EventKinds::ALL);
    let (of_all, of_none) =
        (PreImages::of(&view, &frame, None), PreImages::of(&view, &frame, Some(&listening)));
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let last = |found: Vec<(Event, Audience)>| {
        found.last().map(|(event, _)| (event.number, EventBody::clone(&event.body)))
    };
    let narrowed = last(events(&view, &of_none, &frame, Some(&listening)));
    assert_eq!(narrowed, last(events(&view, &of_all, &frame, None)));
    assert!(matches!(narrowed, Some((_, EventBody::ChannelChanged { .. }))), "{narrowed:?}");
}

#[test]
fn organization_and_its_emoji_go_to_everyone_and_devices_to_their_owner() {
    let mut view = fixture::view();
    let mut realm = model::Realm::clone(view.directory.realm());
    realm.name = "New".into();
    let everyone = vec![IAGO, HAMLET, POLONIUS];
    let events = announced_to(&mut view, vec![Fact::Realm(RealmFact::Changed(Box::new(realm)))]);
    let [(EventBody::RealmChanged(_), to)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*to, everyone);
    let emoji = RealmEmoji {
        id: 1,
        name: "blob".into(),
        file: "1.png".into(),
        still: None,
        author: None,
        is_deactivated: false,
    };
    let fact = Fact::Picture(Box::new(PictureFact::EmojiSet(emoji)));
    let events = announced_to(&mut view, vec![fact]);
    let [(EventBody::RealmEmoji(_), to)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*to, everyone);
    let tokens = PushFact::TokensSet { user: HAMLET, tokens: Vec::new() };
    assert_eq!(announced_to(&mut view, vec![Fact::Push(Box::new(tokens))]), []);
}

#[test]
fn replayed_frames_have_the_events_that_they_had() {
    let mut view = fixture::view();
    let facts = vec![channel(&view, CORE, |record| record.invite_only = false)];
    let facts: Vec<Fact> = pre_images_fact(&view.directory, &facts).into_iter().chain(facts).collect();
    let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
    let before = PreImages::of(&view, &frame, None);
    view.apply(view.progress.sequence.next(), &frame).unwrap();
    let live = events(&view, &before, &frame, None);
    let mut replay = Replay::start(view.directory.clone(), frame.facts.iter());
    let replayed = replay.events(&view, Default::default(), &frame);
    let shown = |events: &[(Event, Audience)]| -> Vec<_> {
        events.iter().map(|(event, to)| (event.number, event.body.clone(), to.clone())).collect()
    };
    assert_eq!(shown(&replayed), shown(&live));
    assert!(!live.is_empty());
}
