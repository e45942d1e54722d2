use super::*;
use crate::group::{GroupPermissions, GroupSetting};
use crate::ids::{InvitationId, MessageId, RealmId};
use crate::invitation::{Invitation, InvitationState};
use crate::time::Timestamp;

pub fn directory() -> Directory {
    Directory::new(Realm::new(RealmId(1), "", "Test", "chat.example", Timestamp(0)))
}

fn user(id: u32, email: &str, name: &str) -> User {
    User::new(UserId(id), email, name, crate::Role::Member, Timestamp(0))
}

pub fn group(id: u32, members: &[u32], subgroups: &[u32]) -> UserGroup {
    let setting = GroupSetting::Group(GroupId(99));
    UserGroup {
        members: members.iter().map(|id| UserId(*id)).collect(),
        subgroups: subgroups.iter().map(|id| GroupId(*id)).collect(),
        ..UserGroup::new(GroupId(id), format!("group {id}"), "", GroupPermissions::all(setting))
    }
}

#[test]
fn people_are_found_by_both_addresses_and_by_name() {
    let mut directory = directory();
    directory.put_user(user(7, "Ada@Example.org", "Ada Byron"));
    assert_eq!(directory.user_by_email("ada@example.ORG").map(|u| u.id), Some(UserId(7)));
    assert_eq!(directory.user_by_email("user7@chat.example").map(|u| u.id), Some(UserId(7)));
    directory.put_user(user(7, "new@example.org", "Ada King"));
    assert!(directory.user_by_email("ada@example.org").is_none());
    assert_eq!(directory.users_by_name("ada byron").count(), 0);
    assert_eq!(directory.users_by_name("ada king").count(), 1);
}

#[test]
fn guests_and_bots_are_listed_as_their_records_say() {
    let mut directory = directory();
    let ids = |users: Vec<&Arc<User>>| users.into_iter().map(|user| user.id.0).collect::<Vec<_>>();
    let guest = User { role: crate::Role::Guest, ..user(8, "b@example.org", "B") };
    let bot = crate::Bot { kind: crate::BotKind::Generic, owner: Some(UserId(7)), is_system: false };
    directory.put_user(user(7, "a@example.org", "A"));
    directory.put_user(guest.clone());
    directory.put_user(User { bot: Some(bot), ..user(9, "c@example.org", "C") });
    assert_eq!(ids(directory.guests().collect()), [8]);
    assert_eq!(ids(directory.bots_of(UserId(7)).collect()), [9]);
    directory.put_user(User { is_active: false, ..guest.clone() });
    assert_eq!(ids(directory.guests().collect()), [8], "deactivated ones are included");
    directory.put_user(User { role: crate::Role::Member, ..guest });
    assert_eq!(directory.guests().count(), 0);
}

#[test]
fn subscriber_counts_follow_the_records() {
    let mut directory = directory();
    directory.put_user(user(7, "a@example.org", "A"));
    let mut subscription = Subscription::start("#76ce90".into(), MessageId(0));
    directory.put_subscription(ChannelId(1), UserId(7), subscription.clone());
    directory.put_subscription(ChannelId(1), UserId(7), subscription.clone());
    assert_eq!(directory.subscriber_count(ChannelId(1)), 1);
    subscription.end(MessageId(5));
    directory.put_subscription(ChannelId(1), UserId(7), subscription);
    assert_eq!(directory.subscriber_count(ChannelId(1)), 0);
    assert_eq!(directory.subscriptions_of_user(UserId(7)).count(), 1);
}

#[test]
fn a_clone_is_a_snapshot() {
    let mut directory = directory();
    directory.put_user(user(7, "a@example.org", "A"));
    let before = directory.clone();
    directory.put_user(user(8, "b@example.org", "B"));
    assert_eq!(before.users().count(), 1);
    assert_eq!(directory.users().count(), 2);
}

#[test]
fn current_subscribers_come_with_their_accounts() {
    let mut directory = directory();
    for id in 1..=100 {
        directory.put_user(user(id, &format!("u{id}@example.org"), "U"));
    }
    let subscription = Subscription::start("#76ce90".into(), MessageId(0));
    let mut ended = subscription.clone();
    ended.end(MessageId(5));
    let subscribe = |directory: &mut Directory, channel: u32, ids: &[u32]| {
        for id in ids {
            directory.put_subscription(ChannelId(channel), UserId(*id), subscription.clone());
        }
    };
    // In a few look-ups, in one pass over all accounts, and with a subscriber who has no account.
    subscribe(&mut directory, 1, &[3, 50, 100]);
    subscribe(&mut directory, 2, &(2..=99).collect::<Vec<_>>());
    subscribe(&mut directory, 2, &[777]);
    directory.put_user(User { is_active: false, ..user(50, "u50@example.org", "U") });
    directory.put_subscription(ChannelId(2), UserId(51), ended);
    let ids = |channel| directory.subscriber_ids(ChannelId(channel)).map(|id| id.0).collect::<Vec<_>>();
    assert_eq!(ids(1), [3, 100]);
    assert_eq!(ids(2), (2..=99).filter(|id| ![50, 51].contains(id)).collect::<Vec<_>>());
    assert_eq!(ids(3), [0; 0]);
    for (user, own) in directory.active_subscribers(ChannelId(2)) {
        assert_eq!(directory.subscription(ChannelId(2), user.id), Some(own));
    }
}

