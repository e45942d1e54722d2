//! The interface between the outbox and the code that calls external services.

use crate::draft::{ChannelDraft, DirectDraft};
use crate::handle::RealmHandle;
use model::job::{Job, TaskKind};
use model::{Directory, Fact};
use std::pin::Pin;
use std::sync::Arc;

/// Delivers tasks to external services.
pub trait DeliveryWorker: Send + Sync {
    /// Whether tasks of a kind can be delivered, as the server is configured. Jobs of other kinds are added only if a user
    /// waits for them.
    fn supports(&self, kind: TaskKind) -> bool;

    /// Makes one attempt. Called on the delivery thread; the future may be dropped when it takes too long. Blocking work
    /// must use `spawn_blocking`.
    fn deliver(&self, attempt: DeliveryAttempt) -> Pin<Box<dyn Future<Output = Delivery> + Send>>;
}

/// One attempt to deliver a job.
#[derive(Clone)]
pub struct DeliveryAttempt {
    /// The organization, for reading its current state.
    pub realm: RealmHandle,
    pub job: Arc<Job>,
    /// The number of this attempt since the server started, from 1.
    pub tries: u32,
    /// Age of the job, in milliseconds.
    pub age_millis: u64,
}

impl DeliveryAttempt {
    /// A name of the job that is unique on this server and the same for each attempt.
    pub fn key(&self) -> String {
        format!("{}-{}", self.realm.id(), self.job.id)
    }

    /// Whether the job still waits for its end: not after a reset of the organization.
    pub fn is_waiting(&self) -> bool {
        self.realm.shared.view.read().jobs.get(self.job.id).is_some()
    }
}

/// The result of an attempt, as described in the module. `why` is for the log, without secrets.
pub enum Delivery {
    /// It succeeded, with a follow-up.
    Done(Option<Followup>),
    Dropped {
        why: String,
    },
    /// It failed for now; the next attempt is not before `after_secs` from now.
    Failed {
        why: String,
        after_secs: u64,
    },
    /// It failed permanently: another attempt would fail, too.
    Refused {
        why: String,
        followup: Option<Followup>,
    },
}

/// The follow-up of a delivery, decided in the same frame as the end of its job.
pub enum Followup {
    SendToChannel(Box<ChannelDraft>),
    SendDirect(Box<DirectDraft>),
    /// Other facts, decided from the durable state.
    Decide(Decide),
}

/// The facts of a follow-up, by the directory at that time.
pub type Decide = Arc<dyn Fn(&Directory) -> Vec<Fact> + Send + Sync>;

impl Delivery {
    /// A success without a follow-up.
    pub fn done() -> Self {
        Self::Done(None)
    }

    /// There is nothing to deliver any more.
    pub fn dropped(why: impl Into<String>) -> Self {
        Self::Dropped { why: why.into() }
    }

    /// A temporary failure.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into(), after_secs: 0 }
    }

    /// A temporary failure of a service that wants no request for some seconds. The longest delay of retries is not exceeded.
    pub fn busy(why: impl Into<String>, after_secs: u64) -> Self {
        Self::Failed { why: why.into(), after_secs }
    }

    /// A permanent failure without a follow-up.
    pub fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into(), followup: None }
    }
}

/// How jobs are delivered.
#[derive(Clone)]
pub struct OutboxOptions {
    pub worker: Arc<dyn DeliveryWorker>,
    /// Timeout of one attempt, in seconds.
    pub delivery_secs_max: u64,
    /// Seconds after which a failing job is dropped.
    pub give_up_secs: u64,
}
