//! What phones are told: the JSON that is sealed, and the two older forms that are not (endpoints.md 20; the public page
//! "Mobile notifications" of the API, as of feature level 421).

use model::{Realm, Timestamp, UserId};
use serde_json::{Map, Value, json};

/// Whose phone it is, and where.
#[derive(Clone, Debug)]
pub struct Place {
    /// The organization's address, without a slash at its end.
    pub realm_url: String,
    /// Its name.
    pub realm_name: String,
    /// Its number.
    pub realm_id: u32,
    /// Whose.
    pub user: UserId,
}

impl Place {
    /// The place of a user.
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

    /// What every notification of the older way begins with.
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

/// A test, sealed.
pub fn test_push(place: &Place, now: Timestamp) -> Value {
    let mut members = place.sealed("test");
    members.insert("time".into(), now.secs().into());
    Value::Object(members)
}

/// A test of the older way; the push service makes the rest of it.
pub fn test_base(place: &Place) -> Value {
    Value::Object(place.open())
}

/// Where a message is.
#[derive(Clone, Debug)]
pub enum Conversation {
    /// In a channel.
    Channel {
        /// The channel's number.
        id: u32,
        /// The channel's name.
        name: String,
        /// The topic, empty ones with their name for people.
        topic: String,
    },
    /// Between people, all of them, ascending.
    Direct(Vec<u32>),
}

/// A message as phones show it.
#[derive(Clone, Debug)]
pub struct Note {
    /// Its number.
    pub message: u32,
    /// Its text.
    pub content: String,
    /// Whether that is not all of it.
    pub is_cut: bool,
    /// Who wrote it.
    pub sender: u32,
    /// Their name.
    pub sender_name: String,
    /// Their address that others see.
    pub sender_email: String,
    /// Their picture, as a whole address.
    pub sender_avatar_url: String,
    /// When.
    pub sent: Timestamp,
    /// Where.
    pub conversation: Conversation,
    /// The group by which the reader was mentioned, if that is why they are told.
    pub group: Option<(u32, String)>,
}

/// A message, sealed.
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

/// What phones should no longer show, sealed.
pub fn removal_push(place: &Place, messages: &[u32]) -> Value {
    let mut members = place.sealed("remove");
    members.insert("message_ids".into(), messages.into());
    Value::Object(members)
}

/// A message in the forms of the older way: Google's and Apple's. `badge` is what stands on the app's icon.
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

/// What phones should no longer show, in the forms of the older way.
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

/// All of a conversation of more than two, as older clients want it.
fn group_of(people: &[u32]) -> Option<String> {
    (people.len() > 2).then(|| people.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

fn add_group(members: &mut Map<String, Value>, note: &Note) {
    if let Some((id, name)) = &note.group {
        members.insert("mentioned_user_group_id".into(), (*id).into());
        members.insert("mentioned_user_group_name".into(), name.as_str().into());
    }
}
