//! The state of an organization's outbox that threads share.

use super::attempts::Attempts;
use model::job::TaskKind;
use model::{Fact, JobFact, JobId};
use parking_lot::Mutex;
use rules::invitations::ResentInvitations;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The outbox of one organization, as all threads see it.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Kinds of tasks that can be delivered, as the server is configured.
    supported: Vec<TaskKind>,
    pub(super) woken: Notify,
    is_stopping: AtomicBool,
    in_progress: AtomicUsize,
    pub(crate) attempts: Attempts,
    /// Lost when the server stops.
    pub(crate) resent_invitations: Mutex<ResentInvitations>,
}

impl Outbox {
    /// An outbox for which tasks of some kinds can be delivered.
    pub fn new(supports: impl Fn(TaskKind) -> bool) -> Self {
        let supported = TaskKind::ALL.into_iter().filter(|kind| supports(*kind)).collect();
        Self { supported, ..Self::default() }
    }

    /// Whether tasks of a kind can be delivered.
    pub fn supports(&self, kind: TaskKind) -> bool {
        self.supported.contains(&kind)
    }

    /// Number of deliveries in progress; all other jobs are stored rows.
    pub fn in_progress(&self) -> usize {
        self.in_progress.load(Ordering::SeqCst)
    }

    pub(super) fn set_in_progress(&self, count: usize) {
        self.in_progress.store(count, Ordering::SeqCst);
    }

    /// Wakes the worker.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Stops the worker; deliveries in progress are finished.
    pub(crate) fn begin_stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Whether nothing is to begin any more, because the server stops.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Wakes the worker if a frame added jobs, logs those for which there was no room, and remembers which replaced others.
    pub fn note(&self, jobs: &storage::view::Jobs, sequence: model::Sequence, facts: &[Fact]) {
        self.attempts.note(sequence, facts);
        let mut has_new = false;
        for (position, fact) in (0..).zip(facts) {
            let Fact::Job(JobFact::Added { task, .. }) = fact else { continue };
            has_new = true;
            if jobs.get(JobId::of(sequence, position)).is_none() {
                let kind = task.kind();
                tracing::warn!(kind = kind.name(), "too many deliveries are pending; a new one was dropped");
                note_without_room(kind);
            }
        }
        if has_new {
            self.wake();
        }
    }
}

/// Counts a job that was dropped because there was no room for it.
pub(crate) fn note_without_room(kind: TaskKind) {
    metrics::counter!("millstream_outbox_total", "kind" => kind.name(), "outcome" => "no_room").increment(1);
}
