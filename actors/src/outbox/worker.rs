//! The worker of one organization: begins what is due, and sees each job to its end.

use super::schedule::{Schedule, wait_millis};
use super::{Delivery, JobEnd, Outside, Parcel};
use crate::handle::RealmHandle;
use crate::shard::Committer;
use crate::shared::RealmShared;
use model::JobId;
use model::job::{Job, JobOutcome};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often due times are looked at. They are data: a late look only makes a job late.
const TICK: Duration = Duration::from_millis(500);

/// Lives on the organization's shard.
pub(crate) struct Worker {
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    outside: Arc<Outside>,
    schedule: RefCell<Schedule>,
    /// The newest job that is in the schedule, or was.
    last: Cell<JobId>,
}

impl Worker {
    /// Starts the worker on this thread, where jobs are carried at all.
    pub fn start(realm: &Arc<RealmShared>, committer: &Rc<Committer>) {
        let Some(outside) = realm.outbox.outside.clone() else { return };
        let worker = Rc::new(Self {
            realm: realm.clone(),
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
            if self.realm.outbox.is_stopping.load(Ordering::SeqCst) {
                return;
            }
            self.learn();
            self.begin_due();
        }
    }

    /// Takes in what has come since the last look.
    fn learn(&self) {
        let view = self.realm.view.read();
        let mut schedule = self.schedule.borrow_mut();
        for job in view.jobs.after(self.last.get()) {
            self.last.set(job.id);
            schedule.add(job.id, job.task.lane(), job.due);
        }
    }

    fn begin_due(self: &Rc<Self>) {
        let now = self.realm.clock.now();
        while let Some((id, tries)) = self.next(now) {
            let job = self.realm.view.read().jobs.get(id).cloned();
            match job {
                Some(job) => drop(actix::spawn(self.clone().carry(job, tries))),
                // Somebody else ended it.
                None => self.end(id, true),
            }
        }
    }

    fn next(&self, now: model::Timestamp) -> Option<(JobId, u32)> {
        let mut schedule = self.schedule.borrow_mut();
        let next = schedule.begin(now);
        self.realm.outbox.under_way.store(schedule.under_way(), Ordering::SeqCst);
        next
    }

    /// Nothing more is to be done for a job.
    fn end(&self, id: JobId, was_reached: bool) {
        self.change(|schedule| schedule.end(id, was_reached));
    }

    fn change(&self, change: impl FnOnce(&mut Schedule)) {
        let mut schedule = self.schedule.borrow_mut();
        change(&mut schedule);
        self.realm.outbox.under_way.store(schedule.under_way(), Ordering::SeqCst);
        drop(schedule);
        self.realm.outbox.wake();
    }

    /// One try, and what becomes of it.
    async fn carry(self: Rc<Self>, job: Arc<Job>, tries: u32) {
        let parcel = Parcel { realm: RealmHandle(self.realm.clone()), job: job.clone(), tries };
        let (outcome, followup, was_reached) = match self.outside.deliver(parcel).await {
            Delivery::Done(followup) => {
                count(&job, "delivered");
                (JobOutcome::Delivered, followup, true)
            }
            Delivery::Dropped { why } => {
                tracing::info!(job = %job.id, about = job.task.words(), why, "nothing to deliver any more");
                count(&job, "dropped");
                (JobOutcome::Dropped { why }, None, true)
            }
            Delivery::Failed { why } => {
                count(&job, "failed");
                let now = self.realm.clock.now();
                if now.millis_since(job.due) < self.outside.options.give_up_secs.saturating_mul(1000) {
                    return self.try_later(&job, tries, &why);
                }
                (JobOutcome::GaveUp { why }, None, false)
            }
            Delivery::Refused { why, followup } => (JobOutcome::GaveUp { why }, followup, true),
        };
        if let JobOutcome::GaveUp { why } = &outcome {
            tracing::warn!(job = %job.id, about = job.task.words(), tries, why, "given up");
            count(&job, "given_up");
        }
        let end = JobEnd { job: job.id, outcome };
        if self.follow_up(end, followup).await {
            self.end(job.id, was_reached);
        }
    }

    fn try_later(&self, job: &Job, tries: u32, why: &str) {
        // Without chance, waiting is merely regular.
        let wait_millis = wait_millis(tries, getrandom::u64().unwrap_or_default());
        tracing::warn!(
            job = %job.id,
            about = job.task.words(),
            tries,
            why,
            again_in_secs = wait_millis / 1000,
            "not delivered"
        );
        let now = self.realm.clock.now();
        self.change(|schedule| schedule.retry(job.id, now, wait_millis));
    }
}

fn count(job: &Job, outcome: &'static str) {
    let kind = job.task.kind().name();
    metrics::counter!("millstream_outbox_total", "kind" => kind, "outcome" => outcome).increment(1);
}
