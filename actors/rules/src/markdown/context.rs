//! The data that rendering needs from the organization. The caller limits it to what the sender can access, so that there
//! are no access rules here.

use super::linkifier::Linkifier;

/// A user who can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRef {
    pub id: u64,
    /// The name as stored, which mentions show.
    pub full_name: String,
    /// False for a deactivated account, whose mentions are always silent.
    pub is_active: bool,
}

/// A user group that can be mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRef {
    pub id: u64,
    /// The text of mentions: the name, or for a system group its display name such as `Members`.
    pub display_name: String,
    /// False for a deactivated group, whose mentions are always silent.
    pub is_active: bool,
}

/// A channel the sender can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRef {
    pub id: u64,
    pub name: String,
}

/// A custom emoji of the organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiRef {
    /// The URL of the picture, as clients get it.
    pub source_url: String,
}

/// The preview of an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadPreview {
    Image(UploadedImage),
    /// A video that browsers can play.
    Video,
    /// A sound that browsers can play.
    Audio,
}

impl UploadPreview {
    /// The preview of a file that is not a picture, by the ending of its name.
    pub fn of_name(path_id: &str) -> Option<Self> {
        let (_, ending) = path_id.rsplit_once('.')?;
        let is_one_of = |endings: &[&str]| endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
        match ending {
            _ if is_one_of(&["mp4", "webm"]) => Some(Self::Video),
            _ if is_one_of(&["aac", "flac", "m4a", "mp3", "wav", "weba"]) => Some(Self::Audio),
            _ => None,
        }
    }
}

/// An uploaded picture, with the attributes of its preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedImage {
    /// The media type of the original, such as `image/png`.
    pub content_type: String,
    /// Width and height of the original in pixels.
    pub width: u32,
    pub height: u32,
    pub is_animated: bool,
}

/// Lookups for rendering, limited to what the sender can access. Names are as typed; lookups of users and groups ignore
/// case, those of channels do not.
pub trait MarkdownContext {
    /// The user with this full name; any of them if several share it.
    fn user_by_name(&self, name: &str) -> Option<UserRef>;
    /// The user with this id.
    fn user_by_id(&self, id: u64) -> Option<UserRef>;
    /// The group with this name; system groups by `role:…`.
    fn group_by_name(&self, name: &str) -> Option<GroupRef>;
    /// The channel with this name, if the sender can access it.
    fn channel_by_name(&self, name: &str) -> Option<ChannelRef>;
    /// The newest message of the topic; links to the topic contain it, so that they survive a move.
    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64>;
    /// The active custom emoji with this name.
    fn custom_emoji(&self, name: &str) -> Option<EmojiRef>;

    /// The organization's linkifiers, in the configured order.
    fn linkifiers(&self) -> &[Linkifier] {
        &[]
    }

    /// The organization's URL without a trailing slash, such as `https://chat.example.com`.
    fn realm_url(&self) -> &str {
        ""
    }

    /// Whether the sender wants `:)` turned into an emoji.
    fn translate_emoticons(&self) -> bool {
        false
    }

    /// The default language of code blocks.
    fn default_code_language(&self) -> Option<&str> {
        None
    }

    /// The current time in seconds since 1970, for times without a date, such as `5pm`. Without it they are invalid.
    fn now_seconds(&self) -> Option<i64> {
        None
    }

    /// Whether linked pictures and videos have previews. False for descriptions.
    fn shows_previews(&self) -> bool {
        false
    }

    /// Whether formulas that were not rendered lately are rendered. False on threads that others wait for: such formulas are shown
    /// as typed.
    fn renders_formulas(&self) -> bool {
        true
    }

    /// The preview of the uploaded file at `path_id` (such as `1/ab/cat.png`), if it has one.
    fn upload_preview(&self, _path_id: &str) -> Option<UploadPreview> {
        None
    }
}

/// A context in which no name resolves.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

impl MarkdownContext for NoNames {
    fn user_by_name(&self, _: &str) -> Option<UserRef> {
        None
    }

    fn user_by_id(&self, _: u64) -> Option<UserRef> {
        None
    }

    fn group_by_name(&self, _: &str) -> Option<GroupRef> {
        None
    }

    fn channel_by_name(&self, _: &str) -> Option<ChannelRef> {
        None
    }

    fn newest_message_in_topic(&self, _: u64, _: &str) -> Option<u64> {
        None
    }

    fn custom_emoji(&self, _: &str) -> Option<EmojiRef> {
        None
    }
}
