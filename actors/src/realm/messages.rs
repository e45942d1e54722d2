//! What an organization can be asked.

use crate::Answer;
use crate::channel::ChannelActor;
use crate::direct::DirectActor;
use crate::draft::Draft;
use crate::presence::Report;
use crate::session::SessionActor;
use actix::prelude::*;
use model::event::TypingPlace;
use model::fact::MessageRanges;
use model::{
    Bot, Channel, ChannelId, EventNumber, Fact, Flag, FlagOp, GroupSetting, QueueId, QueueOptions, Role,
    User, UserId,
};
use std::sync::Arc;

/// A person or bot to be created.
#[derive(Clone)]
pub struct NewUser {
    /// Real address.
    pub email: String,
    /// Display name.
    pub full_name: String,
    /// Role.
    pub role: Role,
    /// Present for bots.
    pub bot: Option<Bot>,
    /// argon2id hash.
    pub password_hash: Option<String>,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// Channels to be subscribed to, besides the default ones.
    pub channels: Vec<ChannelId>,
}

/// Create a user.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CreateUser {
    /// Whom.
    pub user: NewUser,
    /// Gets the record when it is durable.
    pub answer: Answer<Arc<User>>,
}

/// A text by one of the server's own bots.
#[derive(Clone, Debug)]
pub struct Notice {
    /// What.
    pub draft: Draft,
    /// Who has read it by having caused it.
    pub read_by: UserId,
}

/// A channel to be created.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// Its record; id, recipient and creation time are filled in.
    pub channel: Channel,
    /// First subscribers with their colours.
    pub subscribers: Vec<(UserId, String)>,
    /// Whether new people are subscribed to it.
    pub is_default: bool,
    /// The first message, in topic `channel events`.
    pub notice: Option<Notice>,
    /// Who creates it.
    pub by: UserId,
}

impl NewChannel {
    /// A plain public channel, to be refined.
    pub fn public(name: &str, by: UserId, permissions: model::ChannelPermissions) -> Self {
        Self {
            channel: Channel {
                creator: Some(by),
                ..Channel::new(
                    ChannelId::default(),
                    model::RecipientId::default(),
                    name,
                    model::Timestamp::default(),
                    permissions,
                )
            },
            subscribers: Vec::new(),
            is_default: false,
            notice: None,
            by,
        }
    }

    /// The setting that names only the creator.
    pub fn creator_only(by: UserId) -> GroupSetting {
        GroupSetting::only(by)
    }
}

/// Create a channel, subscribe its first people and write its first notice: one frame.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CreateChannel {
    /// What.
    pub channel: Box<NewChannel>,
    /// Gets the id when it is durable.
    pub answer: Answer<ChannelId>,
}

/// Set or clear a flag on messages.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ChangeFlags {
    /// Whose.
    pub user: UserId,
    /// Which.
    pub flag: Flag,
    /// How.
    pub op: FlagOp,
    /// On which messages; those that need it.
    pub messages: MessageRanges,
    /// Told when it is durable.
    pub answer: Answer<()>,
}

/// A queue that was registered.
#[derive(Clone, Debug)]
pub struct RegisteredQueue {
    /// Its name.
    pub id: QueueId,
    /// The newest event at that moment, kept or not; the queue has those behind it.
    pub after: EventNumber,
}

/// Register an event queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RegisterQueue {
    /// For whom.
    pub user: UserId,
    /// What it delivers.
    pub options: QueueOptions,
    /// Gets the name when it delivers.
    pub answer: Answer<RegisteredQueue>,
}

/// Continue a queue that was registered before the server was restarted.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ResumeQueue {
    /// Which.
    pub queue: QueueId,
    /// Whose.
    pub user: UserId,
    /// The newest event that the client has.
    pub last_event_id: i64,
    /// Gets the session.
    pub answer: Answer<Addr<SessionActor>>,
}

/// End a queue.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EndQueue {
    /// Which.
    pub queue: QueueId,
    /// Whose.
    pub user: UserId,
    /// Told when it is over, if anybody asked.
    pub answer: Option<Answer<()>>,
}

/// A queue was silent for long.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendHeartbeat {
    /// Which.
    pub queue: QueueId,
}

/// Somebody starts or stops typing.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Type {
    /// Who.
    pub sender: Arc<User>,
    /// Starts, or stops.
    pub is_start: bool,
    /// Where.
    pub place: TypingPlace,
    /// Who is told, sorted.
    pub readers: Vec<UserId>,
    /// Told when it is on its way.
    pub answer: Answer<()>,
}

/// Somebody is here.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReportPresence {
    /// Who.
    pub user: Arc<User>,
    /// Doing what.
    pub report: Report,
    /// Told when it is noted.
    pub answer: Answer<()>,
}

/// Start a channel's actor, or find it.
#[derive(Message)]
#[rtype(result = "Option<Addr<ChannelActor>>")]
pub struct OpenChannel(pub ChannelId);

/// Start a conversation's actor, or find it.
#[derive(Message)]
#[rtype(result = "Addr<DirectActor>")]
pub struct OpenDirect(pub Vec<UserId>);

/// Facts that another actor of the organization decided.
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub struct LearnFacts(pub Arc<[Fact]>);
