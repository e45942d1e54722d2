//! A small organization for tests of encoded JSON.

use model::channel::ChannelPermissions;
use model::group::{GroupPermissions, SYSTEM_GROUPS};
use model::{
    Channel, ChannelId, DirectConversation, Directory, GroupId, GroupSetting, Message, MessageId, Place,
    Realm, RealmId, RecipientId, Role, SettingValue, Timestamp, User, UserGroup, UserId,
};

pub const IAGO: UserId = UserId(1);
/// Hides the e-mail address from everyone.
pub const CORDELIA: UserId = UserId(2);
pub const GUEST: UserId = UserId(3);
pub const VERONA: ChannelId = ChannelId(3);

fn user(id: UserId, name: &str, role: Role) -> User {
    User::new(id, format!("{}@zulip.com", name.to_lowercase()), name, role, Timestamp(0))
}

fn empty_setting() -> GroupSetting {
    GroupSetting::Anonymous { members: Vec::new(), subgroups: Vec::new() }
}

fn group(id: GroupId, name: &str) -> UserGroup {
    UserGroup { is_system: true, ..UserGroup::new(id, name, "", GroupPermissions::all(empty_setting())) }
}

pub fn channel(id: ChannelId, name: &str) -> Channel {
    Channel {
        creator: Some(IAGO),
        ..Channel::new(id, RecipientId(40), name, Timestamp(0), ChannelPermissions::all(empty_setting()))
    }
}

/// Three users, one channel, one direct conversation between the first two.
pub fn directory() -> Directory {
    let mut directory =
        Directory::new(Realm::new(RealmId(1), "zulip", "Zulip Dev", "zulip.test", Timestamp(0)));
    directory.put_user(user(IAGO, "Iago", Role::Administrator));
    let mut cordelia = user(CORDELIA, "Cordelia", Role::Member);
    cordelia.settings.insert("email_address_visibility".into(), SettingValue::Int(4));
    directory.put_user(cordelia);
    directory.put_user(user(GUEST, "Polonius", Role::Guest));
    for ((name, _), id) in SYSTEM_GROUPS.into_iter().zip(1..) {
        directory.put_group(group(GroupId(id), name));
    }
    let everyone = directory.group_by_name("role:everyone").map(|group| group.id).unwrap();
    directory.change_members(everyone, &[IAGO, CORDELIA, GUEST], &[]);
    directory.put_channel(channel(VERONA, "Verona"));
    directory.put_direct(DirectConversation { recipient: RecipientId(50), users: vec![IAGO, CORDELIA] });
    directory
}

/// Restricts guests to seeing users they share a conversation with.
pub fn restrict_guests(directory: &mut Directory) {
    let mut realm = Realm::clone(directory.realm());
    realm.settings.insert("can_access_all_users_group".into(), SettingValue::Group(empty_setting()));
    directory.put_realm(realm);
}

fn message(id: u32, recipient: u32, place: Place) -> Message {
    Message {
        content: "*hi*".into(),
        rendered: "<p>hi</p>".into(),
        client: "test".into(),
        ..Message::new(MessageId(id), IAGO, RecipientId(recipient), place, Timestamp(1_795_239_548_123))
    }
}

pub fn in_topic(id: u32, topic: &str) -> Message {
    message(id, 40, Place::Channel { channel: VERONA, topic: topic.into() })
}

pub fn direct(id: u32) -> Message {
    message(id, 50, Place::Direct)
}
