//! CPU-bound work on threads of the lowest priority, a few at a time, with a bounded queue.
//!
//! Not on the threads for blocking work: a thread cannot raise its priority again, and those also read messages.

use std::sync::Arc;
use thiserror::Error;
use thread_priority::ThreadPriority;
#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Why work off the HTTP threads has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WorkError {
    /// Too much work is waiting, or no thread could be started.
    #[error("the server is busy; try again in a moment")]
    Overloaded,
    #[error("the server is shutting down")]
    Stopping,
    #[error("the work ended without a result")]
    Failed,
}

/// Permits for the work, and a bound on the waiting requests.
pub struct Background {
    permits: Arc<Semaphore>,
    waiting: Semaphore,
}

/// Permission to run one piece of work.
pub struct Permit(OwnedSemaphorePermit);

impl Background {
    /// `permits` pieces of work at a time, and up to `waiting_max` waiting requests.
    pub fn new(permits: usize, waiting_max: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(permits)), waiting: Semaphore::new(waiting_max) }
    }

    /// Waits for a permit. Fails with `Overloaded` if too many requests are waiting.
    pub async fn acquire_permit(&self) -> Result<Permit, WorkError> {
        // A request that is cancelled while it waits gives its place back, too.
        let _place = self.waiting.try_acquire().map_err(|_| WorkError::Overloaded)?;
        let permit = self.permits.clone().acquire_owned().await;
        permit.map(Permit).map_err(|_| WorkError::Stopping)
    }
}

impl Permit {
    /// Runs the work. The permit is released at its end, also if the caller has stopped waiting. Fails with
    /// `Overloaded` when no thread can be started, with `Failed` when the work panicked.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let (answer, done) = oneshot::channel();
        let thread = std::thread::Builder::new().name("background".into()).spawn(move || {
            use_lowest_priority();
            let result = work();
            drop(self.0);
            // The caller may have stopped waiting.
            let _ = answer.send(result);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "a background thread could not be started");
            return Err(WorkError::Overloaded);
        }
        done.await.map_err(|_| WorkError::Failed)
    }
}

/// Lowers the priority of this thread below all others, so that it uses idle cores only. Only Linux has such a
/// policy; other systems use the lowest priority.
fn use_lowest_priority() {
    #[cfg(target_os = "linux")]
    let done = {
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle)
    };
    #[cfg(not(target_os = "linux"))]
    let done = ThreadPriority::Min.set_for_current();
    if let Err(error) = done {
        tracing::debug!(?error, "the priority of a background thread could not be lowered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[actix_web::test]
    async fn queue_is_bounded() {
        let background = Background::new(1, 8);
        let first = background.acquire_permit().await.ok().unwrap();
        let mut line: Vec<_> = (0..8).map(|_| Box::pin(background.acquire_permit())).collect();
        assert!(line.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        assert!(matches!(background.acquire_permit().await.err(), Some(WorkError::Overloaded)));
        // Cancelled requests make room.
        line.clear();
        drop(first);
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(|| 7).await.ok(), Some(7));
    }

    #[actix_web::test]
    async fn permit_is_released_after_the_work() {
        let background = Background::new(1, 8);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let permit = background.acquire_permit().await.ok().unwrap();
        let mut work = Box::pin(permit.run(move || ended.recv().is_ok()));
        assert!(work.as_mut().now_or_never().is_none());
        // The caller has stopped waiting, but the work is not done.
        drop(work);
        assert!(background.acquire_permit().now_or_never().is_none());
        end.send(()).unwrap();
        assert!(background.acquire_permit().await.is_ok());
    }

    #[cfg(target_os = "linux")]
    #[actix_web::test]
    async fn background_thread_has_idle_priority() {
        let policy = || thread_priority::thread_schedule_policy().ok();
        let permit = Background::new(1, 8).acquire_permit().await.ok().unwrap();
        let idle = Some(ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle));
        assert_eq!(permit.run(policy).await.ok(), Some(idle));
        assert_ne!(policy(), idle);
    }
}
