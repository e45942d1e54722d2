//! Why a rule refuses, as words with data.
//!
//! Which code and HTTP status a word becomes, and which data is repeated in extra fields, is one table at
//! the edge (`src/http/error.rs`). The display text is the `msg` that clients read.

mod account;
mod bot;
mod edit;
mod emoji;
mod group;
mod invitation;
mod organization;
mod personal;
mod picture;
mod push;
mod widget;

pub use account::AccountError;
pub use bot::BotError;
pub use edit::EditError;
pub use emoji::EmojiError;
pub use group::{GroupError, GroupObjection};
pub use invitation::{
    AddressProblem, AddressRefusal, InvitationEnd, InvitationError, InvitingRefusal, NotInvited,
};
pub use organization::OrganizationError;
pub use personal::PersonalError;
pub use picture::PictureError;
pub use push::PushError;
pub use widget::WidgetError;

use crate::text::EMPTY_TOPIC_DISPLAY_NAME;
use serde_json::Value;

/// A JSON value as text: a string without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    // --- roles (docs/api/conventions.md#who-may-call) ---
    /// Only administrators and owners may.
    #[error("Must be an organization administrator")]
    AdministratorRequired,
    /// Only owners may.
    #[error("Must be an organization owner")]
    OwnerRequired,
    /// Everybody but guests may.
    #[error("Not allowed for guest users")]
    GuestsRefused,
    /// A group permission is missing.
    #[error("Insufficient permission")]
    InsufficientPermission,
    /// Without an account only a narrow to web-public channels is answered.
    #[error("Not logged in: API authentication or user session required")]
    LoginRequired,

    // --- channels ---
    /// No such channel, or one that the asker must not know of.
    #[error("Invalid channel ID")]
    InvalidChannelId,
    /// The same, asked by name.
    #[error("Invalid channel name '{name}'")]
    InvalidChannelName {
        /// As given.
        name: String,
    },
    /// The channel to write to does not exist. The edge repeats the escaped name as `stream`.
    #[error("Channel '{name}' does not exist")]
    ChannelDoesNotExist {
        /// As given, stripped.
        name: String,
    },
    /// The same, asked by id. The edge repeats it as `stream_id`.
    #[error("Channel with ID '{id}' does not exist")]
    ChannelIdDoesNotExist {
        /// As given.
        id: i64,
    },
    /// Channels that the actor may not subscribe to or add people to.
    #[error("Unable to access channel ({}).", names.join(", "))]
    ChannelsInaccessible {
        /// Their names.
        names: Vec<String>,
    },
    /// Not in `can_send_message_group`.
    #[error("You do not have permission to post in this channel.")]
    PostingNotPermitted,
    /// Archived, or private and the sender is outside.
    #[error("Not authorized to send to channel '{name}'")]
    SendingNotAuthorized {
        /// The channel's name.
        name: String,
    },
    /// Readable, but not administered by the actor.
    #[error("You do not have permission to administer this channel.")]
    ChannelNotAdministered,
    /// Private, public and web-public were combined in a way that cannot be.
    #[error("Invalid parameters")]
    PrivacyContradiction,
    /// A channel for everybody cannot be private.
    #[error("A default channel cannot be private.")]
    DefaultChannelPrivate,
    /// The organization does not show channels to the world.
    #[error("Web-public channels are not enabled.")]
    WebPublicDisabled,
    /// Stripped name is empty.
    #[error("Channel name can't be empty.")]
    ChannelNameEmpty,
    /// More than 60 characters.
    #[error("Channel name too long (limit: 60 characters).")]
    ChannelNameTooLong,
    /// A control character or non-character.
    #[error("Invalid character in channel name, at position {position}.")]
    ChannelNameCharacter {
        /// 1-based, in code points.
        position: usize,
    },
    /// The name is taken, perhaps by an archived channel.
    #[error("Channel '{name}' already exists")]
    ChannelAlreadyExists {
        /// As asked for.
        name: String,
    },
    /// A text is longer than allowed.
    #[error("{field} is too long (limit: {limit} characters)")]
    TooLong {
        /// The parameter.
        field: &'static str,
        /// In code points.
        limit: usize,
    },
    /// The channel for reported messages is to be seen by few.
    #[error("Moderation request channel must be private.")]
    ModerationChannelPublic,
    /// Who can read a channel is changed only by those who can read it.
    #[error("Channel content access is required.")]
    ContentAccessRequired,
    /// Only administrators choose the channels for new people.
    #[error("You do not have permission to change default channels.")]
    DefaultChannelsNotPermitted,
    /// Asked for as a default channel of its own.
    #[error("Private channels cannot be made default.")]
    PrivateChannelDefault,
    /// Neither a number of days nor one of the two words. The edge repeats `var_name` and `bad_value`.
    #[error("Bad value for 'message_retention_days': {}", plain(value))]
    RetentionInvalid {
        /// As given, of whatever type.
        value: Value,
    },
    /// There is nothing to unarchive.
    #[error("Channel is not currently deactivated")]
    ChannelNotArchived,
    /// There is nothing to archive.
    #[error("Channel is already deactivated")]
    ChannelAlreadyArchived,
    /// The new name is the old one.
    #[error("Channel already has that name.")]
    ChannelNameSame,
    /// No such folder.
    #[error("Invalid channel folder ID")]
    InvalidFolderId,
    /// Stripped name is empty.
    #[error("Channel folder name can't be empty.")]
    FolderNameEmpty,
    /// A control character or non-character.
    #[error("Invalid character in channel folder name, at position {position}.")]
    FolderNameCharacter {
        /// 1-based, in code points.
        position: usize,
    },
    /// Another folder has this name.
    #[error("Channel folder name already in use")]
    FolderNameTaken,
    /// Channels are in the folder.
    #[error("You need to remove all the channels from this folder to archive it.")]
    FolderInUse,
    /// Not every folder exactly once.
    #[error("Invalid order mapping.")]
    FolderOrderInvalid,

    // --- subscriptions ---
    /// None of the nine properties.
    #[error("Unknown subscription property: {name}")]
    SubscriptionPropertyUnknown {
        /// As given.
        name: String,
    },
    /// A property of a channel that the user does not subscribe to.
    #[error("Not subscribed to channel ID {id}")]
    NotSubscribed {
        /// The channel.
        id: i64,
    },

    // --- topics and content ---
    /// A control character or non-character.
    #[error("Invalid character in topic, at position {position}!")]
    TopicCharacter {
        /// 1-based, in code points.
        position: usize,
    },
    /// The channel wants named topics. The edge adds `empty_topic_display_name`.
    #[error("Sending messages to the {EMPTY_TOPIC_DISPLAY_NAME} is not allowed in this channel.")]
    EmptyTopicRefused,
    /// The channel wants only the empty topic. The edge adds `empty_topic_display_name`.
    #[error("Only the {EMPTY_TOPIC_DISPLAY_NAME} topic is allowed in this channel.")]
    NamedTopicRefused,
    /// A channel with named topics cannot have the empty topic alone.
    #[error(
        "To enable this configuration, all messages in this channel must be in the {EMPTY_TOPIC_DISPLAY_NAME} topic. \
         Consider renaming or deleting other topics."
    )]
    NamedTopicsExist,
    /// Its channel does not exist, so the topic is not muted either.
    #[error("Topic is not muted")]
    TopicNotMuted,
    /// Nothing is left after trimming.
    #[error("Message must not be empty")]
    ContentEmpty,
    /// Markdown without a reasonable HTML.
    #[error("Unable to render message")]
    Unrenderable,
    /// NUL in the content.
    #[error("Message must not contain null bytes")]
    ContentNul,

    // --- messages ---
    /// No such message, or not one that the asker may read.
    #[error("Invalid message(s)")]
    InvalidMessage,
    /// Too many people for a channel wildcard.
    #[error("You do not have permission to use channel wildcard mentions in this channel.")]
    ChannelWildcardNotPermitted,
    /// Too many people for a topic wildcard.
    #[error("You do not have permission to use topic wildcard mentions in this topic.")]
    TopicWildcardNotPermitted,
    /// Not in the group's `can_mention_group`.
    #[error("You are not allowed to mention user group '{name}'.")]
    GroupMentionNotPermitted {
        /// The group's name.
        name: String,
    },
    /// An edit, a move, a deletion or the history of a message.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A reaction, or the emoji of a status.
    #[error(transparent)]
    Emoji(#[from] EmojiError),
    /// A part that is not added to a widget.
    #[error(transparent)]
    Widget(#[from] WidgetError),

    // --- direct messages ---
    /// Nobody to write to.
    #[error("Message must have recipients")]
    NoRecipients,
    /// No user with this id.
    #[error("Invalid user ID {id}")]
    InvalidUserId {
        /// As given.
        id: i64,
    },
    /// No user with this address.
    #[error("Invalid email '{email}'")]
    InvalidEmail {
        /// As given.
        email: String,
    },
    /// A restricted guest writes to somebody hidden.
    #[error("You do not have permission to access some of the recipients.")]
    RecipientsInaccessible,
    /// Nobody at all may authorize direct messages.
    #[error("Direct messages are disabled in this organization.")]
    DirectMessagesDisabled,
    /// Nobody in this conversation may authorize it.
    #[error("This conversation does not include any users who can authorize it.")]
    DirectMessagesUnauthorized,
    /// The sender may not begin conversations.
    #[error("You do not have permission to initiate direct message conversations.")]
    DirectInitiationNotPermitted,
    /// A recipient is deactivated.
    #[error("'{email}' is no longer using Zulip.")]
    RecipientDeactivated {
        /// The recipient's API address.
        email: String,
    },

    // --- names of people (docs/api/conventions.md#names-of-people) ---
    /// Fewer than 2 characters.
    #[error("Name too short!")]
    NameTooShort,
    /// More than 100 characters.
    #[error("Name too long!")]
    NameTooLong,
    /// A character that mentions need, or an unprintable one.
    #[error("Invalid characters in name!")]
    NameCharacters,
    /// Ends like a mention with an id.
    #[error("Invalid format!")]
    NameFormat,
    /// Taken, where names must be unique.
    #[error("Unique names required in this organization.")]
    NameTaken,

    // --- settings ---
    /// Not one of the allowed values, or no such setting.
    #[error("Invalid {name}")]
    SettingInvalid {
        /// The setting.
        name: String,
    },
    /// A number for which nothing stands.
    #[error("Invalid {name}: Value error, Not in the list of possible values")]
    NotListed {
        /// The parameter.
        name: &'static str,
    },
    /// Of the wrong type.
    #[error("{name} is not {wanted}")]
    SettingType {
        /// The setting.
        name: String,
        /// `a boolean`, `an integer`, `a string`.
        wanted: &'static str,
    },
    /// A number below what makes sense.
    #[error("{field} is too small")]
    TooSmall {
        /// The parameter.
        field: &'static str,
    },
    /// A number above what makes sense.
    #[error("{field} is too large")]
    TooLarge {
        /// The parameter.
        field: &'static str,
    },
    /// Neither a number above zero nor the word for no limit. The edge repeats `var_name` and `bad_value`.
    #[error("Bad value for '{name}': {}", plain(value))]
    SettingBadValue {
        /// The setting.
        name: &'static str,
        /// As given, of whatever type.
        value: Value,
    },
    /// No time zone of the IANA database.
    #[error("{name} is not a recognized time zone")]
    TimezoneUnknown {
        /// The setting.
        name: &'static str,
    },
    /// No sound that clients know.
    #[error("Invalid notification sound '{sound}'")]
    SoundUnknown {
        /// As given.
        sound: String,
    },
    /// Never, or longer than a week.
    #[error("Invalid email batching period: {secs} seconds")]
    BatchingPeriodInvalid {
        /// As given.
        secs: i64,
    },
    /// A text that must not be empty.
    #[error("{field} cannot be blank")]
    Blank {
        /// The parameter.
        field: &'static str,
    },
    /// No such group, a deactivated one, or not a group at all.
    #[error("Invalid user group")]
    InvalidUserGroup,
    /// No such user, or a deactivated one, in a group-setting value.
    #[error("Invalid user ID: {id}")]
    InvalidMember {
        /// As given.
        id: i64,
    },
    /// Only a system group will do. The edge repeats `setting_name`.
    #[error("'{setting}' must be a system user group.")]
    SystemGroupRequired {
        /// The setting.
        setting: &'static str,
    },
    /// This group will not do.
    #[error("'{setting}' setting cannot be set to '{group}' group.")]
    GroupForbidden {
        /// The setting.
        setting: &'static str,
        /// The group's name.
        group: String,
    },
    /// What a client believes to be stored is not. The edge repeats `field_name`.
    #[error("'{field}' value does not match the expected value.")]
    ExpectationMismatch {
        /// The parameter.
        field: &'static str,
    },
    /// A user group that cannot be made, changed or left like this.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// See [`InvitationError`].
    #[error(transparent)]
    Invitation(#[from] InvitationError),
    /// See [`OrganizationError`].
    #[error(transparent)]
    Organization(#[from] OrganizationError),
    /// See [`PictureError`].
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// See [`PushError`].
    #[error(transparent)]
    Push(#[from] PushError),
    /// See [`AccountError`].
    #[error(transparent)]
    Account(#[from] AccountError),
    /// See [`BotError`].
    #[error(transparent)]
    Bot(#[from] BotError),
    /// See [`PersonalError`].
    #[error(transparent)]
    Personal(#[from] PersonalError),
    /// Not `#` and 3 to 6 hexadecimal digits.
    #[error("color is not a valid hex color code")]
    ColorInvalid,

    /// More alert words than one person may have.
    #[error("Too many alert words (maximum {limit}).")]
    TooManyAlertWords {
        /// How many there may be.
        limit: usize,
    },

    // --- narrow (docs/api/narrow.md#operators) ---
    /// Not a list.
    #[error("narrow is not a list")]
    NarrowNotList,
    /// Longer than anybody needs.
    #[error("narrow is too long (limit: {limit} terms)")]
    NarrowTooLong {
        /// How many terms there may be.
        limit: usize,
    },
    /// An element is neither a term object nor a pair of strings.
    #[error("Invalid narrow[{index}]: Value error, {detail}")]
    NarrowTerm {
        /// 0-based.
        index: usize,
        /// What is wrong.
        detail: &'static str,
    },
    /// A part of an element has the wrong type.
    #[error("{part} is not {wanted}")]
    NarrowPart {
        /// `operator`, `operand` or `negated`.
        part: &'static str,
        /// The type that it should have.
        wanted: &'static str,
    },
    /// An operand that needs text is blank.
    #[error("operand cannot be blank.")]
    NarrowOperandBlank,
    /// A term that means nothing. The edge repeats `desc` (BAD_NARROW).
    #[error("Invalid narrow operator: {desc}")]
    BadNarrow {
        /// What is wrong.
        desc: String,
    },
    /// Terms that exclude each other. The edge repeats `desc` (BAD_NARROW).
    #[error("Invalid narrow operator combination: {desc}")]
    BadNarrowCombination {
        /// What is wrong.
        desc: &'static str,
    },
    /// An operator that event queues cannot filter by.
    #[error("Operator {operator} not supported.")]
    EventNarrowOperator {
        /// As given.
        operator: String,
    },
    /// This server has no full-text search.
    #[error("Full-text search is not available on this server.")]
    SearchUnavailable,
}
