//! A small organization for the tests of every rule.

use crate::permissions;
use model::channel::ChannelPermissions;
use model::group::{GroupPermissions, SYSTEM_GROUPS};
use model::{
    Bot, BotKind, Channel, ChannelId, Directory, GroupId, GroupSetting, MessageId, Realm, RealmId,
    RecipientId, Role, SettingValue, Subscription, Timestamp, User, UserGroup, UserId,
};
use std::collections::BTreeSet;

pub const OWNER: UserId = UserId(1);
pub const ADMINISTRATOR: UserId = UserId(2);
pub const MODERATOR: UserId = UserId(3);
pub const MEMBER: UserId = UserId(4);
pub const OTHER_MEMBER: UserId = UserId(5);
pub const GUEST: UserId = UserId(6);
/// Owned by `MEMBER`.
pub const BOT: UserId = UserId(7);
pub const SYSTEM_BOT: UserId = UserId(8);
/// A deactivated member.
pub const FORMER: UserId = UserId(9);

pub const ALL_USERS: [UserId; 8] =
    [OWNER, ADMINISTRATOR, MODERATOR, MEMBER, OTHER_MEMBER, GUEST, BOT, SYSTEM_BOT];

pub fn realm() -> Realm {
    Realm::new(RealmId(1), "", "Test", "chat.example.org", Timestamp(0))
}

pub fn user(id: UserId, name: &str, role: Role) -> User {
    User::new(id, format!("{name}@example.org"), name, role, Timestamp(0))
}

pub fn member() -> User {
    user(MEMBER, "member", Role::Member)
}

pub fn group(name: &str) -> GroupSetting {
    let position = SYSTEM_GROUPS.iter().position(|(group, _)| *group == name).expect("a system group");
    GroupSetting::Group(GroupId(position as u32 + 1))
}

pub fn no_users() -> GroupSetting {
    group("role:nobody")
}

pub fn group_permissions() -> GroupPermissions {
    GroupPermissions::all(no_users())
}

pub fn channel(id: u32, name: &str) -> Channel {
    let permissions = ChannelPermissions {
        remove_subscribers: group("role:administrators"),
        send_message: group("role:everyone"),
        ..ChannelPermissions::all(no_users())
    };
    Channel::new(ChannelId(id), RecipientId(id), name, Timestamp(0), permissions)
}

/// The users above, in the groups of their roles. No channels.
pub fn directory() -> Directory {
    let mut dir = Directory::new(realm());
    let mut bot = user(BOT, "helper-bot", Role::Member);
    bot.bot = Some(Bot { kind: BotKind::Generic, owner: Some(MEMBER), is_system: false });
    let mut system = user(SYSTEM_BOT, "notification-bot", Role::Member);
    system.bot = Some(Bot { kind: BotKind::Generic, owner: None, is_system: true });
    let mut former = user(FORMER, "former", Role::Member);
    former.is_active = false;
    let users = [
        user(OWNER, "owner", Role::Owner),
        user(ADMINISTRATOR, "administrator", Role::Administrator),
        user(MODERATOR, "moderator", Role::Moderator),
        member(),
        user(OTHER_MEMBER, "other", Role::Member),
        user(GUEST, "guest", Role::Guest),
        bot,
        system,
        former,
    ];
    for (position, (name, description)) in SYSTEM_GROUPS.into_iter().enumerate() {
        let id = GroupId(position as u32 + 1);
        let is_nested = position > 1;
        let in_role = |user: &&User| {
            !user.is_system_bot()
                && permissions::roles::system_groups_of(user, 0, Timestamp(0)).contains(&name)
        };
        dir.put_group(UserGroup {
            is_system: true,
            members: users.iter().filter(in_role).map(|user| user.id).collect(),
            subgroups: if is_nested { BTreeSet::from([GroupId(id.0 - 1)]) } else { BTreeSet::new() },
            ..UserGroup::new(id, name, description, group_permissions())
        });
    }
    for user in users {
        dir.put_user(user);
    }
    dir
}

pub fn set_realm(dir: &mut Directory, name: &str, value: SettingValue) {
    let mut realm = Realm::clone(dir.realm());
    realm.settings.insert(name.to_owned(), value);
    dir.put_realm(realm);
}

/// Subscribes a user after message `after`.
pub fn subscribe(dir: &mut Directory, channel: u32, user: UserId, after: u32) {
    let subscription = Subscription::start("#76ce90".into(), MessageId(after));
    dir.put_subscription(ChannelId(channel), user, subscription);
}

/// Ends a subscription: `last` is the last message delivered.
pub fn unsubscribe(dir: &mut Directory, channel: u32, user: UserId, last: u32) {
    let mut subscription =
        Subscription::clone(dir.subscription(ChannelId(channel), user).expect("subscribed"));
    subscription.end(MessageId(last));
    dir.put_subscription(ChannelId(channel), user, subscription);
}

pub fn message(id: u32, sender: UserId, place: model::Place) -> model::Message {
    let recipient = place.channel().map_or(RecipientId(1000), |channel| RecipientId(channel.0));
    model::Message::new(MessageId(id), sender, recipient, place, Timestamp(0))
}

pub fn in_channel(channel: u32, topic: &str) -> model::Place {
    model::Place::Channel { channel: ChannelId(channel), topic: topic.to_owned() }
}
