//! Jobs that wait to be done outside, and the newest of those that were given up.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables;
use model::job::{Job, JobFailure, JobOutcome, Task, TaskKind};
use model::{JobId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Jobs of one kind that may wait in an organization. Past it new ones are not kept: whoever asks for something by hand
/// is refused before (`actors::outbox`), what only tells somebody of something is left out.
pub const JOBS_WAITING_MAX: usize = 10_000;

/// Jobs that were given up and are kept to be looked at; the oldest goes first.
pub const JOBS_FAILED_MAX: usize = 200;

/// The jobs of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    waiting: BTreeMap<JobId, Arc<Job>>,
    failed: BTreeMap<JobId, Arc<Job>>,
    /// How many wait, by kind.
    counts: BTreeMap<TaskKind, usize>,
}

impl Jobs {
    /// A job that waits or is being done.
    pub fn get(&self, id: JobId) -> Option<&Arc<Job>> {
        self.waiting.get(&id)
    }

    /// Those that wait, oldest first, from behind a job on.
    pub fn after(&self, last: JobId) -> impl Iterator<Item = &Arc<Job>> {
        self.waiting.range(last.next()..).map(|(_, job)| job)
    }

    /// Those that were given up, oldest first.
    pub fn failed(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.failed.values()
    }

    /// How many of a kind wait.
    pub fn waiting_count(&self, kind: TaskKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// Whether another one of a kind would be kept.
    pub fn has_room(&self, kind: TaskKind) -> bool {
        self.waiting_count(kind) < JOBS_WAITING_MAX
    }

    /// Takes in a job as it is stored.
    pub(super) fn put(&mut self, job: Job) {
        let list = if job.failure.is_some() { &mut self.failed } else { &mut self.waiting };
        let kind = job.task.kind();
        let is_waiting = job.failure.is_none();
        let before = list.insert(job.id, Arc::new(job));
        if is_waiting && before.is_none() {
            *self.counts.entry(kind).or_default() += 1;
        }
    }

    fn take(&mut self, id: JobId) -> Option<Arc<Job>> {
        let job = self.waiting.remove(&id)?;
        // Nothing is left of a kind of which nothing waits: what was read back says the same.
        let kind = job.task.kind();
        match self.waiting_count(kind) {
            0 | 1 => drop(self.counts.remove(&kind)),
            count => drop(self.counts.insert(kind, count - 1)),
        }
        Some(job)
    }
}

impl View {
    /// A job came to be. `at` is the time of the frame.
    pub(super) fn apply_job_added(
        &mut self,
        id: JobId,
        at: Timestamp,
        (due, task): (Timestamp, &Task),
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if !self.jobs.has_room(task.kind()) {
            return Ok(());
        }
        let job = Job { id, added: at, due, task: task.clone(), failure: None };
        rows.put(tables::job(self.realm(), id), &job)?;
        self.jobs.put(job);
        Ok(())
    }

    /// A job has ended. What ended already stays as it ended.
    pub(super) fn apply_job_ended(
        &mut self,
        id: JobId,
        at: Timestamp,
        outcome: &JobOutcome,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let realm = self.realm();
        let Some(job) = self.jobs.take(id) else { return Ok(()) };
        let JobOutcome::GaveUp { why } = outcome else {
            rows.remove(tables::job(realm, id));
            return Ok(());
        };
        let job = Job { failure: Some(JobFailure { at, why: why.clone() }), ..Job::clone(&job) };
        rows.put(tables::job(realm, id), &job)?;
        self.jobs.put(job);
        while self.jobs.failed.len() > JOBS_FAILED_MAX {
            let Some((oldest, _)) = self.jobs.failed.pop_first() else { break };
            rows.remove(tables::job(realm, oldest));
        }
        Ok(())
    }
}
