//! Jobs: pending deliveries to other systems (e-mail, webhook calls, push notifications).
//!
//! A job is part of the frame of the command that caused it, so it is equally durable. It holds ids, kinds and
//! addresses, never secrets or finished texts: links, keys and texts are made at delivery from the state at that time.

mod mail;
mod push;
mod webhook;

pub use mail::{MailTask, MailUrgency};
pub use push::PushTask;
pub use webhook::{WebhookTask, WebhookTrigger};

use crate::ids::{JobId, Sequence, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A task to deliver. Stored permanently: variants are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    Mail(MailTask),
    Webhook(WebhookTask),
    Push(PushTask),
}

/// Kinds of tasks. Each has its own limits and schedule, so that a failing kind does not block the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    Mail,
    Webhook,
    Push,
}

/// Where tasks are delivered to. A failing destination does not delay the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskDestination {
    pub kind: TaskKind,
    /// The destination among those of the kind, for example a bot's id; 0 if there is only one. E-mails have one destination, and
    /// one id for each [`MailUrgency`].
    pub id: u32,
}

impl TaskKind {
    /// All kinds of tasks.
    pub const ALL: [Self; 3] = [Self::Mail, Self::Webhook, Self::Push];

    /// The name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
            Self::Push => "push",
        }
    }
}

impl Task {
    /// The destination of the task.
    pub fn destination(&self) -> TaskDestination {
        match self {
            Self::Mail(task) => TaskDestination { kind: TaskKind::Mail, id: task.urgency() as u32 },
            Self::Push(_) => TaskDestination { kind: TaskKind::Push, id: 0 },
            Self::Webhook(task) => TaskDestination { kind: TaskKind::Webhook, id: task.bot.0 },
        }
    }

    /// The kind of the task.
    pub fn kind(&self) -> TaskKind {
        self.destination().kind
    }

    /// The bot whose service is called; none for other tasks.
    pub fn bot(&self) -> Option<UserId> {
        match self {
            Self::Webhook(task) => Some(task.bot),
            Self::Mail(_) | Self::Push(_) => None,
        }
    }

    /// Whether it is a delivery to a user, or to an address.
    pub fn is_for(&self, user: UserId, address: &str) -> bool {
        match self {
            Self::Mail(MailTask::SignUp { address: own, .. }) => own.to_lowercase() == address.to_lowercase(),
            Self::Mail(task) => task.user() == Some(user),
            Self::Push(_) | Self::Webhook(_) => false,
        }
    }

    /// A description for the server's operators; contains no secrets.
    pub fn description(&self) -> String {
        match self {
            Self::Mail(task) => task.description(),
            Self::Push(task) => task.description(),
            Self::Webhook(task) => task.description(),
        }
    }
}

/// A pending job, or one that failed permanently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Derived from the fact that created the job.
    pub id: JobId,
    pub added: Timestamp,
    pub due: Timestamp,
    pub task: Task,
    /// Set once delivery was abandoned; none while it is pending.
    pub failure: Option<JobFailure>,
}

impl Job {
    /// When the job is due, by a clock that shows `now`: not longer from now than it had to wait when it was added. A clock that
    /// was ahead when the job was added and was set back since does not delay it.
    pub fn due_at(&self, now: Timestamp) -> Timestamp {
        let wait_millis = self.due.millis_since(self.added);
        self.due.min(Timestamp(now.0.saturating_add(wait_millis)))
    }
}

/// The permanent failure of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFailure {
    /// The time of the last attempt.
    pub at: Timestamp,
    /// The reason, without secrets.
    pub why: String,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobOutcome {
    /// The delivery succeeded.
    Delivered,
    /// The subject of the job no longer exists, so nothing was delivered.
    Dropped {
        /// The reason, without secrets.
        why: String,
    },
    /// Delivery was abandoned. The job is stored for the server's operators.
    GaveUp {
        /// The reason, without secrets.
        why: String,
    },
}

impl JobId {
    /// The id of the job that a fact creates, from the frame and the fact's position in it.
    pub fn of(sequence: Sequence, position: u16) -> Self {
        Self(sequence.0 << 16 | u64::from(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_was_ahead_does_not_delay_a_job() {
        let job = |added, due| {
            let task = Task::Mail(MailTask::SignUpKnown { user: UserId(1) });
            Job { id: JobId(1), added: Timestamp(added), due: Timestamp(due), task, failure: None }
        };
        for (added, due, now, expected) in [
            (100, 100, 100, 100),
            (100, 100, 900, 100),
            (100, 150, 120, 150),
            (100, 150, 900, 150),
            (5_000, 5_000, 100, 100),
            (5_000, 5_050, 100, 150),
        ] {
            assert_eq!(job(added, due).due_at(Timestamp(now)), Timestamp(expected), "{added} {due} {now}");
        }
    }
}
