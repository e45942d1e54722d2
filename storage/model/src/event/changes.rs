//! What events say about things that changed: one value for each property, with nothing left to look up.

use super::EventKind;
use crate::bot::WebhookService;
use crate::channel::TopicsPolicy;
use crate::group::GroupSetting;
use crate::ids::{ChannelId, FolderId, MessageId, ProfileFieldId, UserId};
use crate::message::{PropagateMode, TopicLink};
use crate::personal::StatusEmoji;
use crate::profile_field::ProfileValue;
use crate::setting::SettingValue;
use crate::time::Timestamp;
use crate::user::Role;
use std::sync::Arc;

/// What one request did to a message and, by moving, perhaps to others (events.md 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageChange {
    /// Who did it.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
    /// The message that the request was about.
    pub target: MessageId,
    /// All that changed, ascending.
    pub messages: Vec<MessageId>,
    /// Where they were, for channel messages: id and name.
    pub channel: Option<(ChannelId, String)>,
    /// How they were moved.
    pub movement: Option<MovedMessages>,
    /// What the target says now.
    pub content: Option<ChangedContent>,
}

/// Where messages went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedMessages {
    /// What was asked for.
    pub mode: PropagateMode,
    /// The topic before.
    pub topic: String,
    /// Another channel.
    pub new_channel: Option<ChannelId>,
    /// Another topic, with the links in its name.
    pub new_topic: Option<(String, Vec<TopicLink>)>,
}

/// A message's content before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedContent {
    /// Markdown before.
    pub orig_content: String,
    /// HTML before.
    pub orig_rendered: String,
    /// Markdown.
    pub content: String,
    /// HTML.
    pub rendered: String,
    /// Starts with `/me `.
    pub is_me: bool,
}

/// One property of a channel that changed, with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelChange {
    /// `name`
    Name(String),
    /// `description`
    Description {
        /// Markdown.
        text: String,
        /// HTML.
        rendered: String,
    },
    /// `invite_only`, with what belongs to it.
    Privacy {
        /// Private.
        invite_only: bool,
        /// Readable without an account.
        is_web_public: bool,
        /// New subscribers see what was sent before.
        history_public_to_subscribers: bool,
    },
    /// `message_retention_days`
    Retention(Option<i32>),
    /// `topics_policy`
    TopicsPolicy(TopicsPolicy),
    /// `folder_id`
    Folder(Option<FolderId>),
    /// A permission by its wire name.
    Permission(&'static str, GroupSetting),
    /// `stream_post_policy`, for older clients.
    PostPolicy(u8),
    /// `is_announcement_only`, for older clients.
    AnnouncementOnly(bool),
    /// `is_archived`
    Archived(bool),
    /// `is_recently_active`
    Activity(bool),
    /// `first_message_id`
    FirstMessage(Option<MessageId>),
}

/// One property of a subscription that changed, with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptionChange {
    /// `color`
    Color(String),
    /// `is_muted`
    IsMuted(bool),
    /// `in_home_view`, the older name of the opposite.
    InHomeView(bool),
    /// `pin_to_top`
    PinToTop(bool),
    /// A notification by its wire name; none inherits.
    Notification {
        /// Wire name of the property.
        name: &'static str,
        /// Wire name of the personal setting that it inherits from.
        inherits: &'static str,
        /// The value.
        value: Option<bool>,
    },
}

/// What changed about a folder of channels; absent is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderChange {
    /// Its name.
    pub name: Option<String>,
    /// Its description: Markdown and HTML.
    pub description: Option<(String, String)>,
    /// In use or not.
    pub is_archived: Option<bool>,
}

/// What changed about a group but for its members; absent is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupChange {
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Usable or not.
    pub is_deactivated: Option<bool>,
    /// Permissions by wire name.
    pub permissions: Vec<(&'static str, GroupSetting)>,
}

/// What changed about a person or bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// `full_name`
    FullName(String),
    /// `role`
    Role(Role),
    /// `is_active`
    IsActive(bool),
    /// `delivery_email`; none is hidden from the reader.
    DeliveryEmail(Option<String>),
    /// `new_email`: the address by which the API knows the user.
    Email(String),
    /// `timezone`, with that address.
    Timezone(String),
    /// `bot_owner_id`
    BotOwner(Option<UserId>),
    /// `avatar_url` and what belongs to it.
    Avatar {
        /// Where the small picture is.
        url: String,
        /// Where the larger one is.
        medium_url: String,
        /// Wire word for where it comes from.
        source: &'static str,
        /// Counts changes.
        version: u32,
    },
    /// `custom_profile_field`; none was taken away.
    ProfileValue(ProfileFieldId, Option<ProfileValue>),
}

/// What changed about a bot, for those who look after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotChange {
    /// `full_name`
    FullName(String),
    /// `email`
    Email(String),
    /// `is_active`
    IsActive(bool),
    /// `api_key`: another one. The key itself is derived where the event is written.
    ApiKey,
    /// `avatar_url`
    Avatar,
    /// `owner_id`
    Owner(Option<UserId>),
    /// `default_sending_stream`
    SendingChannel(Option<ChannelId>),
    /// `default_events_register_stream`
    RegisterChannel(Option<ChannelId>),
    /// `default_all_public_streams`
    AllPublicChannels(bool),
    /// `services`
    Service(Option<WebhookService>),
}

/// What changed of what somebody says about themselves; absent is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusChange {
    /// Whether they hide their presence.
    pub away: Option<bool>,
    /// The text, empty for none.
    pub text: Option<String>,
    /// The emoji; a none within for none.
    pub emoji: Option<Option<StatusEmoji>>,
}

/// In which form a client is told of its user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingForm {
    /// `user_settings`
    Modern,
    /// `update_display_settings`, for clients without the capability `user_settings_object`.
    Display,
    /// `update_global_notifications`, likewise.
    Notifications,
}

impl SettingForm {
    /// The type of its events.
    pub fn kind(self) -> EventKind {
        match self {
            Self::Modern => EventKind::UserSettings,
            Self::Display => EventKind::DisplaySettings,
            Self::Notifications => EventKind::GlobalNotifications,
        }
    }
}

/// A personal setting that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Wire name.
    pub name: &'static str,
    /// The new value.
    pub value: SettingValue,
    /// How it is told.
    pub form: SettingForm,
}

/// Names and new values of an organization's settings, without `realm_`.
pub type RealmChange = Arc<[(&'static str, SettingValue)]>;
