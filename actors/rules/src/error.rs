//! Why a rule refuses a request, as enums with data.
//!
//! One table (`src/http/error.rs`) maps each variant to its code, HTTP status and extra fields. The display text is the
//! `msg` that clients read.

mod account;
mod bot;
mod default_group;
mod edit;
mod emoji;
mod export;
mod group;
mod invitation;
mod organization;
mod personal;
mod picture;
mod push;
mod report;
mod texts;
mod upload;
mod widget;

pub use account::AccountError;
pub use bot::BotError;
pub use default_group::DefaultGroupError;
pub use edit::EditError;
pub use emoji::EmojiError;
pub use export::ExportError;
pub use group::{GroupError, GroupObjection};
pub use invitation::{
    AddressProblem, AddressRefusal, InvitationEnd, InvitationError, InvitingRefusal, NotInvited,
};
pub use organization::OrganizationError;
pub use personal::PersonalError;
pub use picture::PictureError;
pub use push::PushError;
pub use report::ReportError;
pub use texts::TextError;
pub use upload::UploadError;
pub use widget::WidgetError;

use crate::text::EMPTY_TOPIC_DISPLAY_NAME;
use serde_json::Value;

/// A JSON value as text: a string without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A refusal. The display text is exactly what a client reads. Names and ids are as sent; positions of characters
/// are 1-based and, like limits of texts, in code points; `field` is the name of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    // --- roles (docs/api/conventions.md#who-may-call) ---
    #[error("Must be an organization administrator")]
    AdministratorRequired,
    #[error("Must be an organization owner")]
    OwnerRequired,
    #[error("Not allowed for guest users")]
    GuestsRefused,
    /// A group permission is missing.
    #[error("Insufficient permission")]
    InsufficientPermission,
    /// Without an account only a narrow to web-public channels is answered.
    #[error("Not logged in: API authentication or user session required")]
    LoginRequired,

    // --- channels ---
    /// The channel does not exist, or the requester may not know that it does.
    #[error("Invalid channel ID")]
    InvalidChannelId,
    /// The channel does not exist, or the requester, who named it, may not know that it does.
    #[error("Invalid channel name '{name}'")]
    InvalidChannelName { name: String },
    /// The destination of a message does not exist; `name` is stripped. The edge repeats the escaped name as `stream`.
    #[error("Channel '{name}' does not exist")]
    ChannelDoesNotExist { name: String },
    /// The destination of a message, given by id, does not exist. The edge repeats it as `stream_id`.
    #[error("Channel with ID '{id}' does not exist")]
    ChannelIdDoesNotExist { id: i64 },
    /// Channels that the requester may not subscribe to or add subscribers to.
    #[error("Unable to access channel ({}).", names.join(", "))]
    ChannelsInaccessible { names: Vec<String> },
    /// Not in `can_send_message_group`.
    #[error("You do not have permission to post in this channel.")]
    PostingNotPermitted,
    /// The channel is archived, or private and the sender is not a subscriber.
    #[error("Not authorized to send to channel '{name}'")]
    SendingNotAuthorized { name: String },
    /// The requester can read the channel, but does not administer it.
    #[error("You do not have permission to administer this channel.")]
    ChannelNotAdministered,
    /// Private, public and web-public contradict each other.
    #[error("Invalid parameters")]
    PrivacyContradiction,
    #[error("A default channel cannot be private.")]
    DefaultChannelPrivate,
    #[error("Web-public channels are not enabled.")]
    WebPublicDisabled,
    #[error("Channel name can't be empty.")]
    ChannelNameEmpty,
    #[error("Channel name too long (limit: 60 characters).")]
    ChannelNameTooLong,
    /// A control character or non-character.
    #[error("Invalid character in channel name, at position {position}.")]
    ChannelNameCharacter { position: usize },
    /// The name is taken, perhaps by an archived channel.
    #[error("Channel '{name}' already exists")]
    ChannelAlreadyExists { name: String },
    /// Archived channels count: they keep their names.
    #[error("Too many channels (maximum {limit}).")]
    TooManyChannels { limit: usize },
    #[error("You have created too many channels (maximum {limit}).")]
    TooManyOwnChannels { limit: usize },
    /// Channels times users of one request.
    #[error("Too many subscriptions in one request (maximum {limit}).")]
    TooManySubscriptions { limit: usize },
    #[error("{field} is too long (limit: {limit} characters)")]
    TooLong { field: &'static str, limit: usize },
    #[error("Moderation request channel must be private.")]
    ModerationChannelPublic,
    /// Only users who can read a channel may change who can read it.
    #[error("Channel content access is required.")]
    ContentAccessRequired,
    /// Only administrators choose the default channels.
    #[error("You do not have permission to change default channels.")]
    DefaultChannelsNotPermitted,
    /// Requested as a default channel directly; see `DefaultChannelPrivate` for an update of a channel.
    #[error("Private channels cannot be made default.")]
    PrivateChannelDefault,
    /// Neither a number of days nor `unlimited` nor `realm_default`. The edge repeats `var_name` and `bad_value`.
    #[error("Bad value for 'message_retention_days': {}", plain(value))]
    RetentionInvalid { value: Value },
    #[error("Channel is not currently deactivated")]
    ChannelNotArchived,
    #[error("Channel is already deactivated")]
    ChannelAlreadyArchived,
    #[error("Channel already has that name.")]
    ChannelNameSame,
    #[error("Invalid channel folder ID")]
    InvalidFolderId,
    #[error("Channel folder name can't be empty.")]
    FolderNameEmpty,
    /// A control character or non-character.
    #[error("Invalid character in channel folder name, at position {position}.")]
    FolderNameCharacter { position: usize },
    #[error("Channel folder name already in use")]
    FolderNameTaken,
    #[error("You need to remove all the channels from this folder to archive it.")]
    FolderInUse,
    /// Not every folder exactly once.
    #[error("Invalid order mapping.")]
    FolderOrderInvalid,

    // --- subscriptions ---
    #[error("Unknown subscription property: {name}")]
    SubscriptionPropertyUnknown { name: String },
    #[error("Not subscribed to channel ID {id}")]
    NotSubscribed { id: i64 },

    // --- topics and content ---
    /// A control character or non-character.
    #[error("Invalid character in topic, at position {position}!")]
    TopicCharacter { position: usize },
    /// The channel requires a topic. The edge adds `empty_topic_display_name`.
    #[error("Sending messages to the {EMPTY_TOPIC_DISPLAY_NAME} is not allowed in this channel.")]
    EmptyTopicRefused,
    /// The channel allows only the empty topic. The edge adds `empty_topic_display_name`.
    #[error("Only the {EMPTY_TOPIC_DISPLAY_NAME} topic is allowed in this channel.")]
    NamedTopicRefused,
    /// A channel with named topics cannot be limited to the empty topic.
    #[error(
        "To enable this configuration, all messages in this channel must be in the {EMPTY_TOPIC_DISPLAY_NAME} topic. \
         Consider renaming or deleting other topics."
    )]
    NamedTopicsExist,
    /// The channel of the topic does not exist, so the topic is not muted either.
    #[error("Topic is not muted")]
    TopicNotMuted,
    /// More topics with a policy than one account may have.
    #[error("Too many topics with a visibility policy (maximum {limit}).")]
    TooManyTopicPolicies { limit: usize },
    /// The content is empty after trimming.
    #[error("Message must not be empty")]
    ContentEmpty,
    /// The HTML would be too large.
    #[error("Unable to render message")]
    Unrenderable,
    #[error("Message must not contain null bytes")]
    ContentNul,

    // --- messages ---
    /// The message does not exist, or the requester may not read it.
    #[error("Invalid message(s)")]
    InvalidMessage,
    /// Too many subscribers for a channel wildcard.
    #[error("You do not have permission to use channel wildcard mentions in this channel.")]
    ChannelWildcardNotPermitted,
    /// Too many participants for a topic wildcard.
    #[error("You do not have permission to use topic wildcard mentions in this topic.")]
    TopicWildcardNotPermitted,
    /// Not in the group's `can_mention_group`.
    #[error("You are not allowed to mention user group '{name}'.")]
    GroupMentionNotPermitted { name: String },
    /// An edit, a move, a deletion or the history of a message.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A reaction, or the emoji of a status.
    #[error(transparent)]
    Emoji(#[from] EmojiError),
    /// A submessage of a widget.
    #[error(transparent)]
    Widget(#[from] WidgetError),

    // --- direct messages ---
    #[error("Message must have recipients")]
    NoRecipients,
    #[error("Invalid user ID {id}")]
    InvalidUserId { id: i64 },
    #[error("Invalid email '{email}'")]
    InvalidEmail { email: String },
    /// More participants than a new direct message may have; `limit` includes the sender.
    #[error("Too many participants of a direct message (maximum {limit}).")]
    TooManyParticipants { limit: usize },
    /// A restricted guest writes to users that they may not see.
    #[error("You do not have permission to access some of the recipients.")]
    RecipientsInaccessible,
    /// `direct_message_permission_group` is empty.
    #[error("Direct messages are disabled in this organization.")]
    DirectMessagesDisabled,
    /// No participant is in `direct_message_permission_group`.
    #[error("This conversation does not include any users who can authorize it.")]
    DirectMessagesUnauthorized,
    /// The sender is not in `direct_message_initiator_group`.
    #[error("You do not have permission to initiate direct message conversations.")]
    DirectInitiationNotPermitted,
    /// A recipient is deactivated; `email` is their API address.
    #[error("'{email}' is no longer using Zulip.")]
    RecipientDeactivated { email: String },

    // --- names of users (docs/api/conventions.md#names-of-people) ---
    /// Fewer than 2 characters.
    #[error("Name too short!")]
    NameTooShort,
    /// More than 100 characters.
    #[error("Name too long!")]
    NameTooLong,
    /// A character with a meaning in mentions, or an unprintable one.
    #[error("Invalid characters in name!")]
    NameCharacters,
    /// The name ends like a mention with an id.
    #[error("Invalid format!")]
    NameFormat,
    #[error("Unique names required in this organization.")]
    NameTaken,

    // --- settings ---
    /// Not one of the allowed values, or the setting does not exist.
    #[error("Invalid {name}")]
    SettingInvalid { name: String },
    /// A number that is not one of the allowed values.
    #[error("Invalid {name}: Value error, Not in the list of possible values")]
    NotListed { name: &'static str },
    /// `wanted` is `a boolean`, `an integer` or `a string`.
    #[error("{name} is not {wanted}")]
    SettingType { name: String, wanted: &'static str },
    #[error("{field} is too small")]
    TooSmall { field: &'static str },
    #[error("{field} is too large")]
    TooLarge { field: &'static str },
    /// Neither a positive number nor `unlimited`. The edge repeats `var_name` and `bad_value`.
    #[error("Bad value for '{name}': {}", plain(value))]
    SettingBadValue { name: &'static str, value: Value },
    /// Not a time zone of the IANA database.
    #[error("{name} is not a recognized time zone")]
    TimezoneUnknown { name: &'static str },
    #[error("Invalid notification sound '{sound}'")]
    SoundUnknown { sound: String },
    /// Not between 1 second and a week.
    #[error("Invalid email batching period: {secs} seconds")]
    BatchingPeriodInvalid { secs: i64 },
    #[error("{field} cannot be blank")]
    Blank { field: &'static str },
    /// The group does not exist or is deactivated, or the value is malformed.
    #[error("Invalid user group")]
    InvalidUserGroup,
    /// A user in a group-setting value does not exist or is deactivated.
    #[error("Invalid user ID: {id}")]
    InvalidMember { id: i64 },
    /// In one group-setting value.
    #[error("Too many users and groups in a group setting (maximum {limit}).")]
    TooManyListed { limit: usize },
    /// In the group-setting values of all channels and groups.
    #[error("Too many users and groups in the permissions of this organization (maximum {limit}).")]
    TooManyListedInAll { limit: usize },
    /// The edge repeats `setting_name`.
    #[error("'{setting}' must be a system user group.")]
    SystemGroupRequired { setting: &'static str },
    #[error("'{setting}' setting cannot be set to '{group}' group.")]
    GroupForbidden { setting: &'static str, group: String },
    /// The value that the client expects to be stored is not. The edge repeats `field_name`.
    #[error("'{field}' value does not match the expected value.")]
    ExpectationMismatch { field: &'static str },
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error(transparent)]
    Invitation(#[from] InvitationError),
    #[error(transparent)]
    Organization(#[from] OrganizationError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    Push(#[from] PushError),
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error(transparent)]
    Personal(#[from] PersonalError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    DefaultGroup(#[from] DefaultGroupError),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// Not `#` and 3 to 6 hexadecimal digits.
    #[error("color is not a valid hex color code")]
    ColorInvalid,
    #[error("Too many alert words (maximum {limit}).")]
    TooManyAlertWords { limit: usize },

    // --- narrow (docs/api/narrow.md#operators) ---
    #[error("narrow is not a list")]
    NarrowNotList,
    #[error("narrow is too long (limit: {limit} terms)")]
    NarrowTooLong { limit: usize },
    /// The narrow of an event queue; all its operators and operands count together.
    #[error("narrow is too long (limit: {limit} bytes)")]
    EventNarrowTooLarge { limit: usize },
    /// An element is neither a term object nor a pair of strings; `index` is 0-based.
    #[error("Invalid narrow[{index}]: Value error, {detail}")]
    NarrowTerm { index: usize, detail: &'static str },
    /// A part of an element (`operator`, `operand` or `negated`) has the wrong type.
    #[error("{part} is not {wanted}")]
    NarrowPart { part: &'static str, wanted: &'static str },
    #[error("operand cannot be blank.")]
    NarrowOperandBlank,
    /// An unknown operator or operand. The edge repeats `desc` (BAD_NARROW).
    #[error("Invalid narrow operator: {desc}")]
    BadNarrow { desc: String },
    /// Terms that exclude each other. The edge repeats `desc` (BAD_NARROW).
    #[error("Invalid narrow operator combination: {desc}")]
    BadNarrowCombination { desc: &'static str },
    /// An operator that event queues cannot filter by.
    #[error("Operator {operator} not supported.")]
    EventNarrowOperator { operator: String },
    #[error("Full-text search is not available on this server.")]
    SearchUnavailable,
    #[error("The text of the search is too long (limit: {limit} characters).")]
    SearchTooLong { limit: usize },
}
