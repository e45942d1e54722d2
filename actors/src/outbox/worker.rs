//! The worker of one organization: starts due jobs and records how they end.

use super::delivery::{Delivery, DeliveryAttempt};
use super::job::JobEnd;
use super::room::call_owner;
use super::schedule::{Schedule, first_attempt, wait_at_least, wait_millis};
use super::threads::DeliveryThreads;
use crate::handle::RealmHandle;
use crate::shard::Committer;
use crate::shared::RealmShared;
use model::job::{Job, JobOutcome};
use model::{JobId, Timestamp};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Interval of the check for due jobs. Due times are data: a late check only delays a job.
const TICK: Duration = Duration::from_millis(500);

/// Origin of the schedule's times, in milliseconds (139 years).
const STEADY_ORIGIN_MILLIS: u64 = 1 << 42;

/// Milliseconds that a stopping server waits for deliveries in progress. Longer ones are abandoned, and repeated after
/// the next start.
const STOP_MILLIS_MAX: u64 = 300;

/// The worker of one organization; runs on its shard.
pub(crate) struct Worker {
    pub(super) handle: RealmHandle,
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    outside: Arc<DeliveryThreads>,
    schedule: RefCell<Schedule>,
    /// The newest job that was added to the schedule.
    last: Cell<JobId>,
}

impl Worker {
    /// Starts the worker on this thread.
    pub fn start(handle: &RealmHandle, committer: &Rc<Committer>, outside: Arc<DeliveryThreads>) {
        let worker = Rc::new(Self {
            handle: handle.clone(),
            realm: handle.shared.clone(),
            committer: committer.clone(),
            outside,
            schedule: RefCell::default(),
            last: Cell::default(),
        });
        actix::spawn(worker.run());
    }

