//! Flags of users for messages: the bits of an export, and the facts that set them.

use model::{Fact, Flag, FlagOp, Flags, MessageFact, MessageId, MessageRanges, UserId};
use std::collections::BTreeMap;

/// The message is read.
pub const READ: u32 = 1;
const STARRED: u32 = 1 << 1;
const COLLAPSED: u32 = 1 << 2;
const MENTIONED: u32 = 1 << 3;
/// Everyone in the channel is mentioned.
pub const CHANNEL_WILDCARD: u32 = 1 << 4;
const TOPIC_WILDCARD: u32 = 1 << 5;
const GROUP_MENTIONED: u32 = 1 << 6;
const ALERT_WORD: u32 = 1 << 9;
/// The user did not receive the message, but has flagged it.
pub const HISTORICAL: u32 = 1 << 10;

/// The flags that follow from the content of the message.
pub fn content_flags(mask: u32) -> Flags {
    Flags::NONE
        .with_if(Flag::Mentioned, mask & (MENTIONED | GROUP_MENTIONED) != 0)
        .with_if(Flag::TopicWildcardMentioned, mask & TOPIC_WILDCARD != 0)
        .with_if(Flag::HasAlertWord, mask & ALERT_WORD != 0)
}

/// Flags of the messages of one frame.
#[derive(Debug, Default)]
pub struct FlagFacts(BTreeMap<(UserId, Flag), Vec<MessageId>>);

impl FlagFacts {
    /// Adds a flag. Messages come in the order of their ids.
    pub fn add(&mut self, user: UserId, flag: Flag, message: MessageId) {
        self.0.entry((user, flag)).or_default().push(message);
    }

    /// Adds the flags that users set themselves.
    pub fn add_own(&mut self, user: UserId, mask: u32, message: MessageId) {
        for (bit, flag) in [(STARRED, Flag::Starred), (COLLAPSED, Flag::Collapsed)] {
            if mask & bit != 0 {
                self.add(user, flag, message);
            }
        }
    }

    /// Entries so far, to bound a frame.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The facts that set the flags.
    pub fn into_facts(self) -> impl Iterator<Item = Fact> {
        self.0.into_iter().map(|((user, flag), messages)| {
            let messages = MessageRanges::from_sorted(messages);
            Fact::Message(MessageFact::FlagsChanged { user, flag, op: FlagOp::Add, messages })
        })
    }
}
