//! What is remembered of deliveries in memory, for the operator: failed attempts, and jobs that replaced others.

use model::job::JobOutcome;
use model::{Fact, JobFact, JobId, Sequence, Timestamp};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};

/// Characters of an error that are remembered.
const WHY_CHARS_MAX: usize = 300;
/// Replaced jobs that are remembered.
const REPLACED_MAX: usize = 10_000;

/// The failed attempts of a pending job since the server started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAttempts {
    pub count: u32,
    /// The reason of the last failure, without secrets.
    pub why: String,
    /// When the next attempt is due.
    pub next: Timestamp,
}

/// The failed attempts of pending jobs, and the newest replaced jobs. Both are lost when the server stops.
#[derive(Default)]
pub(crate) struct Attempts {
    failed: Mutex<HashMap<JobId, FailedAttempts>>,
    replaced: Mutex<VecDeque<(JobId, JobId)>>,
}

impl Attempts {
    /// Remembers why the last attempt of a job failed, and when the next one is due.
    pub fn failed(&self, job: JobId, count: u32, why: &str, next: Timestamp) {
        let why = why.chars().take(WHY_CHARS_MAX).collect();
        self.failed.lock().insert(job, FailedAttempts { count, why, next });
    }

    /// Forgets an ended job.
    pub fn ended(&self, job: JobId) {
        self.failed.lock().remove(&job);
    }

    /// Remembers which job replaced which, from the facts of a frame: only a retry by the operator (`RetryJob`) drops a job and
    /// adds one with the next fact.
    pub fn note(&self, sequence: Sequence, facts: &[Fact]) {
        for (position, pair) in (1..).zip(facts.windows(2)) {
            let [
                Fact::Job(JobFact::Ended { job, outcome: JobOutcome::Dropped { .. } }),
                Fact::Job(JobFact::Added { .. }),
            ] = pair
            else {
                continue;
            };
            let mut replaced = self.replaced.lock();
            if replaced.len() >= REPLACED_MAX {
                replaced.pop_front();
            }
            replaced.push_back((*job, JobId::of(sequence, position)));
        }
    }

    /// The failed attempts of a job.
    pub fn of(&self, job: JobId) -> Option<FailedAttempts> {
        self.failed.lock().get(&job).cloned()
    }

    /// The job that replaced another one.
    pub fn replacement(&self, job: JobId) -> Option<JobId> {
        self.replaced.lock().iter().rev().find(|(old, _)| *old == job).map(|(_, new)| *new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UserId;
    use model::job::{MailTask, Task};

    #[test]
    fn last_failure_is_remembered_until_the_job_ends() {
        let attempts = Attempts::default();
        assert_eq!(attempts.of(JobId(1)), None);
        attempts.failed(JobId(1), 1, "refused", Timestamp(10));
        attempts.failed(JobId(1), 2, &"é".repeat(1_000), Timestamp(20));
        let last = attempts.of(JobId(1)).unwrap();
        assert_eq!((last.count, last.why.chars().count(), last.next), (2, WHY_CHARS_MAX, Timestamp(20)));
        attempts.ended(JobId(1));
        assert_eq!(attempts.of(JobId(1)), None);
    }

    #[test]
    fn replacement_has_the_id_of_its_fact() {
        let ended = |job, outcome| Fact::Job(JobFact::Ended { job: JobId(job), outcome });
        let dropped = || JobOutcome::Dropped { why: "delivered again by the operator".to_owned() };
        let added = || {
            let task = Task::Mail(MailTask::Missed { user: UserId(1), messages: Vec::new() });
            crate::outbox::job(Timestamp(0), task)
        };
        let attempts = Attempts::default();
        let delivered = JobOutcome::Delivered;
        let facts =
            [added(), ended(7, dropped()), added(), ended(8, delivered), added(), ended(9, dropped())];
        attempts.note(Sequence(5), &facts);
        assert_eq!(attempts.replacement(JobId(7)), Some(JobId::of(Sequence(5), 2)));
        assert_eq!((attempts.replacement(JobId(8)), attempts.replacement(JobId(9))), (None, None));
    }
}
