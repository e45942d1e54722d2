//! The content of push notifications: the JSON that is encrypted, and the two legacy forms that are not (the public
//! page "Mobile notifications" of the API, feature level 421).

use model::{Realm, Timestamp, UserId};
use serde_json::{Value, json};

/// The account that a notification is for.
#[derive(Clone, Debug)]
pub struct PushAccount {
    /// URL of the organization, without a slash at its end.
    pub realm_url: String,
    pub realm_name: String,
    pub realm_id: u32,
    pub user: UserId,
}

impl PushAccount {
    /// The fields that identify the account.
    pub fn of(realm: &Realm, realm_url: String, user: UserId) -> Self {
        Self { realm_url, realm_name: realm.name.clone(), realm_id: realm.id.0, user }
    }

    fn sealed(&self, kind: &str) -> Value {
        json!({
            "type": kind,
            "realm_url": self.realm_url,
            "realm_name": self.realm_name,
            "user_id": self.user.0,
        })
    }

    /// The common fields of legacy notifications.
    fn open(&self) -> Value {
        let host = self.realm_url.split_once("://").map_or(self.realm_url.as_str(), |(_, host)| host);
        json!({
            "server": host,
            "realm_id": self.realm_id,
            "realm_uri": self.realm_url,
            "realm_url": self.realm_url,
            "realm_name": self.realm_name,
            "user_id": self.user.0,
        })
    }
}

/// A test notification, to be encrypted.
pub fn test_push(account: &PushAccount, now: Timestamp) -> Value {
    let mut members = account.sealed("test");
    members["time"] = now.secs().into();
    members
}

/// A legacy test notification; the push service adds the rest.
pub fn test_base(account: &PushAccount) -> Value {
    account.open()
}

/// The conversation of a message.
#[derive(Clone, Debug)]
pub enum Conversation {
    Channel {
        id: u32,
        name: String,
        /// The topic; the empty one with its display name.
        topic: String,
    },
    /// A direct conversation: the ids of all users, ascending.
    Direct(Vec<u32>),
}

/// A message, as notifications show it.
#[derive(Clone, Debug)]
pub struct MessageNotification {
    pub message: u32,
    pub content: String,
    pub is_truncated: bool,
    pub sender: u32,
    pub sender_name: String,
    /// E-mail address of the sender that others see.
    pub sender_email: String,
    /// Complete URL of the sender's avatar.
    pub sender_avatar_url: String,
    pub sent: Timestamp,
    pub conversation: Conversation,
    /// The group whose mention caused the notification.
    pub group: Option<(u32, String)>,
}

/// A message notification, to be encrypted.
pub fn message_push(account: &PushAccount, notification: &MessageNotification) -> Value {
    let mut members = account.sealed("message");
    let own = json!({
        "message_id": notification.message,
        "content": notification.content,
        "sender_id": notification.sender,
        "sender_full_name": notification.sender_name,
        "sender_avatar_url": notification.sender_avatar_url,
        "time": notification.sent.secs(),
    });
    let conversation = match &notification.conversation {
        Conversation::Channel { id, name, topic } => json!({
            "recipient_type": "channel",
            "channel_id": id,
            "channel_name": name,
            "topic": topic,
        }),
        Conversation::Direct(_) => json!({ "recipient_type": "direct" }),
    };
    add(&mut members, own);
    add(&mut members, conversation);
    add_optional(&mut members, notification);
    members
}

/// A removal of notifications, to be encrypted.
pub fn removal_push(account: &PushAccount, messages: &[u32]) -> Value {
    let mut members = account.sealed("remove");
    members["message_ids"] = messages.into();
    members
}

/// A legacy message notification for Google's and Apple's services. `badge` is the number on the app's icon.
pub fn open_message(account: &PushAccount, notification: &MessageNotification) -> (Value, Value) {
    let mut members = account.open();
    let own = json!({ "sender_id": notification.sender, "sender_email": notification.sender_email, "time": notification.sent.secs() });
    let (conversation, title, subtitle) = match &notification.conversation {
        Conversation::Channel { id, name, topic } => (
            json!({ "recipient_type": "stream", "stream": name, "stream_id": id, "topic": topic }),
            format!("#{name} > {topic}"),
            format!("{}:", notification.sender_name),
        ),
        Conversation::Direct(_) => {
            (json!({ "recipient_type": "private" }), notification.sender_name.clone(), String::new())
        }
    };
    add(&mut members, own);
    add(&mut members, conversation);
    add_optional(&mut members, notification);
    let mut google = members.clone();
    let message = json!({
        "event": "message",
        "zulip_message_id": notification.message,
        "content": notification.content,
        "content_truncated": notification.is_truncated,
        "sender_full_name": notification.sender_name,
        "sender_avatar_url": notification.sender_avatar_url,
    });
    add(&mut google, message);
    members["message_ids"] = json!([notification.message]);
    let apple = json!({
        "alert": { "title": title, "subtitle": subtitle, "body": notification.content },
        "sound": "default",
        "badge": 0,
        "custom": { "zulip": members },
    });
    (google, apple)
}

/// A legacy removal of notifications.
pub fn open_removal(account: &PushAccount, messages: &[u32]) -> (Value, Value) {
    let mut apple = account.open();
    add(&mut apple, json!({ "event": "remove", "zulip_message_ids": comma_separated(messages) }));
    let mut google = apple.clone();
    google["zulip_message_id"] = messages.first().copied().unwrap_or_default().into();
    (google, json!({ "badge": 0, "custom": { "zulip": apple } }))
}

fn comma_separated(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// Adds the members of another object.
fn add(object: &mut Value, other: Value) {
    if let (Value::Object(members), Value::Object(other)) = (object, other) {
        members.extend(other);
    }
}

/// Adds the users of a group conversation, as older clients expect them, and the mentioned group.
fn add_optional(members: &mut Value, notification: &MessageNotification) {
    if let Conversation::Direct(people) = &notification.conversation
        && people.len() > 2
    {
        members["pm_users"] = comma_separated(people).into();
    }
    if let Some((id, name)) = &notification.group {
        add(members, json!({ "mentioned_user_group_id": id, "mentioned_user_group_name": name }));
    }
}
