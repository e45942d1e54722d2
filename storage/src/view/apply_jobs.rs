//! Jobs: added, and ended.

use super::jobs::JOBS_FAILED_MAX;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::job::{Job, JobFailure, JobOutcome, Task};
use model::{JobId, Timestamp};

impl View {
    /// Adds a job. `at` is the time of the frame.
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
        self.put::<records::Jobs>(rows, id, job)
    }

    /// Ends a job. A job that has already failed stays as it is, until the operator drops it.
    pub(super) fn apply_job_ended(
        &mut self,
        id: JobId,
        at: Timestamp,
        outcome: &JobOutcome,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let realm = self.realm();
        let Some(job) = self.jobs.take(id) else {
            if matches!(outcome, JobOutcome::Dropped { .. }) && self.jobs.failed.remove(&id).is_some() {
                rows.remove::<records::Jobs>(realm, &id);
            }
            return Ok(());
        };
        let JobOutcome::GaveUp { why } = outcome else {
            rows.remove::<records::Jobs>(realm, &id);
            return Ok(());
        };
        let job = Job { failure: Some(JobFailure { at, why: why.clone() }), ..Job::clone(&job) };
        self.put::<records::Jobs>(rows, id, job)?;
        while self.jobs.failed.len() > JOBS_FAILED_MAX {
            let Some((oldest, _)) = self.jobs.failed.pop_first() else { break };
            rows.remove::<records::Jobs>(realm, &oldest);
        }
        Ok(())
    }
}
