//! Phones, what they show, and who may hear of a message: kept over a restart, gone when they are taken away.

use super::tests::World;
use model::push::{Hidden, PushDevice, PushFact, PushStatus, PushToken, PushTokenKind};
use model::{ChannelId, Fact, MessageId, Timestamp, TopicKey, UserId, VisibilityPolicy};

fn push(fact: PushFact) -> Fact {
    Fact::Push(Box::new(fact))
}

fn device(status: PushStatus) -> PushDevice {
    PushDevice {
        account: 42,
        kind: PushTokenKind::Apns,
        key: Hidden([7; 32]),
        bouncer_public_key: "key".into(),
        registration: Hidden("sealed".into()),
        added: Timestamp(5),
        status,
    }
}

#[test]
fn phones_outlive_a_restart_and_go_when_they_are_taken_away() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let (user, other) = (UserId(1), UserId(2));
    let token = PushToken {
        kind: PushTokenKind::Fcm,
        token: Hidden("secret-token".into()),
        app: None,
        added: Timestamp(5),
    };
    assert!(!format!("{token:?}{:?}", device(PushStatus::Pending)).contains("secret-token"));
    world.run.frame(vec![
        push(PushFact::TokensSet { user: other, tokens: vec![token] }),
        push(PushFact::DevicesSet { user, devices: vec![device(PushStatus::Pending)], changed: vec![42] }),
    ]);
    let directory = &world.restart().directory;
    assert!(!directory.has_phone(user), "the service does not know it yet");
    assert!(directory.has_phone(other));
    let active = vec![device(PushStatus::Active(9))];
    world.run.frame(vec![
        push(PushFact::DevicesSet { user, devices: active, changed: vec![42] }),
        push(PushFact::Shown { message: MessageId(3), users: vec![user, other] }),
        push(PushFact::Shown { message: MessageId(2), users: vec![user] }),
        push(PushFact::Shown { message: MessageId(3), users: vec![user] }),
        push(PushFact::NoticedUpTo(MessageId(3))),
    ]);
    let directory = &world.restart().directory;
    assert!(directory.has_phone(user));
    assert_eq!(directory.push_shown(user), [MessageId(2), MessageId(3)]);
    assert_eq!(directory.push_shown_to().collect::<Vec<_>>(), [user, other]);
    assert_eq!(directory.noticed_up_to(), Some(MessageId(3)));
    world.run.frame(vec![
        push(PushFact::TokensSet { user: other, tokens: vec![] }),
        push(PushFact::DevicesSet { user, devices: vec![], changed: vec![] }),
        push(PushFact::Unshown { user, messages: vec![MessageId(2), MessageId(3)] }),
        push(PushFact::Unshown { user: other, messages: vec![MessageId(3)] }),
    ]);
    let after = world.restart().directory.clone();
    assert_eq!(after.phone_owners().count(), 0);
    assert_eq!(after.push_shown_to().count(), 0);
    assert_eq!(before.phone_owners().count(), 0);
}

#[test]
fn phones_forget_the_oldest_that_they_show() {
    let mut world = World::new();
    let user = UserId(1);
    let shown = |id| push(PushFact::Shown { message: MessageId(id), users: vec![user] });
    world.run.frame((1..=250).map(shown).collect());
    let shown = world.restart().directory.push_shown(user).to_vec();
    assert_eq!((shown.len(), shown[0], shown[199]), (200, MessageId(51), MessageId(250)));
}

#[test]
fn topics_know_who_follows_them() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let (channel, key) = (ChannelId(1), TopicKey::new("tea"));
    let set = |user, topic: &str, policy| Fact::TopicPolicySet {
        user: UserId(user),
        channel,
        topic: topic.to_owned(),
        policy,
    };
    world.run.frame(vec![
        set(1, "Tea", VisibilityPolicy::Followed),
        set(2, "TEA", VisibilityPolicy::Followed),
        set(3, "tea", VisibilityPolicy::Muted),
    ]);
    let followers =
        |world: &mut World| world.restart().directory.followers(channel, &key).collect::<Vec<_>>();
    assert_eq!(followers(&mut world), [UserId(1), UserId(2)]);
    world.run.frame(vec![
        set(1, "tea", VisibilityPolicy::Muted),
        set(2, "tea", VisibilityPolicy::Inherit),
        set(1, "tea", VisibilityPolicy::Inherit),
        set(3, "tea", VisibilityPolicy::Inherit),
    ]);
    assert_eq!(followers(&mut world), [] as [UserId; 0]);
    assert_eq!(world.run.view().directory, before);
}