    async fn run(self: Rc<Self>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.realm.outbox.woken.notified() => {}
                _ = tick.tick() => {}
            }
            if self.realm.outbox.is_stopping() {
                return;
            }
            self.add_new_jobs();
            self.begin_due();
        }
    }

    /// Adds new jobs to the schedule.
    fn add_new_jobs(&self) {
        let view = self.realm.view.read();
        let mut schedule = self.schedule.borrow_mut();
        for job in view.jobs.after(self.last.get()) {
            self.last.set(job.id);
            let owner = job.task.bot().map(|bot| call_owner(&view.directory, bot));
            schedule.add(job.id, (job.task.destination(), owner), self.steady(self.first_attempt(job)));
        }
    }

    fn first_attempt(&self, job: &Job) -> Timestamp {
        let options = &self.outside.options;
        first_attempt(
            job.due_at(self.realm.clock.now()),
            self.realm.supports(job.task.kind()),
            options.give_up_secs,
        )
    }

    /// The current time of the schedule: monotonic, far enough from zero for jobs that were due long before the start.
    fn steady_now(&self) -> Timestamp {
        let passed = self.realm.clock.monotonic().as_millis();
        Timestamp(STEADY_ORIGIN_MILLIS.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX)))
    }

    /// A wall-clock time in the time of the schedule, which later changes of the wall clock do not affect.
    fn steady(&self, at: Timestamp) -> Timestamp {
        let (wall, steady) = (self.realm.clock.now(), self.steady_now());
        Timestamp((steady.0 + at.millis_since(wall)).saturating_sub(wall.millis_since(at)))
    }

    fn begin_due(self: &Rc<Self>) {
        let now = self.steady_now();
        while let Some((id, tries)) = self.next(now) {
            let job = self.realm.view.read().jobs.get(id).cloned();
            match job {
                Some(job) => drop(actix::spawn(self.clone().deliver_job(job, tries))),
                // It has ended otherwise.
                None => self.end(id, true),
            }
        }
    }

    fn next(&self, now: Timestamp) -> Option<(JobId, u32)> {
        let mut schedule = self.schedule.borrow_mut();
        let next = schedule.begin(now);
        self.realm.outbox.set_in_progress(schedule.in_progress());
        next
    }

    /// Time since the first due time of a job.
    fn overdue_millis(&self, id: JobId) -> u64 {
        let first_due = self.schedule.borrow().first_due(id);
        first_due.map_or(0, |due| self.steady_now().millis_since(due))
    }

    /// Removes an ended job from the schedule.
    fn end(&self, id: JobId, was_reached: bool) {
        self.realm.outbox.attempts.ended(id);
        self.change(|schedule| schedule.end(id, was_reached));
    }

    fn change(&self, change: impl FnOnce(&mut Schedule)) {
        let mut schedule = self.schedule.borrow_mut();
        change(&mut schedule);
        self.realm.outbox.set_in_progress(schedule.in_progress());
        drop(schedule);
        self.realm.outbox.wake();
    }

    async fn deliver_job(self: Rc<Self>, job: Arc<Job>, tries: u32) {
        let age_millis = self.overdue_millis(job.id) + job.due.millis_since(job.added);
        let attempt = DeliveryAttempt { realm: self.handle.clone(), job: job.clone(), tries, age_millis };
        let (outcome, followup, was_reached) = match self.outside.deliver(attempt).await {
            Delivery::Done(followup) => {
                count(&job, "delivered");
                (JobOutcome::Delivered, followup, true)
            }
            Delivery::Dropped { why } => {
                tracing::info!(job = %job.id, about = job.task.description(), why, "a delivery was dropped before it was made");
                count(&job, "dropped");
                (JobOutcome::Dropped { why }, None, true)
            }
            Delivery::Failed { why, after_secs } => {
                count(&job, "failed");
                if self.overdue_millis(job.id) < self.outside.options.give_up_secs.saturating_mul(1000) {
                    return self.try_later(&job, tries, &why, after_secs);
                }
                (JobOutcome::GaveUp { why }, None, false)
            }
            Delivery::Refused { why, followup } => (JobOutcome::GaveUp { why }, followup, true),
        };
        if let JobOutcome::GaveUp { why } = &outcome {
            tracing::warn!(job = %job.id, about = job.task.description(), tries, why, "delivery failed permanently");
            count(&job, "given_up");
        }
        let end = JobEnd { job: job.id, outcome };
        if self.follow_up(end, followup).await {
            self.end(job.id, was_reached);
        } else if self.realm.outbox.is_stopping() {
            // The worker has stopped: the job is repeated after the restart.
            self.change(|schedule| schedule.retry(job.id, self.steady_now(), 0));
        }
    }

    fn try_later(&self, job: &Job, tries: u32, why: &str, after_secs: u64) {
        // Without randomness, delays are merely regular.
        let wait_millis = wait_at_least(after_secs, wait_millis(tries, getrandom::u64().unwrap_or_default()));
        tracing::warn!(
            job = %job.id,
            about = job.task.description(),
            tries,
            why,
            again_in_secs = wait_millis / 1000,
            "not delivered yet; the delivery is retried"
        );
        let next = Timestamp(self.realm.clock.now().0.saturating_add(wait_millis));
        self.realm.outbox.attempts.failed(job.id, tries, why, next);
        let now = self.steady_now();
        self.change(|schedule| schedule.retry(job.id, now, wait_millis));
    }
}

fn count(job: &Job, outcome: &'static str) {
    let kind = job.task.kind().name();
    metrics::counter!("millstream_outbox_total", "kind" => kind, "outcome" => outcome).increment(1);
}

/// Stops the outboxes of these organizations, and waits briefly for deliveries in progress. Unfinished jobs are delivered
/// after the next start.
pub(crate) async fn stop(realms: &[RealmHandle]) {
    realms.iter().for_each(|realm| realm.shared.outbox.begin_stop());
    let deadline = tokio::time::Instant::now() + Duration::from_millis(STOP_MILLIS_MAX);
    while realms.iter().any(|realm| realm.shared.outbox.in_progress() > 0)
        && tokio::time::Instant::now() < deadline
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
