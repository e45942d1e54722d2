//! The requested changes of a channel.

use crate::permissions::group_setting_change::ProposedChange;
use crate::settings::ChannelPermission;
use model::TopicsPolicy;
use serde_json::Value;

/// The parameters of a request; values as sent, unless noted.
#[derive(Clone, Debug, Default)]
pub struct ChannelUpdate {
    pub is_private: Option<bool>,
    pub is_web_public: Option<bool>,
    pub history_public_to_subscribers: Option<bool>,
    pub is_default: Option<bool>,
    pub topics_policy: Option<TopicsPolicy>,
    /// `message_retention_days`, not parsed.
    pub retention: Option<Value>,
    /// False unarchives the channel; true has no effect.
    pub is_archived: Option<bool>,
    /// Parsed by `names::parse_description`.
    pub description: Option<String>,
    pub new_name: Option<String>,
    /// An inner none removes the channel from its folder.
    pub folder: Option<Option<i64>>,
    pub permissions: Vec<(ChannelPermission, ProposedChange)>,
}
