//! CPU-bound work on threads of the lowest priority, a few at a time, with a bounded queue. Work that finds no idle core
//! is begun again on a thread of ordinary priority, so that it ends while other programs use all cores.
//!
//! Not on the threads for blocking work: a thread cannot raise its priority again, and those also read messages.

#[cfg(target_os = "linux")]
use preemption::Preemption;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use thread_priority::ThreadPriority;
#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

#[cfg(target_os = "linux")]
mod preemption;

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
    /// One for each thread of the lowest priority. A thread that finds no idle core keeps its own after its work was done by
    /// another thread; further work then runs at ordinary priority. So there are at most twice as many threads as permits.
    idle_threads: Arc<Semaphore>,
    patience: Duration,
}

/// Permission to run one piece of work.
pub struct Permit {
    held: OwnedSemaphorePermit,
    idle_threads: Arc<Semaphore>,
    patience: Duration,
}

impl Background {
    /// `permits` pieces of work at a time, and up to `waiting_max` waiting requests. Work that is not done after `patience`
    /// at the lowest priority is begun again at ordinary priority: several times what the work takes on an idle core.
    pub fn new(permits: usize, waiting_max: usize, patience: Duration) -> Self {
        let semaphore = || Arc::new(Semaphore::new(permits));
        let waiting = Semaphore::new(waiting_max);
        Self { permits: semaphore(), waiting, idle_threads: semaphore(), patience }
    }

    /// Waits for a permit. Fails with `Overloaded` if too many requests are waiting.
    pub async fn acquire_permit(&self) -> Result<Permit, WorkError> {
        // A request that is cancelled while it waits gives its place back, too.
        let _place = self.waiting.try_acquire().map_err(|_| WorkError::Overloaded)?;
        let held = self.permits.clone().acquire_owned().await.map_err(|_| WorkError::Stopping)?;
        Ok(Permit { held, idle_threads: self.idle_threads.clone(), patience: self.patience })
    }
}

impl Permit {
    /// Runs the work, twice if the first thread finds no idle core; the first result counts. The permit is released then,
    /// also if the caller has stopped waiting. Fails with `Overloaded` when no thread can be started, with `Failed` when
    /// the work panicked.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<T, WorkError> {
        // A task of its own goes on when the caller is cancelled.
        tokio::spawn(self.first_result(Arc::new(work))).await.map_err(|_| WorkError::Failed)?
    }

    async fn first_result<T: Send + 'static>(
        self,
        work: Arc<impl Fn() -> T + Send + Sync + 'static>,
    ) -> Result<T, WorkError> {
        let _held = self.held;
        let Ok(idle_thread) = self.idle_threads.try_acquire_owned() else {
            return start_thread(move || work())?.await.map_err(|_| WorkError::Failed);
        };
        let first = work.clone();
        let mut first = start_thread(move || {
            let _idle_thread = idle_thread;
            let _preemption = use_lowest_priority();
            first()
        })?;
        if let Ok(result) = timeout(self.patience, &mut first).await {
            return result.map_err(|_| WorkError::Failed);
        }
        tracing::debug!("background work finds no idle core, and is begun again at ordinary priority");
        let second = start_thread(move || work())?;
        let result = tokio::select! { result = first => result, result = second => result };
        result.map_err(|_| WorkError::Failed)
    }
}

/// The receiver of the result of work on a thread of its own; closed without a result if the work panics.
fn start_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>, WorkError> {
    let (answer, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("background".into()).spawn(move || {
        let result = work();
        // The caller may have stopped waiting.
        let _ = answer.send(result);
    });
    match thread {
        Ok(_) => Ok(done),
        Err(error) => {
            tracing::warn!(%error, "a background thread could not be started");
            Err(WorkError::Overloaded)
        }
    }
}

/// Lowers the priority of this thread below all others, so that it uses idle cores only. Only Linux has such a policy.
#[cfg(target_os = "linux")]
fn use_lowest_priority() -> Option<Preemption> {
    let preemption = Preemption::start();
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle) {
        tracing::debug!(?error, "the priority of a background thread could not be lowered");
    }
    preemption
        .inspect_err(|error| tracing::debug!(%error, "a background thread could not be bound to its core"))
        .ok()
}

/// Lowers the priority of this thread as far as the system can.
#[cfg(not(target_os = "linux"))]
fn use_lowest_priority() {
    if let Err(error) = ThreadPriority::Min.set_for_current() {
        tracing::debug!(?error, "the priority of a background thread could not be lowered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    /// Longer than any test.
    const LONG: Duration = Duration::from_secs(600);

    #[actix_web::test]
    async fn queue_is_bounded() {
        let background = Background::new(1, 8, LONG);
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
        let background = Background::new(1, 8, LONG);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = parking_lot::Mutex::new(ended);
        let permit = background.acquire_permit().await.ok().unwrap();
        let mut work = Box::pin(permit.run(move || ended.lock().recv().is_ok()));
        assert!(work.as_mut().now_or_never().is_none());
        // The caller has stopped waiting, but the work is not done.
        drop(work);
        assert!(background.acquire_permit().now_or_never().is_none());
        end.send(()).unwrap();
        assert!(background.acquire_permit().await.is_ok());
    }

    #[actix_web::test]
    async fn panic_is_a_failure() {
        let permit = Background::new(1, 8, LONG).acquire_permit().await.ok().unwrap();
        let result: Result<(), _> = permit.run(|| panic!("a panic of the test")).await;
        assert_eq!(result, Err(WorkError::Failed));
    }

    #[cfg(target_os = "linux")]
    const IDLE: ThreadSchedulePolicy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);

    #[cfg(target_os = "linux")]
    #[actix_web::test]
    async fn background_thread_has_idle_priority() {
        let policy = || thread_priority::thread_schedule_policy().ok();
        let permit = Background::new(1, 8, LONG).acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(policy).await.ok(), Some(Some(IDLE)));
        assert_ne!(policy(), Some(IDLE));
    }

    #[cfg(target_os = "linux")]
    #[actix_web::test]
    async fn work_without_an_idle_core_is_done_at_ordinary_priority() {
        let policy = || thread_priority::thread_schedule_policy().ok();
        let background = Background::new(1, 8, Duration::from_millis(5));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = parking_lot::Mutex::new(ended);
        // A thread of the lowest priority that gets no core, for as long as the test wants.
        let starved = move || {
            let policy = policy();
            if policy == Some(IDLE) {
                let _ = ended.lock().recv();
            }
            policy
        };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_ne!(permit.run(starved).await.ok(), Some(Some(IDLE)));
        // The only thread of that priority is not done: what follows does not wait for it.
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_ne!(permit.run(policy).await.ok(), Some(Some(IDLE)));
        drop(end);
        let returned = background.idle_threads.acquire().await;
        drop(returned);
        let background = Background { patience: LONG, ..background };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(policy).await.ok(), Some(Some(IDLE)));
    }
}
