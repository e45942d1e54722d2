//! Event queues as clients registered them.

use crate::event_kind::EventKinds;
use crate::ids::{EventNumber, QueueId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The capabilities that a client declares. False if it does not mention one (docs/api/events.md#client-capabilities).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientCapabilities {
    /// Accepts null for notification settings of subscriptions.
    pub notification_settings_null: bool,
    /// Accepts `message_ids` in `delete_message`.
    pub bulk_message_deletion: bool,
    /// Accepts users without `avatar_url`.
    pub user_avatar_url_field_optional: bool,
    /// Wants typing events of channels.
    pub stream_typing_notifications: bool,
    /// Knows the `user_settings` object and events.
    pub user_settings_object: bool,
    /// Knows linkifiers with `url_template`.
    pub linkifier_url_template: bool,
    /// Accepts user lists without the users that the owner may not see.
    pub user_list_incomplete: bool,
    /// Knows deactivated groups.
    pub include_deactivated_groups: bool,
    /// Knows archived channels.
    pub archived_channels: bool,
    /// Knows the empty topic; other clients get its display name.
    pub empty_topic_name: bool,
    /// Wants presence events in the modern form.
    pub simplified_presence_events: bool,
}

/// The events that a queue delivers, and their form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueOptions {
    pub kinds: EventKinds,
    /// Messages as HTML (true) or Markdown.
    pub apply_markdown: bool,
    /// The client computes Gravatar URLs itself.
    pub client_gravatar: bool,
    /// Leave e-mail addresses out of presence events.
    pub slim_presence: bool,
    /// Include messages of public channels that the user is not subscribed to.
    pub all_public_channels: bool,
    /// Deliver only messages that match; pairs of operator and operand as registered.
    pub narrow: Vec<(String, String)>,
    pub capabilities: ClientCapabilities,
    /// Seconds without a poll after which the queue expires.
    pub idle_secs_max: u32,
}

/// A registered queue, stored so that it survives a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRecord {
    /// Random name, hard to guess.
    pub id: QueueId,
    pub user: UserId,
    pub registered: Timestamp,
    /// It delivers events with greater numbers.
    pub after: EventNumber,
    pub options: QueueOptions,
}
