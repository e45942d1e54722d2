//! A narrow with everything looked up: sets of messages to intersect and subtract, and where to search.

use crate::visibility::SkippedMuting;
use model::{ChannelId, Flag, MessageId, RecipientId, TopicKey, UserId};

/// What a message can contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A link.
    Link,
    /// An image preview.
    Image,
    /// An uploaded file.
    Attachment,
    /// A reaction, of anybody.
    Reaction,
}

/// A set of messages. Flags, policies and unread are those of the asking user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageSet {
    /// In a channel.
    Channel(ChannelId),
    /// In any of these channels; sorted.
    Channels(Vec<ChannelId>),
    /// In a topic of a channel.
    Topic(ChannelId, TopicKey),
    /// In topics with this name, of whatever channel.
    TopicAnywhere(TopicKey),
    /// In a direct conversation.
    Direct(RecipientId),
    /// In any direct conversation.
    AllDirects,
    /// In direct conversations that a user takes part in.
    DirectsWith(UserId),
    /// The same with three people or more.
    GroupDirectsWith(UserId),
    /// By a user.
    Sender(UserId),
    /// With this flag.
    Flagged(Flag),
    /// Without the flag `Read`.
    Unread,
    /// With any flag of a mention (`Flags::is_mention`).
    Mentioned,
    /// In topics that the user follows.
    Followed,
    /// In what counts as muted (`visibility::is_muted`).
    Muted,
    /// In resolved topics (`topics::is_resolved`).
    Resolved,
    /// Containing something.
    Has(Content),
    /// These; sorted.
    Ids(Vec<MessageId>),
    /// None at all.
    Nothing,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTerm {
    /// The set.
    pub set: MessageSet,
    /// Subtract it instead of intersecting with it.
    pub negated: bool,
}

/// Where to search: the set that the terms are applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every message of these channels (sorted): the asker may read all of them.
    Channels(Vec<ChannelId>),
    /// What was delivered to the asker and is still reachable: direct conversations, and the channels and
    /// stretches that `permissions::message::own_channel_history` lists.
    OwnHistory,
}

/// What to fetch. Nothing outside `scope` may ever be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where to search.
    pub scope: Scope,
    /// All of these must hold.
    pub terms: Vec<PlanTerm>,
    /// What the anchor `first_unread` passes over.
    pub skipped_muting: SkippedMuting,
}

impl Plan {
    /// The one set that lies within a single conversation or names its messages, where the search best begins:
    /// ids, a topic, a direct conversation, or a channel.
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

    /// Binds topics without a channel to the one channel that the narrow names: in it they are the same set.
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
