//! The interface between the outbox and the code that calls external services.

use crate::draft::{ChannelDraft, DirectDraft};
use crate::handle::RealmHandle;
use model::job::{Job, TaskKind};
use model::{Directory, Fact};
use std::pin::Pin;
use std::sync::Arc;

/// Delivers tasks to external services.
pub trait DeliveryWorker: Send + Sync {
    /// Whether tasks of a kind can be delivered, as the server is configured. Jobs of other kinds are not added where no one
    /// waits for them.
    fn supports(&self, kind: TaskKind) -> bool;

    /// Makes one attempt. Called on the delivery thread; the future may be dropped when it takes too long. What must
    /// not run on an async thread goes through `spawn_blocking` here as everywhere.
    fn deliver(&self, attempt: DeliveryAttempt) -> Pin<Box<dyn Future<Output = Delivery> + Send>>;
}

/// A job on its way.
#[derive(Clone)]
pub struct DeliveryAttempt {
    /// The organization, for reading what is true by now.
    pub realm: RealmHandle,
    /// The job that is attempted.
    pub job: Arc<Job>,
    /// Which try this is since the server started, from 1.
    pub tries: u32,
    /// How long ago it came to be, in milliseconds.
    pub age_millis: u64,
}

impl DeliveryAttempt {
    /// A name for this job that no other one on this server has, the same for each try.
    pub fn key(&self) -> String {
        format!("{}-{}", self.realm.id(), self.job.id)
    }
}

/// What became of a try.
pub enum Delivery {
    /// It was done, and this follows from it.
    Done(Option<Followup>),
    /// There is nothing to do any more.
    Dropped {
        /// For the log, without secrets.
        why: String,
    },
    /// Not this time.
    Failed {
        /// For the log, without secrets.
        why: String,
    },
    /// It failed permanently: another attempt would fail, too.
    Refused {
        /// For the log, without secrets.
        why: String,
        /// What follows from it, a notification for example.
        followup: Option<Followup>,
    },
}

/// What follows from an answer, decided in the same frame as the end of its job.
pub enum Followup {
    /// A message to a topic.
    SendToChannel(Box<ChannelDraft>),
    /// A message to people.
    SendDirect(Box<DirectDraft>),
    /// Other facts, decided from what is durable.
    Decide(Decide),
}

/// The facts that follow, by what is durable then.
pub type Decide = Arc<dyn Fn(&Directory) -> Vec<Fact> + Send + Sync>;

impl Delivery {
    /// It was done, and nothing follows.
    pub fn done() -> Self {
        Self::Done(None)
    }

    /// There is nothing to do any more.
    pub fn dropped(why: impl Into<String>) -> Self {
        Self::Dropped { why: why.into() }
    }

    /// Not this time.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into() }
    }

    /// A permanent failure without a follow-up.
    pub fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into(), followup: None }
    }
}

/// How jobs are delivered.
#[derive(Clone)]
pub struct OutboxOptions {
    /// The delivery worker.
    pub worker: Arc<dyn DeliveryWorker>,
    /// Seconds that one try may take.
    pub delivery_secs_max: u64,
    /// Seconds after which a job that fails is given up.
    pub give_up_secs: u64,
}
