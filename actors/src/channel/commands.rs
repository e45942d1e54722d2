//! Messages to a channel's actor.

use crate::ReplySender;
use crate::draft::{ChannelDraft, Sent};
use actix::prelude::*;
use model::Fact;
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

/// Sent periodically: an actor that was not used for a while stops.
#[derive(Message)]
#[rtype(result = "()")]
pub struct IsIdle;

/// Facts decided by another actor of the organization, and the generation of the shard at that time
/// (`Committer::generation`).
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct ApplyFacts(pub Arc<[Fact]>, pub u64);
