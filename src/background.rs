//! Work that keeps a core busy for long: on threads of its own that give way to everything else, a few at once, with a
//! bound on what waits.
//!
//! Not on the threads for blocking work: a thread that has once given way may not come back, and those also read messages.

use crate::http::ApiError;
use actors::DomainError;
use std::sync::Arc;
use thread_priority::ThreadPriority;
#[cfg(target_os = "linux")]
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Who may work at the moment.
pub struct Background {
    turns: Arc<Semaphore>,
    /// Places to wait in.
    waiting: Semaphore,
}

/// The right to do one piece of work.
pub struct Turn(OwnedSemaphorePermit);

impl Background {
    /// For so many at once, and so many requests that may wait for their turn.
    pub fn new(turns: usize, waiting_max: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(turns)), waiting: Semaphore::new(waiting_max) }
    }

    /// Waits for one's turn.
    ///
    /// # Errors
    /// `Overloaded` when too many wait already.
    pub async fn turn(&self) -> Result<Turn, DomainError> {
        // Whoever goes away while waiting gives the place back, too.
        let _place = self.waiting.try_acquire().map_err(|_| DomainError::Overloaded)?;
        let permit = self.turns.clone().acquire_owned().await;
        permit.map(Turn).map_err(|_| DomainError::Stopping)
    }
}

impl Turn {
    /// Does the work. The turn ends with it, also when nobody waits for it any more.
    ///
    /// # Errors
    /// 503 when no thread can be had, 500 when the work ended without a result.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (answer, done) = oneshot::channel();
        let thread = std::thread::Builder::new().name("background".into()).spawn(move || {
            give_way();
            let result = work();
            drop(self.0);
            // Nobody listens where whoever asked has gone away.
            let _ = answer.send(result);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "no thread for work in the background");
            return Err(DomainError::Overloaded.into());
        }
        done.await.map_err(|_| ApiError::internal())
    }
}

/// Lets every other thread go first: this one works where a core would do nothing else. Only Linux knows such a policy;
/// elsewhere the lowest priority has to do.
fn give_way() {
    #[cfg(target_os = "linux")]
    let done = {
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle)
    };
    #[cfg(not(target_os = "linux"))]
    let done = ThreadPriority::Min.set_for_current();
    if let Err(error) = done {
        tracing::debug!(?error, "work in the background competes with everything else");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[actix_web::test]
    async fn the_line_has_an_end() {
        let background = Background::new(1, 8);
        let first = background.turn().await.ok().unwrap();
        let mut line: Vec<_> = (0..8).map(|_| Box::pin(background.turn())).collect();
        assert!(line.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        assert!(matches!(background.turn().await.err(), Some(DomainError::Overloaded)));
        // Those who hang up make room.
        line.clear();
        drop(first);
        let turn = background.turn().await.ok().unwrap();
        assert_eq!(turn.run(|| 7).await.ok(), Some(7));
    }

    #[actix_web::test]
    async fn a_turn_ends_with_its_work() {
        let background = Background::new(1, 8);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let turn = background.turn().await.ok().unwrap();
        let mut work = Box::pin(turn.run(move || ended.recv().is_ok()));
        assert!(work.as_mut().now_or_never().is_none());
        // Nobody waits for it any more, but it is not done.
        drop(work);
        assert!(background.turn().now_or_never().is_none());
        end.send(()).unwrap();
        assert!(background.turn().await.is_ok());
    }

    #[cfg(target_os = "linux")]
    #[actix_web::test]
    async fn it_gives_way_alone() {
        let policy = || thread_priority::thread_schedule_policy().ok();
        let turn = Background::new(1, 8).turn().await.ok().unwrap();
        let idle = Some(ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle));
        assert_eq!(turn.run(policy).await.ok(), Some(idle));
        assert_ne!(policy(), idle);
    }
}
