//! Texts that users store before they send them, or to send them again: saved snippets and drafts
//! (docs/api/saved-texts.md), scheduled messages and reminders (docs/api/scheduled-messages.md).

use crate::ids::{ChannelId, MessageId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The kinds of saved texts. Each counts its own ids, and ids of deleted texts are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextKind {
    /// A text to insert: see [`SavedSnippet`].
    SavedSnippet = 1,
    /// A message that is being written: see [`SavedDraft`].
    Draft = 2,
    /// See [`ScheduledMessage`]; reminders, too.
    ScheduledMessage = 3,
}

impl TextKind {
    /// The number that stored records have for the kind.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// A text that a user inserts into messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSnippet {
    /// At most 60 characters, stripped.
    pub title: String,
    /// The Markdown source, at most as long as a message.
    pub content: String,
    pub created: Timestamp,
}

/// An unsent message of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraft {
    pub to: DraftTo,
    /// The Markdown source, at most as long as a message.
    pub content: String,
    /// The time of the last change, as the client sent it.
    pub edited: Timestamp,
}

/// Where a draft is to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DraftTo {
    /// It is not decided.
    Nowhere,
    /// To a topic; the name as typed.
    Channel { channel: ChannelId, topic: String },
    /// To these users, sorted, its author included.
    People(Vec<UserId>),
}

/// A message that is sent later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledMessage {
    pub to: ScheduledTo,
    /// The Markdown source, normalized.
    pub content: String,
    /// HTML as of when it was scheduled; it is rendered again when it is sent.
    pub rendered: String,
    /// When it is to be sent, by the wall clock.
    pub due: Timestamp,
    /// Name of the client that scheduled it.
    pub client: String,
    /// Whether its sender has read it once it is sent.
    pub read_by_sender: bool,
    /// The organization's URL as the client knew it, for links.
    pub url: String,
    /// Why it could not be sent; then it is not tried again.
    pub failure: Option<String>,
    /// Present for reminders: the notification bot sends them to the user.
    pub reminder: Option<Reminder>,
}

/// The destination of a scheduled message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduledTo {
    /// To a topic, normalized.
    Channel { channel: ChannelId, topic: String },
    /// To these users, sorted, the sender included.
    People(Vec<UserId>),
}

/// What a user is reminded of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    pub message: MessageId,
    /// At most 1000 characters; empty for none.
    pub note: String,
}
