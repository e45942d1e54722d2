//! The end of a job as a fact, alone or in one frame with its follow-up.

use super::delivery::{Decide, Followup};
use super::job::JobEnd;
use super::worker::Worker;
use crate::error::DomainError;
use crate::realm::{DecisionContext, SerializedCommand};
use model::Fact;
use model::job::JobOutcome;
use std::time::Duration;

/// Delay before storing a refused end again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

impl Worker {
    /// Ends a job with the follow-up of its delivery, however long that takes. False if nothing can be stored any more:
    /// the job is then repeated after a restart.
    pub(super) async fn follow_up(&self, end: JobEnd, followup: Option<Followup>) -> bool {
        let refused = loop {
            match self.store(end.clone(), followup.as_ref()).await {
                Ok(()) => return true,
                Err(DomainError::Overloaded) => tokio::time::sleep(RETRY_DELAY).await,
                Err(DomainError::Paused(_)) if !self.realm.outbox.is_stopping() => {
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                Err(error) => break error,
            }
        };
        match (refused, followup) {
            (DomainError::Paused(_), Some(_)) => false,
            (error, None) => {
                tracing::warn!(job = %end.job, %error, "the outcome of a delivery could not be stored");
                false
            }
            (error, Some(_)) => {
                tracing::info!(job = %end.job, %error, "the follow-up of a delivery was rejected");
                let outcome = match end.outcome {
                    JobOutcome::Delivered => JobOutcome::Dropped { why: error.to_string() },
                    // No user is notified, but operators see it in the log.
                    other => other,
                };
                Box::pin(self.follow_up(JobEnd { outcome, ..end }, None)).await
            }
        }
    }

    async fn store(&self, end: JobEnd, followup: Option<&Followup>) -> Result<(), DomainError> {
        let realm = &self.handle;
        match followup {
            None => self.committer.commit_essential(&self.realm, vec![end.into()]).await,
            Some(Followup::Decide(decide)) => realm.execute(EndJob { end, decide: decide.clone() }).await,
            Some(Followup::SendToChannel(draft)) => {
                realm.send_to_channel_ending((**draft).clone(), Some(end.into())).await.map(drop)
            }
            Some(Followup::SendDirect(draft)) => {
                realm.send_direct_ending((**draft).clone(), Some(end.into())).await.map(drop)
            }
        }
    }
}

/// Ends a job together with the facts that follow from it.
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
