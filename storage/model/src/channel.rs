//! Channels.

use crate::group::GroupSetting;
use crate::ids::{ChannelId, FolderId, RecipientId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Which topics a channel allows (api.md, Channel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TopicsPolicy {
    /// What the organization says.
    #[default]
    Inherit,
    /// Named topics and the empty one.
    AllowEmptyTopic,
    /// Named topics only.
    DisableEmptyTopic,
    /// Only the empty topic.
    EmptyTopicOnly,
}

impl TopicsPolicy {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inherit => "inherit",
            Self::AllowEmptyTopic => "allow_empty_topic",
            Self::DisableEmptyTopic => "disable_empty_topic",
            Self::EmptyTopicOnly => "empty_topic_only",
        }
    }

    /// The policy with a wire word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Inherit, Self::AllowEmptyTopic, Self::DisableEmptyTopic, Self::EmptyTopicOnly]
            .into_iter()
            .find(|policy| policy.word() == word)
    }
}

/// Who may do what in a channel; field = wire name without `can_` and `_group`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelPermissions {
    /// `can_add_subscribers_group`
    pub add_subscribers: GroupSetting,
    /// `can_administer_channel_group`
    pub administer_channel: GroupSetting,
    /// `can_delete_any_message_group`
    pub delete_any_message: GroupSetting,
    /// `can_delete_own_message_group`
    pub delete_own_message: GroupSetting,
    /// `can_move_messages_out_of_channel_group`
    pub move_messages_out_of_channel: GroupSetting,
    /// `can_move_messages_within_channel_group`
    pub move_messages_within_channel: GroupSetting,
    /// `can_remove_subscribers_group`
    pub remove_subscribers: GroupSetting,
    /// `can_resolve_topics_group`
    pub resolve_topics: GroupSetting,
    /// `can_send_message_group`
    pub send_message: GroupSetting,
    /// `can_subscribe_group`
    pub subscribe: GroupSetting,
}

impl ChannelPermissions {
    /// The same for everything.
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
}

/// A channel: who may read follows from its privacy and its subscriptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Unique in the organization.
    pub id: ChannelId,
    /// What `recipient_id` of its messages says.
    pub recipient: RecipientId,
    /// Unique without regard to case, archived channels included.
    pub name: String,
    /// Markdown source.
    pub description: String,
    /// HTML of the description.
    pub rendered_description: String,
    /// When it was created.
    pub created: Timestamp,
    /// Who created it, when known.
    pub creator: Option<UserId>,
    /// Private.
    pub invite_only: bool,
    /// Readable without an account.
    pub is_web_public: bool,
    /// New subscribers see what was sent before; false only for private channels (protected history).
    pub history_public_to_subscribers: bool,
    /// No longer in use; readable, not writable.
    pub is_archived: bool,
    /// Days until messages are deleted; none inherits, -1 is for ever.
    pub message_retention_days: Option<i32>,
    /// Which topics are allowed.
    pub topics_policy: TopicsPolicy,
    /// Folder it is shown in.
    pub folder: Option<FolderId>,
    /// Whether somebody wrote recently; clients hide inactive channels.
    pub is_recently_active: bool,
    /// Who may do what.
    pub permissions: ChannelPermissions,
}

impl Channel {
    /// A public channel, without a description, that somebody is about to write to.
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

/// A folder in which clients show channels together (companions.md 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFolder {
    /// Unique in the organization.
    pub id: FolderId,
    /// Unique without regard to case.
    pub name: String,
    /// Markdown source.
    pub description: String,
    /// HTML of the description.
    pub rendered_description: String,
    /// Where it stands among the folders; smaller is earlier.
    pub order: u32,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub creator: UserId,
    /// No longer in use.
    pub is_archived: bool,
}
