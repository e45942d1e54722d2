//! Jobs as facts: how one begins and ends.

use model::job::{JobOutcome, Task};
use model::{Fact, JobFact, JobId, Timestamp};

/// The fact that adds a job, due at a time: `now`, or later.
pub fn job(due: Timestamp, task: Task) -> Fact {
    Fact::Job(JobFact::Added { due, task: Box::new(task) })
}

/// The end of a job, for the frame of its follow-up.
#[derive(Clone, Debug)]
pub(crate) struct JobEnd {
    pub job: JobId,
    pub outcome: JobOutcome,
}

impl From<JobEnd> for Fact {
    fn from(JobEnd { job, outcome }: JobEnd) -> Self {
        Self::Job(JobFact::Ended { job, outcome })
    }
}
