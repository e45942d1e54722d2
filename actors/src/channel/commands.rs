//! Messages to a channel's actor.

use crate::ReplySender;
use crate::draft::{ChannelDraft, Sent};
use crate::outbox::JobEnd;
use actix::prelude::*;
use model::{Fact, UserId};
use std::sync::Arc;

/// Send a message to a topic.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendMessage {
    /// What to send.
    pub draft: ChannelDraft,
    /// The job that sending it ends.
    pub(crate) ends: Option<JobEnd>,
    /// Gets the id when the message is durable.
    pub answer: ReplySender<Sent>,
}

/// Unsubscribes users from the channel.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Unsubscribe {
    /// The users to unsubscribe.
    pub users: Vec<UserId>,
    /// The acting user.
    pub by: UserId,
    /// Gets the outcome when it is durable.
    pub answer: ReplySender<Unsubscribed>,
}

/// The outcome of unsubscribing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsubscribed {
    /// Users that were subscribed before.
    pub removed: Vec<UserId>,
    /// Were not subscribed.
    pub not_subscribed: Vec<UserId>,
}

/// Sent periodically: an actor that was not used for a while stops.
#[derive(Message)]
#[rtype(result = "()")]
pub struct IsIdle;

/// Facts that another actor of the organization decided, and the generation of the shard in which it did
/// (`Committer::generation`).
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct ApplyFacts(pub Arc<[Fact]>, pub u64);