#[test]
fn changes_are_seen_where_they_are() {
    let mut directory = directory();
    directory.put_user(user(7, "a@example.org", "A"));
    let subscription = Subscription::start("#76ce90".into(), MessageId(0));
    directory.put_subscription(ChannelId(1), UserId(7), subscription.clone());
    let before = directory.clone();
    directory.put_subscription(ChannelId(2), UserId(7), subscription);
    assert!(!directory.has_same_subscriptions_as(&before) && directory.has_same_statuses_as(&before));
    assert!(directory.has_same_subscribers_as(&before, ChannelId(1)));
    assert!(!directory.has_same_subscribers_as(&before, ChannelId(2)));
    assert!(directory.has_same_subscribers_as(&before, ChannelId(3)));
    directory.put_status(UserId(7), Some(crate::UserStatus { text: "here".to_owned(), emoji: None }));
    assert!(!directory.has_same_statuses_as(&before));
}

#[test]
fn invitations_are_listed_while_they_are_not_over() {
    let mut directory = directory();
    let first = Invitation {
        id: InvitationId(1),
        address: None,
        inviter: UserId(7),
        role: crate::Role::Member,
        channels: Vec::new(),
        groups: Vec::new(),
        includes_default_channels: false,
        notifies_inviter: false,
        welcome_text: None,
        sent: Timestamp(0),
        expires: None,
        state: InvitationState::Pending,
        has_expired: false,
    };
    let listed = |directory: &Directory| {
        let pending: Vec<u32> = directory.pending_invitations().map(|one| one.id.0).collect();
        let unexpired: Vec<u32> = directory.unexpired_invitations().map(|one| one.id.0).collect();
        (pending, unexpired)
    };
    directory.put_invitation(first.clone());
    directory.put_invitation(Invitation { id: InvitationId(2), ..first.clone() });
    assert_eq!(listed(&directory), (vec![1, 2], vec![1, 2]));
    let expired = Invitation { has_expired: true, ..first.clone() };
    directory.put_invitation(expired.clone());
    assert_eq!(listed(&directory), (vec![1, 2], vec![2]));
    // Sent again.
    directory.put_invitation(first.clone());
    assert_eq!(listed(&directory), (vec![1, 2], vec![1, 2]));
    directory.put_invitation(Invitation { state: InvitationState::Revoked, ..expired });
    directory.put_invitation(Invitation {
        id: InvitationId(2),
        state: InvitationState::Used(UserId(7)),
        ..first
    });
    assert_eq!(listed(&directory), (Vec::new(), Vec::new()));
    assert_eq!(directory.invitations().count(), 2);
    assert_eq!(directory.next_invitation(), InvitationId(3));
}

#[test]
fn alert_words_have_the_index_that_fresh_records_have() {
    let words = ["Deploy", "deploy ", "on call", "É", " ", "x"].map(str::to_owned);
    let mut changed = directory();
    for step in 0..300 {
        let user = UserId(step % 5);
        // Each step another choice of the words.
        let own = words.iter().enumerate().filter(|(bit, _)| ((step * 7) >> bit) & 1 == 1);
        changed.put_alert_words(user, own.map(|(_, word)| word.clone()).collect());
        let mut fresh = directory();
        for user in (0..5).map(UserId) {
            fresh.put_alert_words(user, changed.alert_words(user).to_vec());
        }
        assert_eq!(changed.personal, fresh.personal);
    }
    for user in (0..5).map(UserId) {
        changed.put_alert_words(user, Vec::new());
    }
    assert!(!changed.has_alert_words());
    changed.put_alert_words(UserId(1), vec!["Deploy ".into(), " DEPLOY".into()]);
    changed.put_alert_words(UserId(2), vec!["deploy".into(), "on call".into()]);
    let (word, users) = changed.last_alert_word_until("deployed").expect("a word before it");
    assert_eq!((word, users.iter().copied().collect::<Vec<_>>()), ("deploy", vec![UserId(1), UserId(2)]));
    assert!(changed.last_alert_word_until("dep").is_none());
}
