//! A resolved narrow: sets of messages to intersect and subtract, and the set to search.

use crate::visibility::SkippedMuting;
use model::{ChannelId, Flag, MessageId, RecipientId, TopicKey, UserId};

/// Operands of `has`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Link,
    /// An image preview.
    Image,
    /// An uploaded file.
    Attachment,
    /// A reaction of any user.
    Reaction,
}

/// A set of messages. Flags, policies and unread are those of the requester. Lists are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageSet {
    Channel(ChannelId),
    Channels(Vec<ChannelId>),
    Topic(ChannelId, TopicKey),
    /// In topics with this name in any channel.
    TopicAnywhere(TopicKey),
    /// In one direct conversation.
    Direct(RecipientId),
    /// In any direct conversation.
    AllDirects,
    /// In direct conversations that a user participates in.
    DirectsWith(UserId),
    /// In direct conversations of three participants or more, of whom a user is one.
    GroupDirectsWith(UserId),
    Sender(UserId),
    Flagged(Flag),
    /// Without the flag `Read`.
    Unread,
    /// With any flag of a mention (`Flags::is_mention`).
    Mentioned,
    /// In topics that the user follows.
    Followed,
    /// In muted channels and topics (`visibility::is_muted`).
    Muted,
    /// In resolved topics (`topics::is_resolved`).
    Resolved,
    Has(Content),
    Ids(Vec<MessageId>),
    /// The empty set.
    Nothing,
}

/// One condition of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTerm {
    pub set: MessageSet,
    /// Subtract it instead of intersecting with it.
    pub negated: bool,
}

/// The set that the terms are applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every message of these channels (sorted); the requester may read all of them.
    Channels(Vec<ChannelId>),
    /// Messages that were delivered to the requester and are still accessible: direct conversations, and the channels
    /// and spans that `permissions::message::own_channel_history` lists.
    OwnHistory,
}

/// A fetch: the messages of `scope` for which all terms hold. Messages outside `scope` are never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub scope: Scope,
    pub terms: Vec<PlanTerm>,
    /// The muted messages that the anchor `first_unread` skips.
    pub skipped_muting: SkippedMuting,
    /// Whether messages must match the text of a search, too; see `search_text`.
    pub is_search: bool,
}

impl Plan {
    /// The smallest set among the terms, to start the search with: ids, a topic, a direct conversation, or a channel.
    pub fn narrowest(&self) -> Option<&MessageSet> {
        let rank = |set: &MessageSet| match set {
            MessageSet::Nothing => Some(0),
            MessageSet::Ids(_) => Some(1),
            MessageSet::Topic(..) => Some(2),
            MessageSet::Direct(_) => Some(3),
            MessageSet::Channel(_) => Some(4),
            _ => None,
        };
        let wanted = self.terms.iter().filter(|term| !term.negated);
        let ranked = wanted.filter_map(|term| Some((rank(&term.set)?, &term.set)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, set)| set)
    }

    /// Limits topics without a channel to the channel of the narrow, if it has exactly one.
    pub(super) fn bind_topics(&mut self) {
        let mut channels = self.terms.iter().filter(|term| !term.negated).filter_map(|term| match term.set {
            MessageSet::Channel(channel) => Some(channel),
            _ => None,
        });
        let Some(channel) = channels.next() else { return };
        if channels.any(|other| other != channel) {
            return;
        }
        for term in &mut self.terms {
            if let MessageSet::TopicAnywhere(topic) = &term.set {
                term.set = MessageSet::Topic(channel, topic.clone());
            }
        }
        let names_topic = |term: &PlanTerm| !term.negated && matches!(term.set, MessageSet::Topic(..));
        if self.terms.iter().any(names_topic) {
            self.terms.retain(|term| term.negated || !matches!(term.set, MessageSet::Channel(_)));
        }
    }
}
