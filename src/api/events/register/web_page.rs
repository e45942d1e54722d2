//! The registration that the page of the web app contains: everything, with the capabilities of Zulip's own app.

use super::Register;
use super::fetch::Fetch;
use crate::api::subscriptions::include_subscribers::IncludeSubscribers;
use model::{ClientCapabilities, EventKinds, QueueOptions};

/// Days of presence that the app shows.
pub const PRESENCE_DAYS: u32 = 365;

/// What the app can handle.
const CAPABILITIES: ClientCapabilities = ClientCapabilities {
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: true,
    stream_typing_notifications: true,
    user_settings_object: true,
    linkifier_url_template: true,
    user_list_incomplete: true,
    include_deactivated_groups: true,
    archived_channels: true,
    empty_topic_name: true,
    simplified_presence_events: true,
};

impl Register {
    /// The registration of a page. `narrow` restricts the messages of its queue to one conversation.
    pub fn for_web_page(narrow: Vec<(String, String)>) -> Self {
        let options = QueueOptions {
            kinds: EventKinds::ALL,
            apply_markdown: true,
            client_gravatar: true,
            slim_presence: true,
            all_public_channels: false,
            narrow,
            capabilities: CAPABILITIES,
            idle_secs_max: 0,
        };
        Self {
            options,
            sets_all_public_channels: true,
            client_gravatar: Some(true),
            presence_history_limit_days: Some(PRESENCE_DAYS),
            include_subscribers: IncludeSubscribers::All,
            // The app takes channels from its subscriptions and from those it does not subscribe to.
            fetch: Fetch::all_without("stream"),
        }
    }
}
