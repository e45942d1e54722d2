use super::*;
use crate::group::{GroupPermissions, GroupSetting};
use crate::ids::{MessageId, RealmId};
use crate::time::Timestamp;

pub fn directory() -> Directory {
    Directory::new(Realm {
        id: RealmId(1),
        subdomain: String::new(),
        name: "Test".into(),
        description: String::new(),
        email_domain: "chat.example".into(),
        created: Timestamp(0),
        is_active: true,
        settings: Default::default(),
        default_channels: Vec::new(),
    })
}

fn user(id: u32, email: &str, name: &str) -> User {
    User {
        id: UserId(id),
        delivery_email: email.into(),
        full_name: name.into(),
        role: crate::Role::Member,
        is_active: true,
        bot: None,
        joined: Timestamp(0),
        timezone: String::new(),
        avatar_version: 1,
        password_hash: None,
        api_key_rotation: 0,
        settings: Default::default(),
        profile_data: Default::default(),
    }
}

pub fn group(id: u32, members: &[u32], subgroups: &[u32]) -> UserGroup {
    let nobody = GroupSetting::Group(GroupId(99));
    UserGroup {
        id: GroupId(id),
        name: format!("group {id}"),
        description: String::new(),
        is_system: false,
        is_deactivated: false,
        creator: None,
        created: None,
        members: members.iter().map(|id| UserId(*id)).collect(),
        subgroups: subgroups.iter().map(|id| GroupId(*id)).collect(),
        permissions: GroupPermissions {
            add_members: nobody.clone(),
            join: nobody.clone(),
            leave: nobody.clone(),
            manage: nobody.clone(),
            mention: nobody.clone(),
            remove_members: nobody,
        },
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
