//! Work with passwords: slow and hungry on purpose, so it runs on blocking threads, a few at once, with a
//! bound on those that wait.

use crate::http::ApiError;
use actors::DomainError;
use actors::login::PasswordHasher;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests that may wait for their turn; at 13 ms each they wait for some seconds. Past it: 503.
const WAITING_MAX: usize = 512;

/// Computations at once, on machines with so many cores. Each keeps 19 MB.
const TURNS_MAX: usize = 4;

/// Who may compute at the moment.
pub struct Passwords {
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

/// The right to do one computation.
pub struct Turn {
    permit: OwnedSemaphorePermit,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::with_turns(cores.min(TURNS_MAX))
    }
}

impl Passwords {
    fn with_turns(turns: usize) -> Self {
        let turns = Arc::new(Semaphore::new(turns));
        Self { turns, waiting: AtomicUsize::new(0), idle: Arc::default() }
    }

    /// Waits for one's turn.
    ///
    /// Error: 503 when too many wait already.
    pub async fn turn(&self) -> Result<Turn, ApiError> {
        let place = Place::take(&self.waiting).ok_or(DomainError::Overloaded)?;
        let permit = self.turns.clone().acquire_owned().await.map_err(|_| ApiError::internal())?;
        drop(place);
        Ok(Turn { permit, idle: self.idle.clone() })
    }
}

impl Turn {
    /// Runs the computation on a blocking thread. The turn ends with the computation, also when nobody
    /// waits for it any more.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut PasswordHasher) -> Result<T, DomainError> + Send + 'static,
    ) -> Result<T, DomainError> {
        let done = actix_web::web::block(move || {
            let mut hasher = self.idle.lock().pop().unwrap_or_default();
            let done = work(&mut hasher);
            self.idle.lock().push(hasher);
            drop(self.permit);
            done
        });
        done.await.unwrap_or(Err(DomainError::Stopping))
    }
}

/// A place among those that wait; also given back when the client hangs up.
struct Place<'p>(&'p AtomicUsize);

impl<'p> Place<'p> {
    fn take(waiting: &'p AtomicUsize) -> Option<Self> {
        let place = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < WAITING_MAX).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[actix_web::test]
    async fn the_line_has_an_end() {
        let passwords = Passwords::with_turns(1);
        let first = passwords.turn().await.ok().unwrap();
        let mut line: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(passwords.turn())).collect();
        assert!(line.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        let refused = passwords.turn().await.err().unwrap();
        assert_eq!(refused.status_code(), 503);
        // Those who hang up make room.
        line.clear();
        drop(first);
        let turn = passwords.turn().await.ok().unwrap();
        assert_eq!(turn.run(|_| Ok(7)).await.ok(), Some(7));
    }

    #[actix_web::test]
    async fn memory_is_used_again() {
        let passwords = Passwords::with_turns(2);
        for _ in 0..5 {
            let turns = [passwords.turn().await.ok().unwrap(), passwords.turn().await.ok().unwrap()];
            futures_util::future::join_all(turns.map(|turn| turn.run(|_| Ok(())))).await;
        }
        assert!(passwords.idle.lock().len() <= 2);
    }
}
