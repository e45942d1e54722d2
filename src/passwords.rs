//! Hashing and checking passwords: deliberately slow and memory-hungry, so it runs in the background, a few at a
//! time, with a bounded queue.

use crate::background::{self, Background, WorkError};
use actors::login::PasswordHasher;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Maximum number of waiting requests; at 13 ms each they wait for some seconds. Beyond it: 503.
const WAITING_MAX: usize = 512;

/// Maximum number of computations at a time. Each uses 19 MB.
const PERMITS_MAX: usize = 4;

/// Cores per computation: half of them stay free. Low priority is not enough, because kernel work for the disk may
/// still have to wait for the next scheduler tick.
const CORES_PER_PERMIT: usize = 2;

/// The queue of computations.
pub struct Passwords {
    background: Background,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

/// Permission to run one computation.
pub struct Permit {
    permit: background::Permit,
    idle: Arc<Mutex<Vec<PasswordHasher>>>,
}

impl Default for Passwords {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::with_permits((cores / CORES_PER_PERMIT).clamp(1, PERMITS_MAX))
    }
}

impl Passwords {
    fn with_permits(permits: usize) -> Self {
        Self { background: Background::new(permits, WAITING_MAX), idle: Arc::default() }
    }

    /// Waits for a permit. Fails with `Overloaded` if too many requests are waiting.
    pub async fn acquire_permit(&self) -> Result<Permit, WorkError> {
        Ok(Permit { permit: self.background.acquire_permit().await?, idle: self.idle.clone() })
    }
}

impl Permit {
    /// Runs the computation. The permit is released at its end, also if the caller has stopped waiting.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut PasswordHasher) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let idle = self.idle;
        let done = self.permit.run(move || {
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
    async fn hashers_are_reused() {
        let passwords = Passwords::with_permits(2);
        for _ in 0..5 {
            let permits = [
                passwords.acquire_permit().await.ok().unwrap(),
                passwords.acquire_permit().await.ok().unwrap(),
            ];
            futures_util::future::join_all(permits.map(|permit| permit.run(|_| ()))).await;
        }
        assert!(passwords.idle.lock().len() <= 2);
    }
}
