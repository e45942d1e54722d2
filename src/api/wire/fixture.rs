//! A small organization for tests of what is written.

use model::channel::ChannelPermissions;
use model::group::{GroupPermissions, SYSTEM_GROUPS};
use model::message::MessageTraits;
use model::{
    Channel, ChannelId, DirectConversation, Directory, GroupId, GroupSetting, Message, MessageId, Place,
    Realm, RealmId, RecipientId, Role, SettingValue, Timestamp, TopicsPolicy, User, UserGroup, UserId,
};

pub const IAGO: UserId = UserId(1);
/// Hides the address.
pub const CORDELIA: UserId = UserId(2);
pub const GUEST: UserId = UserId(3);
pub const VERONA: ChannelId = ChannelId(3);

fn user(id: UserId, name: &str, role: Role) -> User {
    User {
        id,
        delivery_email: format!("{}@zulip.com", name.to_lowercase()),
        full_name: name.into(),
        role,
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

fn nobody() -> GroupSetting {
    GroupSetting::Anonymous { members: Vec::new(), subgroups: Vec::new() }
}

fn group(id: GroupId, name: &str) -> UserGroup {
    UserGroup {
        id,
        name: name.into(),
        description: String::new(),
        is_system: true,
        is_deactivated: false,
        creator: None,
        created: None,
        members: Default::default(),
        subgroups: Default::default(),
        permissions: GroupPermissions {
            add_members: nobody(),
            join: nobody(),
            leave: nobody(),
            manage: nobody(),
            mention: nobody(),
            remove_members: nobody(),
        },
    }
}

pub fn channel(id: ChannelId, name: &str) -> Channel {
    Channel {
        id,
        recipient: RecipientId(40),
        name: name.into(),
        description: String::new(),
        rendered_description: String::new(),
        created: Timestamp(0),
        creator: Some(IAGO),
        invite_only: false,
        is_web_public: false,
        history_public_to_subscribers: true,
        is_archived: false,
        message_retention_days: None,
        topics_policy: TopicsPolicy::Inherit,
        folder: None,
        is_recently_active: true,
        permissions: ChannelPermissions {
            add_subscribers: nobody(),
            administer_channel: nobody(),
            delete_any_message: nobody(),
            delete_own_message: nobody(),
            move_messages_out_of_channel: nobody(),
            move_messages_within_channel: nobody(),
            remove_subscribers: nobody(),
            resolve_topics: nobody(),
            send_message: nobody(),
            subscribe: nobody(),
        },
    }
}

/// Three people, one channel, one conversation between the first two.
pub fn directory() -> Directory {
    let mut directory = Directory::new(Realm {
        id: RealmId(1),
        subdomain: "zulip".into(),
        name: "Zulip Dev".into(),
        description: String::new(),
        email_domain: "zulip.test".into(),
        created: Timestamp(0),
        is_active: true,
        settings: Default::default(),
        default_channels: Vec::new(),
    });
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

/// Guests know only of people they meet.
pub fn restrict_guests(directory: &mut Directory) {
    let mut realm = Realm::clone(directory.realm());
    realm.settings.insert("can_access_all_users_group".into(), SettingValue::Group(nobody()));
    directory.put_realm(realm);
}

fn message(id: u32, recipient: u32, place: Place) -> Message {
    Message {
        id: MessageId(id),
        sender: IAGO,
        recipient: RecipientId(recipient),
        place,
        sent: Timestamp(1_795_239_548_123),
        content: "*hi*".into(),
        rendered: "<p>hi</p>".into(),
        client: "test".into(),
        traits: MessageTraits::default(),
        user_flags: Vec::new(),
        topic_links: Vec::new(),
        edits: Vec::new(),
        last_edited: None,
        last_moved: None,
        reactions: Vec::new(),
        submessages: Vec::new(),
    }
}

pub fn in_topic(id: u32, topic: &str) -> Message {
    message(id, 40, Place::Channel { channel: VERONA, topic: topic.into() })
}

pub fn direct(id: u32) -> Message {
    message(id, 50, Place::Direct)
}
