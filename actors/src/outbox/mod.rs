//! The outbox: what an organization owes to the world outside, and the worker that carries it there.
//!
//! **To owe something** is a fact. A command pushes [`job`] among the facts of its frame, so that the job is as durable as
//! what caused it, and there is none where the command failed. A task says what it is *about*; texts, links and keys are made
//! by the courier at delivery, and what is gone by then is not delivered (`Delivery::Dropped`). Whoever takes a request that
//! is for nothing without the job (an invitation) asks `RealmShared::check_outbox` first; what merely tells somebody of something
//! need not: past the bound (`JOBS_WAITING_MAX` of a kind in an organization) a job is left out, with a warning.
//!
//! **To carry it** is for the [`Courier`] that the server was started with: one function for each kind of task, on a
//! thread of its own, away from those that decide. What it answers:
//!
//! | [`Delivery`] | then |
//! |---|---|
//! | `Done(None)` | the job ends |
//! | `Done(Some(Followup))` | the job ends in the same frame as what follows from the answer: that happens once, if at all |
//! | `Dropped` | the job ends: there was nothing left to do |
//! | `Failed` | it is tried again, later and later (`schedule::wait_millis`), until `give_up_secs` after it was due |
//! | `Refused` | it is given up at once: trying again would not help; what follows (somebody is told) is in the same frame |
//!
//! What takes longer than `delivery_secs_max`, or panics, has failed. Delivery is at least once: whoever may be told twice
//! gets `Parcel::key`, the same for each try of a job.
//!
//! **The worker** of an organization lives on its shard and begins what is due ([`schedule`]): so many at once of each kind,
//! fewer to one place (`Task::lane`), one by one where the last try failed. Tries are not kept: after a restart each waiting
//! job is tried at once. Ends are facts (`JobEnded`), so what was confirmed is not done again.
//!
//! To add a kind: a variant of `model::job::Task` (with its own file, lane and words), and an arm in the courier.

mod end;
mod outside;
mod schedule;
mod worker;

pub(crate) use outside::Outside;
pub(crate) use worker::Worker;

use crate::draft::{ChannelDraft, DirectDraft};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::shared::RealmShared;
use model::job::{Job, JobOutcome, Task, TaskKind};
use model::{Directory, Fact, JobId, Timestamp};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Seconds that a stopping server waits for what is under way.
const STOP_SECS_MAX: u64 = 5;

/// The fact that makes a job, due at a time: `now`, or later.
pub fn job(due: Timestamp, task: Task) -> Fact {
    Fact::JobAdded { due, task: Box::new(task) }
}

/// The end of a job, for the frame of what follows from its delivery.
#[derive(Clone, Debug)]
pub(crate) struct JobEnd {
    /// Which.
    pub job: JobId,
    /// How it ended.
    pub outcome: JobOutcome,
}

impl From<JobEnd> for Fact {
    fn from(JobEnd { job, outcome }: JobEnd) -> Self {
        Self::JobEnded { job, outcome }
    }
}

/// Takes tasks to the world outside.
pub trait Courier: Send + Sync {
    /// Whether tasks of a kind can be carried at all, as the server is configured. Others are not made where nobody
    /// waits for them.
    fn carries(&self, kind: TaskKind) -> bool;

    /// Tries once. Called on the thread for the world outside; the future may be dropped when it takes too long. What must
    /// not run on an async thread goes through `spawn_blocking` here as everywhere.
    fn deliver(&self, parcel: Parcel) -> Pin<Box<dyn Future<Output = Delivery> + Send>>;
}

/// A job on its way.
#[derive(Clone)]
pub struct Parcel {
    /// The organization, for reading what is true by now.
    pub realm: RealmHandle,
    /// The job.
    pub job: Arc<Job>,
    /// Which try this is since the server started, from 1.
    pub tries: u32,
}

