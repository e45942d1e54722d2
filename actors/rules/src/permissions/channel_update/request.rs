//! What a change of a channel asks for.

use crate::permissions::group_setting_change::ProposedChange;
use crate::settings::ChannelPermission;
use model::TopicsPolicy;
use serde_json::Value;

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub struct ChannelUpdate {
    /// `is_private`
    pub is_private: Option<bool>,
    /// `is_web_public`
    pub is_web_public: Option<bool>,
    /// `history_public_to_subscribers`
    pub history_public_to_subscribers: Option<bool>,
    /// `is_default_stream`
    pub is_default: Option<bool>,
    /// `topics_policy`
    pub topics_policy: Option<TopicsPolicy>,
    /// `message_retention_days`, as sent.
    pub retention: Option<Value>,
    /// `is_archived`; only false means something.
    pub is_archived: Option<bool>,
    /// `description`, as `names::parse_description` gives it.
    pub description: Option<String>,
    /// `new_name`, as sent.
    pub new_name: Option<String>,
    /// `folder_id`; none in it takes the channel out of its folder.
    pub folder: Option<Option<i64>>,
    /// The permissions by name.
    pub permissions: Vec<(ChannelPermission, ProposedChange)>,
}
