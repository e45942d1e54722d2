//! Jobs as facts: how one begins and ends.

use model::job::{JobOutcome, Task};
use model::{Fact, JobFact, JobId, Timestamp};

/// The fact that makes a job, due at a time: `now`, or later.
pub fn job(due: Timestamp, task: Task) -> Fact {
    Fact::Job(JobFact::Added { due, task: Box::new(task) })
}

/// The end of a job, for the frame of what follows from its delivery.
#[derive(Clone, Debug)]
pub(crate) struct JobEnd {
    /// The job that ended.
    pub job: JobId,
    /// How it ended.
    pub outcome: JobOutcome,
}

impl From<JobEnd> for Fact {
    fn from(JobEnd { job, outcome }: JobEnd) -> Self {
        Self::Job(JobFact::Ended { job, outcome })
    }
}
