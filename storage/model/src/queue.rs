//! Event queues: what a client registered for.

use crate::event::EventKinds;
use crate::ids::{EventNumber, QueueId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What a client says it can handle (companions.md 2). Absent means false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientCapabilities {
    /// Null notification booleans in subscriptions.
    pub notification_settings_null: bool,
    /// `message_ids` in delete_message.
    pub bulk_message_deletion: bool,
    /// Users without `avatar_url`.
    pub user_avatar_url_field_optional: bool,
    /// Typing events of channels.
    pub stream_typing_notifications: bool,
    /// `user_settings`.
    pub user_settings_object: bool,
    /// Linkifiers with `url_template`.
    pub linkifier_url_template: bool,
    /// User lists without those the user cannot see.
    pub user_list_incomplete: bool,
    /// Deactivated groups.
    pub include_deactivated_groups: bool,
    /// Archived channels.
    pub archived_channels: bool,
    /// The empty topic as such.
    pub empty_topic_name: bool,
    /// Presence events in the modern form.
    pub simplified_presence_events: bool,
}

/// What a queue delivers, and in which form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueOptions {
    /// Which types of events.
    pub kinds: EventKinds,
    /// Messages as HTML (true) or Markdown.
    pub apply_markdown: bool,
    /// Avatars may be computed by the client.
    pub client_gravatar: bool,
    /// Presence without addresses.
    pub slim_presence: bool,
    /// Also messages of public channels that the user does not subscribe to.
    pub all_public_channels: bool,
    /// Only messages that match; pairs of operator and operand as registered.
    pub narrow: Vec<(String, String)>,
    /// What the client can handle.
    pub capabilities: ClientCapabilities,
    /// Seconds without a poll after which the queue ends.
    pub idle_secs_max: u32,
}

/// A registered queue, kept so that it survives a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRecord {
    /// Its name; hard to guess.
    pub id: QueueId,
    /// Whose.
    pub user: UserId,
    /// Since when.
    pub registered: Timestamp,
    /// It delivers events with greater numbers.
    pub after: EventNumber,
    /// What it delivers.
    pub options: QueueOptions,
}