impl Parcel {
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
        /// In words without secrets.
        why: String,
    },
    /// Not this time.
    Failed {
        /// In words without secrets.
        why: String,
    },
    /// Not ever.
    Refused {
        /// In words without secrets.
        why: String,
        /// What follows from it: somebody is told, say.
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

    /// Not ever.
    pub fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into(), followup: None }
    }
}

/// How jobs are carried.
#[derive(Clone)]
pub struct OutboxOptions {
    /// Who carries them.
    pub courier: Arc<dyn Courier>,
    /// Seconds that one try may take.
    pub delivery_secs_max: u64,
    /// Seconds after which a job that fails is given up.
    pub give_up_secs: u64,
}

/// The outbox of one organization, as all threads see it.
#[derive(Default)]
pub(crate) struct Outbox {
    /// How jobs are carried; none where the data folder is only looked at: then they wait.
    outside: Option<Arc<Outside>>,
    woken: Notify,
    is_stopping: AtomicBool,
    under_way: AtomicUsize,
}

impl Outbox {
    /// An outbox whose jobs are carried by `outside`.
    pub fn new(outside: Option<Arc<Outside>>) -> Self {
        Self { outside, ..Self::default() }
    }

    /// Lets the worker look at what there is.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Begins nothing more.
    fn begin_stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// Whether a frame brought new jobs: then the worker is woken, and what had no room is said.
    pub fn note(&self, jobs: &storage::view::Jobs, sequence: model::Sequence, facts: &[Fact]) {
        let mut has_new = false;
        for (position, fact) in (0..).zip(facts) {
            let Fact::JobAdded { task, .. } = fact else { continue };
            has_new = true;
            if jobs.get(JobId::of(sequence, position)).is_none() {
                let kind = task.kind().name();
                tracing::warn!(kind, "too much waits to be delivered; a new job was left out");
                metrics::counter!("millstream_outbox_total", "kind" => kind, "outcome" => "no_room")
                    .increment(1);
            }
        }
        if has_new {
            self.wake();
        }
    }
}

/// Lets the outboxes of these organizations begin nothing more, and waits a little for what is under way. What is not
/// done by then is done after the next start.
pub(crate) async fn stop(realms: &[RealmHandle]) {
    realms.iter().for_each(|realm| realm.0.outbox.begin_stop());
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(STOP_SECS_MAX);
    while realms.iter().any(|realm| realm.0.outbox.is_busy()) && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

impl RealmShared {
    /// Whether tasks of a kind can be carried, as the server is configured. Do not make tasks of others.
    pub(crate) fn carries(&self, kind: TaskKind) -> bool {
        self.outbox.outside.as_ref().is_some_and(|outside| outside.options.courier.carries(kind))
    }

    /// Refuses a command that needs a new job of a kind when too many wait already.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(crate) fn check_outbox(&self, kind: TaskKind) -> Result<(), DomainError> {
        if self.view.read().jobs.has_room(kind) { Ok(()) } else { Err(DomainError::Overloaded) }
    }
}

impl RealmHandle {
    /// How many deliveries are under way now: everything else that is owed waits as a row.
    pub fn under_way(&self) -> usize {
        self.0.outbox.under_way.load(Ordering::SeqCst)
    }

    /// Whether tasks of a kind can be carried, as the server is configured.
    pub fn carries(&self, kind: TaskKind) -> bool {
        self.0.carries(kind)
    }

    /// A key for a link that this server gave out: derived from the server's secret, the organization, what the link is
    /// for (a word of your own) and whatever makes it the only one. Nothing of it is stored.
    pub fn link_key(&self, purpose: &str, parts: &[&str]) -> String {
        self.0.credentials.link_key(self.id(), purpose, parts)
    }

    /// Whether a key is the one of a link, in constant time.
    pub fn is_link_key(&self, key: &str, purpose: &str, parts: &[&str]) -> bool {
        self.0.credentials.is_link_key(key, self.id(), purpose, parts)
    }
}
