//! Messages to the organization's actor.

use crate::ReplySender;
use crate::channel::ChannelActor;
use crate::direct::DirectActor;
use crate::presence::Report;
use crate::session::SessionActor;
use actix::prelude::*;
use model::event::TypingPlace;
use model::fact::MessageRanges;
use model::{Bot, ChannelId, EventNumber, Flag, FlagOp, QueueId, QueueOptions, Role, User, UserId};
use std::sync::Arc;

/// A person or bot to be created.
#[derive(Clone)]
pub struct NewUser {
    /// The real e-mail address.
    pub email: String,
    /// The name that others see.
    pub full_name: String,
    /// The role in the organization.
    pub role: Role,
    /// Present for bots.
    pub bot: Option<Bot>,
    /// The argon2id hash of the password; none: no login by password.
    pub password_hash: Option<String>,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// Channels to be subscribed to, besides the default ones.
    pub channels: Vec<ChannelId>,
}

/// Set or clear a flag on messages.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ChangeFlags {
    /// The user that the record belongs to.
    pub user: UserId,
    /// The flag that changes.
    pub flag: Flag,
    /// Whether the flag is set or cleared.
    pub op: FlagOp,
    /// On which messages; those that need it.
    pub messages: MessageRanges,
    /// Gets the result when it is durable.
    pub answer: ReplySender<()>,
}

/// A queue that was registered.
#[derive(Clone, Debug)]
pub struct RegisteredQueue {
    /// The id of the queue.
    pub id: QueueId,
    /// The newest event at registration, logged or not; the queue receives later ones.
    pub after: EventNumber,
}

/// Register an event queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RegisterQueue {
    /// The owner of the queue.
    pub user: UserId,
    /// What it delivers.
    pub options: QueueOptions,
    /// Gets the name when it delivers.
    pub answer: ReplySender<RegisteredQueue>,
}

/// Continue a queue that was registered before the server was restarted.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ResumeQueue {
    /// The id of the queue.
    pub queue: QueueId,
    /// The user that the record belongs to.
    pub user: UserId,
    /// The newest event that the client has.
    pub last_event_id: i64,
    /// Gets the session.
    pub answer: ReplySender<Addr<SessionActor>>,
}

/// End a queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EndQueue {
    /// The id of the queue.
    pub queue: QueueId,
    /// The user that the record belongs to.
    pub user: UserId,
    /// Gets the result when the end is durable, if a caller waits.
    pub answer: Option<ReplySender<()>>,
}

/// A user starts or stops typing.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Type {
    /// The user that types.
    pub sender: Arc<User>,
    /// Starts, or stops.
    pub is_start: bool,
    /// The conversation in which the user types.
    pub place: TypingPlace,
    /// The recipients, sorted.
    pub readers: Vec<UserId>,
    /// Gets the result when the event is queued.
    pub answer: ReplySender<()>,
}

/// A client reports the presence of a user.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReportPresence {
    /// The acting user.
    pub user: Arc<User>,
    /// What the client reports.
    pub report: Report,
    /// Gets the result when the report is recorded.
    pub answer: ReplySender<()>,
}

/// Start a channel's actor, or find it.
#[derive(Message)]
#[rtype(result = "Option<Addr<ChannelActor>>")]
pub struct OpenChannel(pub ChannelId);

/// Start a conversation's actor, or find it.
#[derive(Message)]
#[rtype(result = "Addr<DirectActor>")]
pub struct OpenDirect(pub Vec<UserId>);
