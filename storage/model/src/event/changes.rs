//! Changes as events report them: one value for each property, fully resolved.

use crate::bot::{BotIntegration, WebhookService};
use crate::channel::TopicsPolicy;
use crate::event_kind::EventKind;
use crate::group::GroupSetting;
use crate::ids::{ChannelId, FolderId, MessageId, ProfileFieldId, UserId};
use crate::message::{PropagateMode, TopicLink};
use crate::personal::StatusEmoji;
use crate::profile_field::ProfileValue;
use crate::setting::SettingValue;
use crate::time::Timestamp;
use crate::user::Role;
use std::sync::Arc;

/// What one request changed about a message and, if it moved messages, about others
/// (docs/api/events.md#update_message).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageChange {
    pub by: UserId,
    pub at: Timestamp,
    pub target: MessageId,
    /// Those that changed and that its recipients can read, ascending.
    pub messages: Vec<MessageId>,
    /// Channel before the change; none for direct messages.
    pub channel: Option<ChannelId>,
    /// Its name, for recipients who see it.
    pub channel_name: Option<String>,
    pub movement: Option<MovedMessages>,
    pub content: Option<ChangedContent>,
}

/// A move of messages to another topic or channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedMessages {
    pub mode: PropagateMode,
    pub topic: String,
    pub new_channel: Option<ChannelId>,
    /// The new topic with the links in its name, if it changed.
    pub new_topic: Option<(String, Vec<TopicLink>)>,
}

/// A message's content before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedContent {
    /// Markdown source before the edit.
    pub orig_content: String,
    pub orig_rendered: String,
    pub content: String,
    pub rendered: String,
    /// The new content starts with `/me `.
    pub is_me: bool,
}

/// One changed property of a channel, with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelChange {
    Name(String),
    Description {
        text: String,
        rendered: String,
    },
    /// `invite_only`, with the properties that change together with it.
    Privacy {
        invite_only: bool,
        is_web_public: bool,
        history_public_to_subscribers: bool,
    },
    Retention(Option<i32>),
    TopicsPolicy(TopicsPolicy),
    Folder(Option<FolderId>),
    /// A permission by its wire name.
    Permission(&'static str, GroupSetting),
    /// `stream_post_policy`, for older clients.
    PostPolicy(u8),
    /// `is_announcement_only`, for older clients.
    AnnouncementOnly(bool),
    Archived(bool),
    Activity(bool),
    FirstMessage(Option<MessageId>),
}

/// One property of a subscription that changed, with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptionChange {
    Color(String),
    IsMuted(bool),
    /// `in_home_view`, the older property with the opposite value.
    InHomeView(bool),
    PinToTop(bool),
    /// A notification by its wire name; none inherits.
    Notification {
        name: &'static str,
        /// Wire name of the personal setting that it inherits from.
        inherits: &'static str,
        value: Option<bool>,
    },
}

impl SubscriptionChange {
    /// Wire name of the property; `is_muted` also for `in_home_view`.
    pub fn property(&self) -> &'static str {
        match self {
            Self::Color(_) => "color",
            Self::IsMuted(_) | Self::InHomeView(_) => "is_muted",
            Self::PinToTop(_) => "pin_to_top",
            Self::Notification { name, .. } => name,
        }
    }
}

/// Changed properties of a folder of channels; none is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderChange {
    pub name: Option<String>,
    /// The new description as Markdown source and HTML.
    pub description: Option<(String, String)>,
    pub is_archived: Option<bool>,
}

/// Changed properties of a group other than its members; none is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupChange {
    pub name: Option<String>,
    /// The new description, plain text.
    pub description: Option<String>,
    pub is_deactivated: Option<bool>,
    /// Permissions by wire name.
    pub permissions: Vec<(&'static str, GroupSetting)>,
}

/// One changed property of a person or bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    FullName(String),
    Role(Role),
    IsActive(bool),
    /// `delivery_email`; none if it is hidden from the recipient of the event.
    DeliveryEmail(Option<String>),
    /// `new_email`: the e-mail address that the API shows for the user.
    Email(String),
    /// `timezone`; the event also has the e-mail address that the API shows.
    Timezone(String),
    BotOwner(Option<UserId>),
    /// `avatar_url` and the properties that change together with it.
    Avatar {
        url: String,
        medium_url: String,
        /// Wire code of the picture's source.
        source: &'static str,
        version: u32,
    },
    /// `custom_profile_field`; none if the value was removed.
    ProfileValue(ProfileFieldId, Option<ProfileValue>),
}

/// One changed property of a bot, for the users who manage it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotChange {
    FullName(String),
    Email(String),
    IsActive(bool),
    /// `api_key` of this rotation, for the bot's owner only. The key itself is derived when the event is encoded.
    ApiKey(u32),
    /// The user no longer owns the bot, and may not have its key.
    ApiKeyHidden,
    Avatar,
    Owner(Option<UserId>),
    SendingChannel(Option<ChannelId>),
    RegisterChannel(Option<ChannelId>),
    AllPublicChannels(bool),
    Service {
        service: Option<WebhookService>,
        /// Include the token: the recipient is the bot's owner.
        with_secrets: bool,
    },
    Integration(Arc<BotIntegration>),
}

/// Changed parts of a user's status; none is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusChange {
    /// Whether the user hides their presence.
    pub away: Option<bool>,
    /// The text; empty if it was removed.
    pub text: Option<String>,
    /// The emoji; an inner none if it was removed.
    pub emoji: Option<Option<StatusEmoji>>,
}

/// The event type by which a client learns of its user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingForm {
    Modern,
    /// `update_display_settings`, for clients without the capability `user_settings_object`.
    Display,
    /// `update_global_notifications`, for the same clients.
    Notifications,
}

impl SettingForm {
    /// The type of events in this form.
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
    /// Wire name of the setting.
    pub name: &'static str,
    pub value: SettingValue,
    pub form: SettingForm,
}

/// Names without `realm_` and new values of an organization's settings.
pub type RealmChange = Arc<[(&'static str, SettingValue)]>;
