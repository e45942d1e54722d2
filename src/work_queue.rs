//! A bounded queue for work that takes milliseconds of CPU time: a few pieces at a time, off the HTTP threads;
//! further requests are refused when it is full.

use crate::background::WorkError;
use actix_web::web;
use actors::budget::BudgetFull;
use metrics::{Counter, Gauge, counter, gauge};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The queue of one kind of work.
pub struct WorkQueue {
    permits: Arc<Semaphore>,
    places: Arc<Semaphore>,
    waiting: Gauge,
    refused: Counter,
}

/// A place in the queue, until its work is done or it is dropped.
pub struct QueueSlot {
    permits: Arc<Semaphore>,
    _place: OwnedSemaphorePermit,
    waiting: Gauge,
}

impl WorkQueue {
    /// A queue for `kind` (a label of the metrics): `permits` pieces of work at a time, `places_max` running or
    /// waiting.
    pub fn new(kind: &'static str, permits: usize, places_max: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            places: Arc::new(Semaphore::new(places_max)),
            waiting: gauge!("millstream_answers_in_line", "kind" => kind),
            refused: counter!("millstream_answers_refused_total", "kind" => kind),
        }
    }

    /// Takes a place. Fails when all places are taken.
    pub fn enter(&self) -> Result<QueueSlot, BudgetFull> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.refused.increment(1);
            return Err(BudgetFull::Total);
        };
        self.waiting.increment(1);
        Ok(QueueSlot { permits: self.permits.clone(), _place: place, waiting: self.waiting.clone() })
    }
}

impl QueueSlot {
    /// Waits for a permit and runs the work on a thread for blocking work. The permit is released when the work ends,
    /// also if the caller has stopped waiting. Fails with `Failed` when the work panicked.
    pub async fn work<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| WorkError::Stopping)?;
        let done = web::block(move || {
            let result = work();
            drop((permit, self));
            result
        });
        done.await.map_err(|error| {
            tracing::error!(%error, "a response could not be completed");
            WorkError::Failed
        })
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.waiting.decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[actix_web::test]
    async fn queue_is_bounded_and_advances() {
        let queue = WorkQueue::new("test", 1, 2);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let first = queue.enter().unwrap();
        let mut first = Box::pin(first.work(move || ended.recv().is_ok()));
        assert!(first.as_mut().now_or_never().is_none());
        let mut second = Box::pin(queue.enter().unwrap().work(|| 7));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(queue.enter().err(), Some(BudgetFull::Total));
        end.send(()).unwrap();
        assert_eq!((first.await, second.await), (Ok(true), Ok(7)));
        assert!(queue.enter().is_ok());
    }

    #[actix_web::test]
    async fn cancelled_requests_release_their_place() {
        let queue = WorkQueue::new("test", 1, 1);
        drop(queue.enter().unwrap());
        assert!(queue.enter().is_ok());
    }
}
