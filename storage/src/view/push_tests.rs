//! Push devices, shown notifications and notification candidates persist, and can be removed.

use super::tests::World;
use model::push::{MISSED_MESSAGES_MAX, PushDevice, PushFact, PushStatus, PushToken, PushTokenKind};
use model::redacted::Redacted;
use model::{ChannelId, Fact, MessageId, SubscriptionFact, Timestamp, UserId, UserRanges, VisibilityPolicy};

fn push(fact: PushFact) -> Fact {
    Fact::Push(Box::new(fact))
}

fn device(status: PushStatus) -> PushDevice {
    PushDevice {
        account: 42,
        kind: PushTokenKind::Apns,
        key: Redacted([7; 32]),
        bouncer_public_key: "key".into(),
        registration: Redacted("sealed".into()),
        added: Timestamp(5),
        status,
    }
}

#[test]
fn push_devices_persist_and_can_be_removed() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let (user, other) = (UserId(1), UserId(2));
    let token = PushToken {
        kind: PushTokenKind::Fcm,
        token: Redacted("secret-token".into()),
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
        push(PushFact::NotificationCursorMoved(MessageId(3))),
    ]);
    let directory = &world.restart().directory;
    assert!(directory.has_phone(user));
    assert_eq!(directory.push_shown(user), [MessageId(2), MessageId(3)]);
    assert_eq!(directory.push_shown_to().collect::<Vec<_>>(), [user, other]);
    assert_eq!(directory.notification_cursor(), Some(MessageId(3)));
    world.run.frame(vec![
        push(PushFact::TokensSet { user: other, tokens: vec![] }),
        push(PushFact::DevicesSet { user, devices: vec![], changed: vec![] }),
        push(PushFact::Unshown { user, messages: vec![MessageId(2), MessageId(3)] }),
        push(PushFact::Unshown { user: other, messages: vec![MessageId(3)] }),
    ]);
    let after = world.restart().directory.clone();
    assert!(after.push_tokens(other).is_empty() && after.push_devices(user).is_empty());
    assert_eq!(after.push_shown_to().count(), 0);
    assert!(before.push_tokens(other).is_empty() && before.push_devices(user).is_empty());
}

#[test]
fn shown_notifications_are_bounded() {
    let mut world = World::new();
    let user = UserId(1);
    let shown = |id| push(PushFact::Shown { message: MessageId(id), users: vec![user] });
    world.run.frame((1..=250).map(shown).collect());
    let shown = world.restart().directory.push_shown(user).to_vec();
    assert_eq!((shown.len(), shown[0], shown[199]), (200, MessageId(51), MessageId(250)));
}

#[test]
fn followers_of_topics() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let channel = ChannelId(1);
    let set = |user, topic: &str, policy| {
        Fact::Subscription(SubscriptionFact::TopicPolicySet {
            users: vec![UserId(user)],
            channel,
            topic: topic.to_owned(),
            policy,
        })
    };
    world.run.frame(vec![
        set(1, "Tea", VisibilityPolicy::Followed),
        set(2, "TEA", VisibilityPolicy::Followed),
        set(3, "tea", VisibilityPolicy::Muted),
    ]);
    let followers =
        |world: &mut World| world.restart().directory.followers(channel, "tea").collect::<Vec<_>>();
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

#[test]
fn pending_mail_keeps_due_time_and_first_messages() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let (user, other) = (UserId(1), UserId(2));
    let noted = |id, users: &[UserId], due| {
        push(PushFact::MissedNoted { message: MessageId(id), users: users.to_vec(), due: Timestamp(due) })
    };
    world.run.frame(vec![
        noted(7, &[user, other], 300),
        noted(5, &[user], 100),
        noted(7, &[user], 400),
        noted(8, &[user], 400),
    ]);
    let directory = &world.restart().directory;
    let mail = directory.pending_mail(user).expect("one is pending");
    assert_eq!(
        (mail.due, &*mail.messages),
        (Timestamp(300), &[MessageId(5), MessageId(7), MessageId(8)][..])
    );
    world.run.frame(vec![push(PushFact::MissedDecided { users: vec![user] }), noted(9, &[user], 200)]);
    let directory = &world.restart().directory;
    let pending: Vec<_> = directory.pending_mails().collect();
    assert_eq!(pending, [(Timestamp(200), user), (Timestamp(300), other)]);
    world.run.frame((1000..2000).map(|id| noted(id, &[other], 500)).collect());
    let mail = world.restart().directory.pending_mail(other).expect("one is pending").clone();
    assert_eq!((mail.messages.len(), mail.messages[1]), (MISSED_MESSAGES_MAX, MessageId(1000)));
    world.run.frame(vec![push(PushFact::MissedDecided { users: vec![user, other] })]);
    let after = world.restart().directory.clone();
    assert_eq!(after.pending_mails().count(), 0);
    assert_eq!(after.pending_mail(user), before.pending_mail(user));
}

#[test]
fn message_that_many_missed_is_in_the_pending_mail_of_each() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let users = |ids: &[u32]| ids.iter().copied().map(UserId).collect::<Vec<_>>();
    let by_many = |id, ids: &[u32], due| {
        let users = UserRanges::from_sorted(users(ids));
        push(PushFact::MissedNotedByMany { message: MessageId(id), users, due: Timestamp(due) })
    };
    let own = PushFact::MissedNoted { message: MessageId(5), users: users(&[2]), due: Timestamp(400) };
    world.run.frame(vec![by_many(7, &[1, 2, 3], 300), push(own), by_many(9, &[2, 3, 9], 500)]);
    let directory = world.restart().directory.clone();
    let mail = |user| directory.pending_mail(UserId(user)).map(|mail| (mail.due.0, mail.messages));
    assert_eq!(mail(1), Some((300, vec![MessageId(7)])));
    assert_eq!(mail(2), Some((300, [5, 7, 9].map(MessageId).to_vec())), "the first due time counts");
    assert_eq!(mail(9), Some((500, vec![MessageId(9)])));
    assert_eq!(mail(4), None);
    let pending: Vec<_> = directory.pending_mails().map(|(due, user)| (due.0, user.0)).collect();
    assert_eq!(pending, [(300, 1), (300, 2), (300, 3), (400, 2), (500, 2), (500, 3), (500, 9)]);
    world.run.frame(vec![push(PushFact::MissedDecided { users: users(&[3, 1, 2]) })]);
    let pending: Vec<_> = world.restart().directory.pending_mails().collect();
    assert_eq!(pending, [(Timestamp(500), UserId(9))]);
    world.run.frame(vec![push(PushFact::MissedDecided { users: users(&[9]) })]);
    assert_eq!(world.restart().directory.missed_by_many().count(), 0);
    assert_eq!(world.run.view().directory, before);
}
