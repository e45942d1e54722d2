use super::*;
use crate::group::{GroupPermissions, GroupSetting};
use crate::ids::{MessageId, RealmId};
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
