//! Messages to the organization's actor. `answer` gets the outcome when it is durable or, for ephemeral events, when the
//! event is queued.

use crate::ReplySender;
use crate::channel::ChannelActor;
use crate::direct::DirectActor;
use crate::presence::Report;
use crate::session::Session;
use actix::prelude::*;
use model::fact::MessageRanges;
use model::{
    Bot, ChannelId, EventBody, EventNumber, Flag, FlagOp, QueueId, QueueOptions, Role, User, UserId,
};
use std::sync::Arc;

/// A person or bot to be created.
#[derive(Clone)]
pub struct NewUser {
    pub email: String,
    pub full_name: String,
    pub role: Role,
    pub bot: Option<Bot>,
    /// The argon2id hash of the password; none: no login by password.
    pub password_hash: Option<String>,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// Channels to be subscribed to, besides the default ones.
    pub channels: Vec<ChannelId>,
}

impl NewUser {
    /// A person without a password, in the default channels.
    pub fn new(email: impl Into<String>, full_name: impl Into<String>, role: Role) -> Self {
        Self {
            email: email.into(),
            full_name: full_name.into(),
            role,
            bot: None,
            password_hash: None,
            timezone: String::new(),
            channels: Vec::new(),
        }
    }
}

/// Sets or clears a flag on messages; no messages send an event without effect.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ChangeFlags {
    pub user: UserId,
    pub flag: Flag,
    pub op: FlagOp,
    pub messages: MessageRanges,
    pub answer: ReplySender<()>,
}

/// A queue that was registered.
#[derive(Clone, Debug)]
pub struct RegisteredQueue {
    pub id: QueueId,
    /// The newest event at registration, stored or ephemeral; the queue receives later ones.
    pub after: EventNumber,
}

/// Registers an event queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RegisterQueue {
    pub user: UserId,
    pub options: QueueOptions,
    pub answer: ReplySender<RegisteredQueue>,
}

/// Resumes a queue that was registered before the server was restarted.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ResumeQueue {
    pub queue: QueueId,
    pub user: UserId,
    /// The newest event that the client has.
    pub last_event_id: i64,
    pub answer: ReplySender<Arc<Session>>,
}

/// Ends a queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EndQueue {
    pub queue: QueueId,
    pub user: UserId,
    pub answer: Option<ReplySender<()>>,
}

/// Ends one queue of the organization or all of them, as if the server had forgotten them: waiting polls get
/// BAD_EVENT_QUEUE_ID. Answers how many there were.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ExpireQueues {
    /// None for all.
    pub queue: Option<QueueId>,
    pub answer: ReplySender<usize>,
}

/// Replaces everything in the organization by what the frames create; its event queues end. For development servers.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ResetRealm {
    /// The first creates the organization.
    pub frames: Vec<Vec<model::Fact>>,
    pub answer: ReplySender<()>,
}

/// A user starts or stops typing, a new message or a new text of one.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Type {
    /// The event to send.
    pub body: EventBody,
    /// The recipients, sorted.
    pub readers: Vec<UserId>,
    pub answer: ReplySender<()>,
}

/// A client reports the presence of a user.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReportPresence {
    pub user: Arc<User>,
    pub report: Report,
    pub answer: ReplySender<()>,
}

/// Returns a channel's actor, which is started if it does not run.
#[derive(Message)]
#[rtype(result = "Option<Addr<ChannelActor>>")]
pub struct OpenChannel(pub ChannelId);

/// Returns the actor of a direct conversation between users (sorted), which is started if it does not run.
#[derive(Message)]
#[rtype(result = "Addr<DirectActor>")]
pub struct OpenDirect(pub Vec<UserId>);

/// Ends what has expired now, instead of at the next tick.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ExpireNow;
