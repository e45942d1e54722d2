//! Pending jobs for external services, and the newest of those that failed permanently.

use model::JobId;
use model::job::{Job, TaskDestination, TaskKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// At most this many jobs of one kind are pending in an organization. Beyond it requests for a job are rejected
/// (`actors::outbox`), and jobs that only notify are dropped.
pub const JOBS_WAITING_MAX: usize = 10_000;

/// At most this many failed jobs are stored for inspection; the oldest are removed first.
pub const JOBS_FAILED_MAX: usize = 200;

/// The jobs of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    waiting: BTreeMap<JobId, Arc<Job>>,
    pub(super) failed: BTreeMap<JobId, Arc<Job>>,
    /// The number of pending jobs, by kind.
    counts: BTreeMap<TaskKind, usize>,
    /// The number of pending jobs, by destination.
    destination_counts: BTreeMap<TaskDestination, usize>,
}

impl Jobs {
    /// A pending job, possibly in progress.
    pub fn get(&self, id: JobId) -> Option<&Arc<Job>> {
        self.waiting.get(&id)
    }

    /// Pending jobs after a job, oldest first.
    pub fn after(&self, last: JobId) -> impl Iterator<Item = &Arc<Job>> {
        self.waiting.range(last.next()..).map(|(_, job)| job)
    }

    /// All jobs, the pending ones first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.waiting.values().chain(self.failed.values())
    }

    /// Failed jobs, oldest first.
    pub fn failed(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.failed.values()
    }

    /// The number of pending jobs of a kind.
    pub fn waiting_count(&self, kind: TaskKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// The number of pending jobs of each destination of a kind that has any.
    pub fn waiting_by_destination(&self, kind: TaskKind) -> impl Iterator<Item = (TaskDestination, usize)> {
        let destinations = TaskDestination { kind, id: 0 }..=TaskDestination { kind, id: u32::MAX };
        self.destination_counts.range(destinations).map(|(destination, count)| (*destination, *count))
    }

    /// Whether another job of a kind can be added.
    pub fn has_room(&self, kind: TaskKind) -> bool {
        self.waiting_count(kind) < JOBS_WAITING_MAX
    }

    /// Adds a job as it is stored.
    pub(super) fn put(&mut self, job: Job) {
        let list = if job.failure.is_some() { &mut self.failed } else { &mut self.waiting };
        let destination = job.task.destination();
        let is_waiting = job.failure.is_none();
        let before = list.insert(job.id, Arc::new(job));
        if is_waiting && before.is_none() {
            *self.counts.entry(destination.kind).or_default() += 1;
            *self.destination_counts.entry(destination).or_default() += 1;
        }
    }

    /// Removes a waiting job.
    pub(super) fn take(&mut self, id: JobId) -> Option<Arc<Job>> {
        let job = self.waiting.remove(&id)?;
        let destination = job.task.destination();
        count_down(&mut self.counts, destination.kind);
        count_down(&mut self.destination_counts, destination);
        Some(job)
    }
}

/// Counts one less. There is no entry for nothing, as after loading.
fn count_down<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) {
    let left = counts.remove(&key).unwrap_or_default().saturating_sub(1);
    if left > 0 {
        counts.insert(key, left);
    }
}
