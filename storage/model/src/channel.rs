//! Channels.

use crate::group::GroupSetting;
use crate::ids::{ChannelId, FolderId, RecipientId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Which topics a channel allows (docs/api/topics.md#topics-policy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TopicsPolicy {
    /// The organization's setting applies.
    #[default]
    Inherit,
    AllowEmptyTopic,
    DisableEmptyTopic,
    EmptyTopicOnly,
}

impl TopicsPolicy {
    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inherit => "inherit",
            Self::AllowEmptyTopic => "allow_empty_topic",
            Self::DisableEmptyTopic => "disable_empty_topic",
            Self::EmptyTopicOnly => "empty_topic_only",
        }
    }

    /// The policy with an API value.
    pub fn from_name(word: &str) -> Option<Self> {
        [Self::Inherit, Self::AllowEmptyTopic, Self::DisableEmptyTopic, Self::EmptyTopicOnly]
            .into_iter()
            .find(|policy| policy.as_str() == word)
    }
}

/// Who may do what in a channel; field = wire name without `can_` and `_group`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelPermissions {
    pub add_subscribers: GroupSetting,
    pub administer_channel: GroupSetting,
    pub delete_any_message: GroupSetting,
    pub delete_own_message: GroupSetting,
    pub move_messages_out_of_channel: GroupSetting,
    pub move_messages_within_channel: GroupSetting,
    pub remove_subscribers: GroupSetting,
    pub resolve_topics: GroupSetting,
    pub send_message: GroupSetting,
    pub subscribe: GroupSetting,
}

impl ChannelPermissions {
    /// One value for all permissions of a channel.
    pub fn all(setting: GroupSetting) -> Self {
        Self {
            add_subscribers: setting.clone(),
            administer_channel: setting.clone(),
            delete_any_message: setting.clone(),
            delete_own_message: setting.clone(),
            move_messages_out_of_channel: setting.clone(),
            move_messages_within_channel: setting.clone(),
            remove_subscribers: setting.clone(),
            resolve_topics: setting.clone(),
            send_message: setting.clone(),
            subscribe: setting,
        }
    }

    /// The values of all permissions.
    pub fn values(&self) -> [&GroupSetting; 10] {
        let Self {
            add_subscribers,
            administer_channel,
            delete_any_message,
            delete_own_message,
            move_messages_out_of_channel,
            move_messages_within_channel,
            remove_subscribers,
            resolve_topics,
            send_message,
            subscribe,
        } = self;
        [
            add_subscribers,
            administer_channel,
            delete_any_message,
            delete_own_message,
            move_messages_out_of_channel,
            move_messages_within_channel,
            remove_subscribers,
            resolve_topics,
            send_message,
            subscribe,
        ]
    }

    /// Number of users and groups that all values list.
    pub fn listed_count(&self) -> usize {
        self.values().into_iter().map(GroupSetting::listed_count).sum()
    }
}

/// A channel: who may read follows from its privacy and its subscriptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub id: ChannelId,
    /// `recipient_id` of its messages.
    pub recipient: RecipientId,
    /// Unique without regard to case, archived channels included.
    pub name: String,
    /// Description as Markdown source.
    pub description: String,
    pub rendered_description: String,
    pub created: Timestamp,
    pub creator: Option<UserId>,
    /// Only invited users can subscribe (private channel).
    pub invite_only: bool,
    /// Readable without an account.
    pub is_web_public: bool,
    /// New subscribers can read earlier messages; false only for private channels (protected history).
    pub history_public_to_subscribers: bool,
    /// Read-only and hidden by clients.
    pub is_archived: bool,
    /// Days until messages are deleted; none inherits, -1 keeps them permanently.
    pub message_retention_days: Option<i32>,
    pub topics_policy: TopicsPolicy,
    pub folder: Option<FolderId>,
    /// Whether there were messages recently; clients hide inactive channels.
    pub is_recently_active: bool,
    pub permissions: ChannelPermissions,
}

impl Channel {
    /// A new public channel without a description.
    pub fn new(
        id: ChannelId,
        recipient: RecipientId,
        name: impl Into<String>,
        created: Timestamp,
        permissions: ChannelPermissions,
    ) -> Self {
        Self {
            id,
            recipient,
            name: name.into(),
            description: String::new(),
            rendered_description: String::new(),
            created,
            creator: None,
            invite_only: false,
            is_web_public: false,
            history_public_to_subscribers: true,
            is_archived: false,
            message_retention_days: None,
            topics_policy: TopicsPolicy::Inherit,
            folder: None,
            is_recently_active: true,
            permissions,
        }
    }
}

/// A folder in which clients group channels (docs/api/channels.md#channel-folders).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFolder {
    pub id: FolderId,
    /// Unique without regard to case.
    pub name: String,
    /// Description as Markdown source.
    pub description: String,
    pub rendered_description: String,
    /// Position among the folders; smaller is earlier.
    pub order: u32,
    pub created: Timestamp,
    pub creator: UserId,
    pub is_archived: bool,
}
