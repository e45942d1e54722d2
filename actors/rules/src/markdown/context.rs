//! What rendering may ask of the organization. The caller answers with what the sender can access, so that
//! no rule of access is repeated here.

use super::linkifier::Linkifier;

/// A person who can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRef {
    /// The user's id.
    pub id: u64,
    /// The name as stored, which is what the mention shows.
    pub full_name: String,
    /// False for a deactivated account, whose mentions are always silent.
    pub is_active: bool,
}

/// A user group that can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRef {
    /// The group's id.
    pub id: u64,
    /// What the mention shows: the name, or for a system group its display name such as `Members`.
    pub display_name: String,
    /// False for a deactivated group, whose mentions are always silent.
    pub is_active: bool,
}

/// A channel the sender can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRef {
    /// The channel's id.
    pub id: u64,
    /// The name as stored.
    pub name: String,
}

/// One of the organization's own emoji.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiRef {
    /// The URL of the picture, as clients get it.
    pub source_url: String,
}

/// What is known of an uploaded file, for its preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadPreview {
    /// A picture.
    Image(UploadedImage),
    /// A film browsers can play.
    Video,
}

/// An uploaded picture with the facts its preview repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedImage {
    /// The media type of the original, such as `image/png`.
    pub content_type: String,
    /// Width of the original in pixels.
    pub width: u32,
    /// Height of the original in pixels.
    pub height: u32,
    /// Whether the picture moves.
    pub is_animated: bool,
    /// Whether the thumbnail exists; until then a placeholder is shown.
    pub has_thumbnail: bool,
    /// The file name of a browser-friendly copy, such as `1920x1080.webp`, where the original is not.
    pub transcoded: Option<String>,
}

/// The questions rendering asks. Answers must already be limited to what the sender can access.
///
/// Names come as typed; look-ups of users and groups ignore case, those of channels do not.
pub trait MarkdownContext {
    /// The user with this full name; any of them if several share it.
    fn user_by_name(&self, name: &str) -> Option<UserRef>;
    /// The user with this id.
    fn user_by_id(&self, id: u64) -> Option<UserRef>;
    /// The group with this name; system groups by `role:…`.
    fn group_by_name(&self, name: &str) -> Option<GroupRef>;
    /// The channel with this name, if the sender can access it.
    fn channel_by_name(&self, name: &str) -> Option<ChannelRef>;
    /// The newest message of the topic, which links to the topic carry so that they survive a move.
    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64>;
    /// The organization's own active emoji of this name.
    fn custom_emoji(&self, name: &str) -> Option<EmojiRef>;

    /// The organization's linkifiers, in the configured order.
    fn linkifiers(&self) -> &[Linkifier] {
        &[]
    }

    /// The organization's own address without a trailing slash, such as `https://chat.example.com`.
    fn realm_url(&self) -> &str {
        ""
    }

    /// Whether the sender wants `:)` turned into an emoji.
    fn translate_emoticons(&self) -> bool {
        false
    }

    /// The language of a code block that names none.
    fn default_code_language(&self) -> Option<&str> {
        None
    }

    /// Now in seconds since 1970, for moments that people write without a date, such as `5pm`. Without it such text is
    /// no moment.
    fn now_seconds(&self) -> Option<i64> {
        None
    }

    /// Whether linked pictures and films are shown below the text. False for descriptions.
    fn shows_previews(&self) -> bool {
        false
    }

    /// What is known of the uploaded file at `path_id` (such as `1/ab/cat.png`); `None` gives no preview.
    fn upload_preview(&self, _path_id: &str) -> Option<UploadPreview> {
        None
    }
}
