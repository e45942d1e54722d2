//! What a channel can be asked.

use crate::Answer;
use crate::draft::{ChannelDraft, Sent};
use crate::outbox::JobEnd;
use actix::prelude::*;
use model::UserId;

/// Send a message to a topic.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendMessage {
    /// What to send.
    pub draft: ChannelDraft,
    /// The job that sending it ends.
    pub(crate) ends: Option<JobEnd>,
    /// Gets the id when the message is durable.
    pub answer: Answer<Sent>,
}

/// Subscribe users.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Subscribe {
    /// Who is to be subscribed, with the colour each one asked for or was given.
    pub users: Vec<(UserId, String)>,
    /// Who does it.
    pub by: UserId,
    /// Gets who was.
    pub answer: Answer<Subscribed>,
}

/// The outcome of subscribing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscribed {
    /// Subscribed now.
    pub subscribed: Vec<UserId>,
    /// Were subscribed already.
    pub already: Vec<UserId>,
}

/// Unsubscribe users.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Unsubscribe {
    /// Who is to be unsubscribed.
    pub users: Vec<UserId>,
    /// Who does it.
    pub by: UserId,
    /// Gets who was.
    pub answer: Answer<Unsubscribed>,
}

/// The outcome of unsubscribing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsubscribed {
    /// Unsubscribed now.
    pub removed: Vec<UserId>,
    /// Were not subscribed.
    pub not_subscribed: Vec<UserId>,
}

/// Asked now and then: an actor that nobody used for a while goes away.
#[derive(Message)]
#[rtype(result = "()")]
pub struct IsIdle;
