//! The content of push notifications: the JSON that is encrypted, and the two legacy forms that are not (the public
//! page "Mobile notifications" of the API, feature level 421).

use model::{Realm, Timestamp, UserId};
use serde_json::{Map, Value, json};

/// The account that a notification is for.
#[derive(Clone, Debug)]
pub struct Place {
    /// URL of the organization, without a slash at its end.
    pub realm_url: String,
    pub realm_name: String,
    pub realm_id: u32,
    pub user: UserId,
}

impl Place {
    /// The fields that identify the account.
    pub fn of(realm: &Realm, realm_url: String, user: UserId) -> Self {
        Self { realm_url, realm_name: realm.name.clone(), realm_id: realm.id.0, user }
    }

    fn sealed(&self, kind: &str) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("type".into(), kind.into());
        members.insert("realm_url".into(), self.realm_url.as_str().into());
        members.insert("realm_name".into(), self.realm_name.as_str().into());
        members.insert("user_id".into(), self.user.0.into());
        members
    }

    /// The common fields of legacy notifications.
    fn open(&self) -> Map<String, Value> {
        let host = self.realm_url.split_once("://").map_or(self.realm_url.as_str(), |(_, host)| host);
        let mut members = Map::new();
        members.insert("server".into(), host.into());
        members.insert("realm_id".into(), self.realm_id.into());
        members.insert("realm_uri".into(), self.realm_url.as_str().into());
        members.insert("realm_url".into(), self.realm_url.as_str().into());
        members.insert("realm_name".into(), self.realm_name.as_str().into());
        members.insert("user_id".into(), self.user.0.into());
        members
    }
}

/// A test notification, to be encrypted.
pub fn test_push(place: &Place, now: Timestamp) -> Value {
    let mut members = place.sealed("test");
    members.insert("time".into(), now.secs().into());
    Value::Object(members)
}

/// A legacy test notification; the push service adds the rest.
pub fn test_base(place: &Place) -> Value {
    Value::Object(place.open())
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
pub struct Note {
    pub message: u32,
    pub content: String,
    pub is_cut: bool,
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
pub fn message_push(place: &Place, note: &Note) -> Value {
    let mut members = place.sealed("message");
    members.insert("message_id".into(), note.message.into());
    members.insert("content".into(), note.content.as_str().into());
    members.insert("sender_id".into(), note.sender.into());
    members.insert("sender_full_name".into(), note.sender_name.as_str().into());
    members.insert("sender_avatar_url".into(), note.sender_avatar_url.as_str().into());
    members.insert("time".into(), note.sent.secs().into());
    match &note.conversation {
        Conversation::Channel { id, name, topic } => {
            members.insert("recipient_type".into(), "channel".into());
            members.insert("channel_id".into(), (*id).into());
            members.insert("channel_name".into(), name.as_str().into());
            members.insert("topic".into(), topic.as_str().into());
        }
        Conversation::Direct(people) => {
            members.insert("recipient_type".into(), "direct".into());
            if let Some(people) = group_of(people) {
                members.insert("pm_users".into(), people.into());
            }
        }
    }
    add_group(&mut members, note);
    Value::Object(members)
}

/// A removal of notifications, to be encrypted.
pub fn removal_push(place: &Place, messages: &[u32]) -> Value {
    let mut members = place.sealed("remove");
    members.insert("message_ids".into(), messages.into());
    Value::Object(members)
}

/// A legacy message notification for Google's and Apple's services. `badge` is the number on the app's icon.
pub fn open_message(place: &Place, note: &Note) -> (Value, Value) {
    let mut members = place.open();
    members.insert("sender_id".into(), note.sender.into());
    members.insert("sender_email".into(), note.sender_email.as_str().into());
    members.insert("time".into(), note.sent.secs().into());
    let title = match &note.conversation {
        Conversation::Channel { id, name, topic } => {
            members.insert("recipient_type".into(), "stream".into());
            members.insert("stream".into(), name.as_str().into());
            members.insert("stream_id".into(), (*id).into());
            members.insert("topic".into(), topic.as_str().into());
            format!("#{name} > {topic}")
        }
        Conversation::Direct(people) => {
            members.insert("recipient_type".into(), "private".into());
            if let Some(people) = group_of(people) {
                members.insert("pm_users".into(), people.into());
            }
            note.sender_name.clone()
        }
    };
    add_group(&mut members, note);
    let mut google = members.clone();
    google.insert("event".into(), "message".into());
    google.insert("zulip_message_id".into(), note.message.into());
    google.insert("content".into(), note.content.as_str().into());
    google.insert("content_truncated".into(), note.is_cut.into());
    google.insert("sender_full_name".into(), note.sender_name.as_str().into());
    google.insert("sender_avatar_url".into(), note.sender_avatar_url.as_str().into());
    members.insert("message_ids".into(), vec![note.message].into());
    let subtitle = match note.conversation {
        Conversation::Channel { .. } => format!("{}:", note.sender_name),
        Conversation::Direct(_) => String::new(),
    };
    let apple = json!({
        "alert": { "title": title, "subtitle": subtitle, "body": note.content },
        "sound": "default",
        "badge": 0,
        "custom": { "zulip": members },
    });
    (Value::Object(google), apple)
}

/// A legacy removal of notifications.
pub fn open_removal(place: &Place, messages: &[u32]) -> (Value, Value) {
    let list = messages.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut google = place.open();
    google.insert("event".into(), "remove".into());
    google.insert("zulip_message_ids".into(), list.as_str().into());
    google.insert("zulip_message_id".into(), messages.first().copied().unwrap_or_default().into());
    let mut apple = place.open();
    apple.insert("event".into(), "remove".into());
    apple.insert("zulip_message_ids".into(), list.into());
    (Value::Object(google), json!({ "badge": 0, "custom": { "zulip": apple } }))
}

/// The users of a group conversation, as older clients expect them.
fn group_of(people: &[u32]) -> Option<String> {
    (people.len() > 2).then(|| people.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

fn add_group(members: &mut Map<String, Value>, note: &Note) {
    if let Some((id, name)) = &note.group {
        members.insert("mentioned_user_group_id".into(), (*id).into());
        members.insert("mentioned_user_group_name".into(), name.as_str().into());
    }
}
