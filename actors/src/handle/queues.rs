//! Event queues.

use super::RealmHandle;
use crate::account::ask;
use crate::error::DomainError;
use crate::realm::{EndQueue, ExpireQueues, RegisterQueue, RegisteredQueue, ResumeQueue};
use crate::session::{Poll, PollAnswer, Polled, Session};
use model::{QueueId, QueueOptions, QueueRecord, UserId};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A queue of the account that asked for it.
#[derive(Clone, Debug)]
pub struct OwnQueue {
    pub record: Arc<QueueRecord>,
    /// None for a queue from before a restart, until it is polled.
    session: Option<Arc<Session>>,
}

impl RealmHandle {
    /// Registers an event queue. State that is read after this and the queue's events overlap, but never have a gap: give
    /// the client the event number of the view that the state was read from, or that of the queue if it is higher
    /// (ephemeral events have numbers that are in no view).
    ///
    /// # Errors
    /// `TooManyQueues`.
    pub async fn register_queue(
        &self,
        user: UserId,
        options: QueueOptions,
    ) -> Result<RegisteredQueue, DomainError> {
        ask(&self.actor, |answer| RegisterQueue { user, options, answer }).await
    }

    /// A queue of an account.
    ///
    /// # Errors
    /// `BadEventQueue` for unknown and foreign queues.
    pub fn own_queue(&self, user: UserId, queue: &QueueId) -> Result<OwnQueue, DomainError> {
        let running = self.registry.queues.read().get(queue).cloned();
        let found = match running {
            Some(session) => Some((session.record().clone(), Some(session))),
            None => self.shared.view.read().queues.get(queue).map(|record| (record.clone(), None)),
        };
        let found = found.filter(|(record, _)| record.user == user);
        let (record, session) = found.ok_or_else(|| DomainError::BadEventQueue(queue.clone()))?;
        Ok(OwnQueue { record, session })
    }

    /// Acknowledges events. Returns the events after them, or a wait for some if there are none; with `dont_block` only for those
    /// that are still read from the log. Wait only if [`crate::Server::release_polls`] is still to be called when the server
    /// stops.
    ///
    /// # Errors
    /// `BadEventQueue` for ended queues; `EventsPruned`, `EventUnknown`.
    pub async fn poll(
        &self,
        queue: &OwnQueue,
        last_event_id: Option<i64>,
        dont_block: bool,
    ) -> Result<Polled, DomainError> {
        let resumed;
        let session = match &queue.session {
            Some(session) => session,
            None => {
                resumed = self.resume(&queue.record, last_event_id).await?;
                &resumed
            }
        };
        let newest = self.shared.view.read().progress.last_event.0 as i64;
        let polled = session.poll(Poll { last_event_id, newest, dont_block });
        polled.map_err(|error| self.why_ended(&queue.record, error))
    }

    /// The events that a poll waits for.
    ///
    /// # Errors
    /// `BadEventQueue` if the queue ends; `Stopping`.
    pub async fn next_events(
        &self,
        record: &QueueRecord,
        waiting: oneshot::Receiver<PollAnswer>,
    ) -> PollAnswer {
        let answered = waiting.await.unwrap_or(Err(DomainError::Stopping));
        answered.map_err(|error| self.why_ended(record, error))
    }

    /// A queue may end between finding and polling it.
    fn why_ended(&self, record: &QueueRecord, error: DomainError) -> DomainError {
        match error {
            DomainError::Stopping if !self.registry.queues.read().contains_key(&record.id) => {
                DomainError::BadEventQueue(record.id.clone())
            }
            error => error,
        }
    }

    /// The session of a queue from before a restart. Apart, so that other polls do not hold its memory.
    fn resume(
        &self,
        record: &QueueRecord,
        last_event_id: Option<i64>,
    ) -> impl Future<Output = Result<Arc<Session>, DomainError>> {
        let (queue, user) = (record.id.clone(), record.user);
        let last_event_id = last_event_id.unwrap_or(-1);
        Box::pin(ask(&self.actor, move |answer| ResumeQueue { queue, user, last_event_id, answer }))
    }

    /// Whether a poll of a queue is waiting.
    pub fn is_polled(&self, queue: &QueueId) -> bool {
        self.registry.queues.read().get(queue).is_some_and(|running| running.status().is_polled())
    }

    /// Ends a queue; a waiting poll is answered first.
    ///
    /// # Errors
    /// `BadEventQueue` for unknown and foreign queues.
    pub async fn close_queue(&self, user: UserId, queue: QueueId) -> Result<(), DomainError> {
        self.own_queue(user, &queue)?;
        ask(&self.actor, |answer| EndQueue { queue, user, answer: Some(answer) }).await
    }

    /// Ends one queue or all of the organization, as if the server had forgotten them; returns their number.
    pub async fn expire_queues(&self, queue: Option<QueueId>) -> Result<usize, DomainError> {
        ask(&self.actor, |answer| ExpireQueues { queue, answer }).await
    }
}
