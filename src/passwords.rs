//! Work with passwords: slow and hungry on purpose, so it runs in the background, a few at once, with a bound on those
//! that wait.

use crate::background::{self, Background};
use crate::http::ApiError;
use actors::login::PasswordHasher;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Requests that may wait for their turn; at 13 ms each they wait for some seconds. Past it: 503.
const WAITING_MAX: usize = 512;

/// Computations at once, on machines with so many cores. Each keeps 19 MB.
const TURNS_MAX: usize = 4;

/// Cores for each computation: half of them stay free. Giving way is not enough, because what the kernel does for the disk
/// may still have to wait for the next tick of its clock.
const CORES_PER_TURN: usize = 2;

/// Who may compute at the moment.
pub struct Passwords {
    background: Background,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

/// The right to do one computation.
pub struct Turn {
    turn: background::Turn,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::with_turns((cores / CORES_PER_TURN).clamp(1, TURNS_MAX))
    }
}

impl Passwords {
    fn with_turns(turns: usize) -> Self {
        Self { background: Background::new(turns, WAITING_MAX), idle: Arc::default() }
    }

    /// Waits for one's turn.
    ///
    /// Error: 503 when too many wait already.
    pub async fn turn(&self) -> Result<Turn, ApiError> {
        Ok(Turn { turn: self.background.turn().await?, idle: self.idle.clone() })
    }
}

impl Turn {
    /// Runs the computation. The turn ends with it, also when nobody waits for it any more.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut PasswordHasher) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let idle = self.idle;
        let done = self.turn.run(move || {
            let mut hasher = idle.lock().pop().unwrap_or_default();
            let done = work(&mut hasher);
            idle.lock().push(hasher);
            done
        });
        done.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn memory_is_used_again() {
        let passwords = Passwords::with_turns(2);
        for _ in 0..5 {
            let turns = [passwords.turn().await.ok().unwrap(), passwords.turn().await.ok().unwrap()];
            futures_util::future::join_all(turns.map(|turn| turn.run(|_| ()))).await;
        }
        assert!(passwords.idle.lock().len() <= 2);
    }
}
