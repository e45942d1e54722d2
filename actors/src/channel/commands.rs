//! Messages to a channel's actor.

use crate::ReplySender;
use crate::draft::{ChannelDraft, Sent};
use actix::prelude::*;
use model::{Fact, MessageRanges, UserId};
use std::sync::Arc;

/// Sends a message to a topic.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendMessage {
    pub draft: ChannelDraft,
    /// What ends with this message, in the same frame: a job or a scheduled message.
    pub(crate) ends: Option<Fact>,
    pub answer: ReplySender<Sent>,
}

/// Unsubscribes users from the channel.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Unsubscribe {
    pub users: Vec<UserId>,
    pub by: UserId,
    pub answer: ReplySender<UnsubscribedPart>,
}

/// What one frame has unsubscribed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsubscribedPart {
    pub outcome: Unsubscribed,
    /// Users who are still subscribed, because their unread messages did not fit.
    pub left: Vec<UserId>,
    /// A user's unread messages that did not fit and are still to be marked as read.
    pub unread: Option<(UserId, MessageRanges)>,
}

/// The outcome of unsubscribing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsubscribed {
    /// The users that were subscribed before.
    pub removed: Vec<UserId>,
    pub not_subscribed: Vec<UserId>,
}

/// Sent periodically: an actor that was not used for a while stops.
#[derive(Message)]
#[rtype(result = "()")]
pub struct IsIdle;

/// Facts decided by another actor of the organization, and the generation of the shard at that time
/// (`Committer::generation`).
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct ApplyFacts(pub Arc<[Fact]>, pub u64);
