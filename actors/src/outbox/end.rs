//! The end of a job as a fact, alone or together with what follows from it.

use super::{Decide, Followup, Worker, delivered};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::realm::{Moment, SettledCommand};
use model::job::JobOutcome;
use model::{Fact, JobId};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before a refused end is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Worker {
    /// Ends a job with what follows from its delivery. False when nothing can be decided any more: the job is then done again
    /// after a restart.
    pub(super) async fn follow_up(&self, id: JobId, followup: Option<Followup>) -> bool {
        let realm = RealmHandle(self.realm.clone());
        let refused = match followup {
            None => None,
            Some(Followup::Decide(decide)) => loop {
                match realm.settle(EndJob { id, decide: decide.clone() }).await {
                    Ok(()) => return true,
                    Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                    Err(error) => break Some(error),
                }
            },
            Some(Followup::SendToChannel(draft)) => loop {
                match realm.send_to_channel_ending((*draft).clone(), Some(id)).await {
                    Ok(_) => return true,
                    Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                    Err(error) => break Some(error),
                }
            },
            Some(Followup::SendDirect(draft)) => loop {
                match realm.send_direct_ending((*draft).clone(), Some(id)).await {
                    Ok(_) => return true,
                    Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                    Err(error) => break Some(error),
                }
            },
        };
        let outcome = match refused {
            None => JobOutcome::Delivered,
            Some(error) => {
                tracing::info!(job = %id, %error, "what follows from a delivery was refused");
                JobOutcome::Dropped { why: error.to_string() }
            }
        };
        self.commit_end(id, outcome).await
    }

    /// Makes the end durable, however long that takes. False when nothing can be decided any more.
    pub(super) async fn commit_end(&self, id: JobId, outcome: JobOutcome) -> bool {
        loop {
            match self.try_end(id, outcome.clone()).await {
                Ok(()) => return true,
                Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                Err(error) => {
                    tracing::warn!(job = %id, %error, "the end of a job could not be stored");
                    return false;
                }
            }
        }
    }

    async fn try_end(&self, id: JobId, outcome: JobOutcome) -> Result<(), DomainError> {
        let ids = self.committer.ids(self.realm.id)?;
        let (stored, is_stored) = oneshot::channel();
        let done = Box::new(move |result| drop(stored.send(result)));
        self.committer.commit(&self.realm, ids, vec![Fact::JobEnded { job: id, outcome }], done);
        is_stored.await.unwrap_or(Err(DomainError::Stopping))
    }
}

/// End a job together with facts that follow from it.
struct EndJob {
    id: JobId,
    decide: Decide,
}

impl SettledCommand for EndJob {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        if moment.realm.view.read().jobs.get(self.id).is_none() {
            return Ok(((), Vec::new()));
        }
        let mut facts = (self.decide)(&moment.directory);
        facts.push(delivered(self.id));
        Ok(((), facts))
    }
}
