//! The parts of messages that are being made: the frame that is filled, and what is known of one message.

use super::flags::FlagFacts;
use super::moves::Moves;
use model::push::PushFact;
use model::{ChannelId, Fact, Flags, MessageId, RecipientId, Subscription, UserId};
use std::sync::Arc;

/// Bytes of a flag fact.
const FLAG_BYTES: usize = 40;

/// A subscriber of a channel as messages see them.
pub struct Member {
    pub user: UserId,
    pub subscription: Arc<Subscription>,
    /// Whether they have a row for each message that they received; users who were away for long do not.
    pub has_rows: bool,
}

/// A frame that is being filled.
#[derive(Default)]
pub struct Draft {
    pub facts: Vec<Fact>,
    pub later: Vec<Fact>,
    pub moves: Moves,
    pub flags: FlagFacts,
    pub bytes: usize,
    pub last: MessageId,
}

impl Draft {
    /// Estimated bytes so far.
    pub fn size(&self) -> usize {
        self.bytes + self.flags.len() * FLAG_BYTES
    }

    /// The facts of the frame.
    pub fn into_facts(mut self) -> Vec<Fact> {
        self.facts.extend(self.moves.into_facts());
        self.facts.append(&mut self.later);
        self.facts.extend(self.flags.into_facts());
        // Nothing is announced of what others wrote long ago.
        self.facts.push(Fact::Push(Box::new(PushFact::NotificationCursorMoved(self.last))));
        self.facts
    }
}

/// What is carried over of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    WithoutHistory,
    /// Without HTML, reactions and parts of widgets, too.
    TextOnly,
}

/// Where a message is.
pub struct MessageLocation {
    pub recipient: RecipientId,
    pub topic: Option<(ChannelId, String)>,
    /// People of a direct conversation.
    pub people: Vec<UserId>,
}

/// What the rows of users say about a message.
#[derive(Default)]
pub struct MessageFlags {
    pub is_read_by_sender: bool,
    pub has_channel_wildcard: bool,
    /// Flags that follow from the content, sorted by user.
    pub content: Vec<(UserId, Flags)>,
    /// Who received a message that was moved from another channel, sorted.
    pub received: Vec<UserId>,
}
