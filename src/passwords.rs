//! Work with passwords: slow on purpose, so it runs on blocking threads, as many at once as there are
//! cores, and with a bound on those that wait.

use crate::http::ApiError;
use actors::DomainError;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Requests that may wait for their turn; at 13 ms each they wait for some seconds. Past it: 503.
const WAITING_MAX: usize = 512;

/// Who may compute at the moment. Each computation takes 13 ms and 19 MB.
pub struct Passwords {
    turns: Semaphore,
    waiting: AtomicUsize,
}

/// The right to do one computation after the other.
pub struct Turn<'p>(#[expect(dead_code, reason = "held, not used")] SemaphorePermit<'p>);

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { turns: Semaphore::new(cores), waiting: AtomicUsize::new(0) }
    }
}

impl Passwords {
    /// Waits for one's turn.
    ///
    /// Error: 503 when too many wait already.
    pub async fn turn(&self) -> Result<Turn<'_>, ApiError> {
        let place = Place::take(&self.waiting).ok_or(DomainError::Overloaded)?;
        let permit = self.turns.acquire().await.map_err(|_| ApiError::internal())?;
        drop(place);
        Ok(Turn(permit))
    }
}

impl Turn<'_> {
    /// Runs one computation on a blocking thread.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, DomainError> + Send + 'static,
    ) -> Result<T, DomainError> {
        let done = actix_web::web::block(work).await;
        done.unwrap_or(Err(DomainError::Stopping))
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
        let passwords = Passwords { turns: Semaphore::new(1), waiting: AtomicUsize::new(0) };
        let first = passwords.turn().await.ok().unwrap();
        let mut line: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(passwords.turn())).collect();
        assert!(line.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        let refused = passwords.turn().await.err().unwrap();
        assert_eq!(refused.status_code(), 503);
        // Those who hang up make room.
        line.clear();
        drop(first);
        let turn = passwords.turn().await.ok().unwrap();
        assert_eq!(turn.run(|| Ok(7)).await.ok(), Some(7));
    }
}
