//! Messages with their reactions and widgets.

use crate::edit_entry::EditEntry;
use crate::flags::Flags;
use crate::ids::{ChannelId, MessageId, RecipientId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The conversation that a message is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In a topic of a channel.
    Channel {
        channel: ChannelId,
        /// The topic as spelled on this message; may be empty.
        topic: String,
    },
    /// In a direct conversation.
    #[default]
    Direct,
}

impl Place {
    /// The channel; none for direct messages.
    pub fn channel(&self) -> Option<ChannelId> {
        match self {
            Self::Channel { channel, .. } => Some(*channel),
            Self::Direct => None,
        }
    }

    /// The topic, empty for direct messages.
    pub fn topic(&self) -> &str {
        match self {
            Self::Channel { topic, .. } => topic,
            Self::Direct => "",
        }
    }
}

/// The channel or the direct conversation of a message, without the topic: it decides who can read the message, so that
/// an index need not load it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConversationId {
    Channel(ChannelId),
    Direct(RecipientId),
}

impl ConversationId {
    /// The conversation of a message.
    pub fn of(message: &Message) -> Self {
        match &message.place {
            Place::Channel { channel, .. } => Self::Channel(*channel),
            Place::Direct => Self::Direct(message.recipient),
        }
    }
}

/// Which messages of a topic are moved together (docs/api/messages.md#edit-or-move-messages).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropagateMode {
    /// The message alone.
    #[default]
    One,
    /// The message and all later ones.
    Later,
    /// All messages of the topic that the requester can read.
    All,
}

impl PropagateMode {
    /// All modes, in the order of the API's documentation.
    pub const ALL: [Self; 3] = [Self::One, Self::Later, Self::All];

    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => "change_one",
            Self::Later => "change_later",
            Self::All => "change_all",
        }
    }

    /// Whether a message of the target's topic is moved with the target.
    pub fn includes(self, target: MessageId, id: MessageId) -> bool {
        match self {
            Self::One => id == target,
            Self::Later => id >= target,
            Self::All => true,
        }
    }
}

/// A rendered message with its mentions resolved.
///
/// The serialized fields are stored when the message is sent. The others are later changes, which are stored in separate
/// records and filled in when the message is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Unique in the organization; greater is later.
    pub id: MessageId,
    pub sender: UserId,
    pub recipient: RecipientId,
    pub place: Place,
    pub sent: Timestamp,
    /// Content as Markdown source.
    pub content: String,
    pub rendered: String,
    /// Name of the client that sent it, at most 30 characters.
    pub client: String,
    pub traits: MessageTraits,
    /// Flags of single users (mentions, alert words), sorted by user.
    pub user_flags: Vec<(UserId, Flags)>,
    pub topic_links: Vec<TopicLink>,
    /// Parts of a widget. Only the first is stored with the message.
    pub submessages: Vec<Submessage>,
    /// Number of edits of the content.
    #[serde(skip)]
    pub version: u32,
    /// The newest history entries, newest first; bounded, see [`Message::edit`].
    #[serde(skip)]
    pub edits: Vec<EditEntry>,
    /// The time of the last edit of the content.
    #[serde(skip)]
    pub last_edited: Option<Timestamp>,
    /// The time of the last move; resolving a topic does not count.
    #[serde(skip)]
    pub last_moved: Option<Timestamp>,
    /// In the order in which they were added.
    #[serde(skip)]
    pub reactions: Vec<Reaction>,
}

impl Message {
    /// A message without content that was neither edited nor moved and has no reactions.
    pub fn new(id: MessageId, sender: UserId, recipient: RecipientId, place: Place, sent: Timestamp) -> Self {
        Self { id, sender, recipient, place, sent, ..Self::default() }
    }

    /// The flags of one user that are stored with the message.
    pub fn own_flags(&self, user: UserId) -> Flags {
        match self.user_flags.binary_search_by_key(&user, |(id, _)| *id) {
            Ok(position) => self.user_flags[position].1,
            Err(_) => Flags::NONE,
        }
    }
}

/// Boolean properties of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTraits {
    /// Starts with `/me `.
    pub is_me: bool,
    pub has_link: bool,
    /// Contains an image preview.
    pub has_image: bool,
    /// Refers to an uploaded file.
    pub has_attachment: bool,
    /// Mentions everyone in the channel or direct conversation.
    pub channel_wildcard: bool,
    /// Initially read by its sender.
    pub read_by_sender: bool,
}

/// A link found in a topic name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicLink {
    /// The matched part of the topic.
    pub text: String,
    pub url: String,
}

/// A user's emoji reaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    pub emoji_name: String,
    /// Code points, id or name, depending on the type.
    pub emoji_code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
    pub user: UserId,
}

/// One part of a widget's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submessage {
    pub id: u32,
    /// The type of the part; always `widget`.
    pub msg_type: String,
    /// JSON text; its shape depends on the widget.
    pub content: String,
    pub sender: UserId,
}
