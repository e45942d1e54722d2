//! The end of a job as a fact, alone or together with what follows from it.

use super::delivery::{Decide, Followup};
use super::job::JobEnd;
use super::worker::Worker;
use crate::error::DomainError;
use crate::realm::{DecisionContext, SerializedCommand};
use model::Fact;
use model::job::JobOutcome;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before a refused end is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Worker {
    /// Ends a job with what follows from its delivery. False when nothing can be decided any more: the job is then done again
    /// after a restart.
    pub(super) async fn follow_up(&self, end: JobEnd, followup: Option<Followup>) -> bool {
        let Some(followup) = followup else { return self.commit_end(end).await };
        let realm = &self.handle;
        let refused = loop {
            let ends = end.clone();
            let result = match &followup {
                Followup::Decide(decide) => realm.execute(EndJob { end: ends, decide: decide.clone() }).await,
                Followup::SendToChannel(draft) => {
                    realm.send_to_channel_ending((**draft).clone(), Some(ends)).await.map(drop)
                }
                Followup::SendDirect(draft) => {
                    realm.send_direct_ending((**draft).clone(), Some(ends)).await.map(drop)
                }
            };
            match result {
                Ok(()) => return true,
                Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                Err(DomainError::Paused(_)) if !self.realm.outbox.is_stopping() => {
                    tokio::time::sleep(AGAIN).await
                }
                // Nothing was stored: it is done again after the restart.
                Err(DomainError::Paused(_)) => return false,
                Err(error) => break error,
            }
        };
        tracing::info!(job = %end.job, error = %refused, "the follow-up of a delivery was rejected");
        let outcome = match end.outcome {
            JobOutcome::Delivered => JobOutcome::Dropped { why: refused.to_string() },
            // No user is notified, but operators see it in the log.
            other => other,
        };
        self.commit_end(JobEnd { outcome, ..end }).await
    }

    /// Makes the end durable, however long that takes. False when nothing can be decided any more.
    async fn commit_end(&self, end: JobEnd) -> bool {
        loop {
            match self.try_end(end.clone()).await {
                Ok(()) => return true,
                Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                Err(DomainError::Paused(_)) if !self.realm.outbox.is_stopping() => {
                    tokio::time::sleep(AGAIN).await
                }
                Err(error) => {
                    tracing::warn!(job = %end.job, %error, "the end of a job could not be stored");
                    return false;
                }
            }
        }
    }

    async fn try_end(&self, end: JobEnd) -> Result<(), DomainError> {
        let ids = self.committer.upkeep_ids(self.realm.id)?;
        let (stored, is_stored) = oneshot::channel();
        let done = Box::new(move |result| drop(stored.send(result)));
        self.committer.commit(&self.realm, ids, vec![end.into()], done);
        is_stored.await.unwrap_or(Err(DomainError::Stopping))
    }
}

/// End a job together with facts that follow from it.
struct EndJob {
    end: JobEnd,
    decide: Decide,
}

impl SerializedCommand for EndJob {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        if context.realm.view.read().jobs.get(self.end.job).is_none() {
            return Ok(((), Vec::new()));
        }
        let mut facts = (self.decide)(&context.directory);
        facts.push(self.end.into());
        Ok(((), facts))
    }
}
