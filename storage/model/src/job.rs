//! Jobs: what the server owes to the world outside (a mail, a call of a webhook, a push notification).
//!
//! A job is part of the frame whose command caused it, so it is as durable as what caused it. It names what it is about
//! (ids, kinds, addresses), never secrets or finished texts: links, keys and words are made at delivery, from what is
//! true by then.

mod mail;
mod push;
mod webhook;

pub use mail::MailTask;
pub use push::PushTask;
pub use webhook::{WebhookTask, WebhookTrigger};

use crate::ids::{JobId, Sequence};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What is to be done. Stored for ever: variants are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Send an e-mail.
    Mail(MailTask),
    /// Ask the service of a bot.
    Webhook(WebhookTask),
    /// Ask something of the push service.
    Push(PushTask),
}

/// Kinds of tasks: each has room and time of its own, so that one that cannot be delivered is in no other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// E-mail.
    Mail,
    /// Calls of outgoing webhooks.
    Webhook,
    /// Push notifications.
    Push,
}

/// Tasks that go to the same place. What fails there holds up nothing elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// The kind.
    pub kind: TaskKind,
    /// Which place among those of the kind: a bot's id, say; 0 where there is only one.
    pub place: u32,
}

impl TaskKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Mail, Self::Webhook, Self::Push];

    /// The word for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
            Self::Push => "push",
        }
    }
}

impl Task {
    /// Where it goes.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Mail(_) => Lane { kind: TaskKind::Mail, place: 0 },
            Self::Push(_) => Lane { kind: TaskKind::Push, place: 0 },
            Self::Webhook(task) => Lane { kind: TaskKind::Webhook, place: task.bot.0 },
        }
    }

    /// Its kind.
    pub fn kind(&self) -> TaskKind {
        self.lane().kind
    }

    /// What it is about, in words for those who run the server; no secrets.
    pub fn words(&self) -> String {
        match self {
            Self::Mail(task) => task.words(),
            Self::Push(task) => task.words(),
            Self::Webhook(task) => task.words(),
        }
    }
}

/// A job that is to be done, or of which was said that it cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// When it came to be.
    pub added: Timestamp,
    /// Not before this.
    pub due: Timestamp,
    /// What is to be done.
    pub task: Task,
    /// Why and when it was given up; none while it waits.
    pub failure: Option<JobFailure>,
}

/// The end of a job that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFailure {
    /// When.
    pub at: Timestamp,
    /// Why, in words without secrets.
    pub why: String,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobOutcome {
    /// It was done.
    Delivered,
    /// There was nothing to be done any more: what it was about is gone.
    Dropped {
        /// In words without secrets.
        why: String,
    },
    /// It could not be done. The job is kept for those who run the server to see.
    GaveUp {
        /// In words without secrets.
        why: String,
    },
}

impl JobId {
    /// The job that a fact makes, by the frame and the fact's position in it: nobody has to count.
    pub fn of(sequence: Sequence, position: u16) -> Self {
        Self(sequence.0 << 16 | u64::from(position))
    }
}
