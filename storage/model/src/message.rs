//! Messages.

use crate::flags::Flags;
use crate::ids::{ChannelId, MessageId, RecipientId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In a topic of a channel.
    Channel {
        /// The channel.
        channel: ChannelId,
        /// The topic as spelled on this message; may be empty.
        topic: String,
    },
    /// In a direct conversation.
    Direct,
}

impl Place {
    /// The channel, if it is one.
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

/// Which messages of a topic a move is about (api.md, PATCH /messages).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropagateMode {
    /// The message alone.
    #[default]
    One,
    /// The message and all later ones.
    Later,
    /// All of the topic that the actor can read.
    All,
}

impl PropagateMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::One, Self::Later, Self::All];

    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "change_one",
            Self::Later => "change_later",
            Self::All => "change_all",
        }
    }

    /// Whether a message of the target's topic moves with the target.
    pub fn includes(self, target: MessageId, id: MessageId) -> bool {
        match self {
            Self::One => id == target,
            Self::Later => id >= target,
            Self::All => true,
        }
    }
}

/// A message as decided: rendered, with its mentions resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Unique in the organization; greater is later.
    pub id: MessageId,
    /// Who wrote it.
    pub sender: UserId,
    /// The set of people it went to.
    pub recipient: RecipientId,
    /// Where it is now.
    pub place: Place,
    /// When it was sent.
    pub sent: Timestamp,
    /// Markdown source.
    pub content: String,
    /// HTML.
    pub rendered: String,
    /// Name of the client that sent it, at most 30 characters.
    pub client: String,
    /// Facts about the content that narrows ask for.
    pub traits: MessageTraits,
    /// Flags of single users that do not follow from anything else (mentions, alert words), sorted by user.
    pub user_flags: Vec<(UserId, Flags)>,
    /// Links found in the topic.
    pub topic_links: Vec<TopicLink>,
    /// Newest first.
    pub edits: Vec<EditEntry>,
    /// When the content was last edited.
    pub last_edited: Option<Timestamp>,
    /// When it was last moved (resolving does not count).
    pub last_moved: Option<Timestamp>,
    /// In the order in which they were added.
    pub reactions: Vec<Reaction>,
    /// Parts of a widget.
    pub submessages: Vec<Submessage>,
}

impl Message {
    /// The flags of one user that are stored with the message.
    pub fn own_flags(&self, user: UserId) -> Flags {
        match self.user_flags.binary_search_by_key(&user, |(id, _)| *id) {
            Ok(position) => self.user_flags[position].1,
            Err(_) => Flags::NONE,
        }
    }
}

/// Yes-or-no facts about a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTraits {
    /// Starts with `/me `.
    pub is_me: bool,
    /// Has a link.
    pub has_link: bool,
    /// Has an image preview.
    pub has_image: bool,
    /// Refers to an uploaded file.
    pub has_attachment: bool,
    /// Mentions everybody in the channel (or the direct conversation).
    pub channel_wildcard: bool,
    /// Counts as read by its sender from the start.
    pub read_by_sender: bool,
}

/// A link found in a topic name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicLink {
    /// What was matched.
    pub text: String,
    /// Where it leads.
    pub url: String,
}

/// One step of a message's history; an aspect is present only when it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditEntry {
    /// Who did it.
    pub user: UserId,
    /// When.
    pub at: Timestamp,
    /// Markdown source before.
    pub prev_content: Option<String>,
    /// HTML before.
    pub prev_rendered: Option<String>,
    /// Channel before and after.
    pub channel: Option<(ChannelId, ChannelId)>,
    /// Topic before and after.
    pub topic: Option<(String, String)>,
}

/// One person's reaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    /// Name as sent.
    pub emoji_name: String,
    /// Code points, id or name, by kind.
    pub emoji_code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
    /// Who.
    pub user: UserId,
}

/// One part of a widget's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submessage {
    /// Unique in the organization.
    pub id: u32,
    /// `widget`
    pub msg_type: String,
    /// JSON text.
    pub content: String,
    /// Who.
    pub sender: UserId,
}
