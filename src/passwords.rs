//! Hashing and checking passwords: deliberately slow and memory-hungry, so it runs in the background, a few at a
//! time, with a bounded queue.

use crate::background::{self, Background, WorkError};
use actors::login::PasswordHasher;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// Maximum number of waiting requests; at 13 ms each they wait for some seconds. Beyond it: 503.
const WAITING_MAX: usize = 512;

/// Maximum number of computations at a time. Each uses 19 MB.
const PERMITS_MAX: usize = 4;

/// How long a computation waits for an idle core: forty times what it takes.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long the memory of hashers is kept without a computation.
const KEPT: Duration = Duration::from_secs(10);

/// The queue of computations.
pub struct Passwords {
    background: Background,
    hashers: Hashers,
}

/// Hashers that are not in use, each with its memory.
#[derive(Clone)]
struct Hashers(Arc<Pool>);

struct Pool {
    /// How long they are kept without a computation.
    kept: Duration,
    unused: Mutex<Vec<PasswordHasher>>,
    /// The number of computations so far.
    computations: AtomicU64,
    /// The number of hashers in use.
    lent: AtomicUsize,
    /// A task drops the hashers once they are unused for long enough.
    is_drop_planned: AtomicBool,
}

/// A hasher in use, which is given back at the end.
struct Lent {
    hasher: PasswordHasher,
    hashers: Hashers,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.hashers.give_back(std::mem::take(&mut self.hasher));
        self.hashers.0.lent.fetch_sub(1, Ordering::Release);
    }
}

/// Permission to run one computation.
pub struct Permit {
    permit: background::Permit,
    hashers: Hashers,
}

impl Default for Passwords {
    fn default() -> Self {
        // At the lowest priority, on all cores: others have them at once.
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::with_permits(cores.min(PERMITS_MAX))
    }
}

impl Passwords {
    fn with_permits(permits: usize) -> Self {
        Self { background: Background::new(permits, WAITING_MAX, PATIENCE), hashers: Hashers::new(KEPT) }
    }

    /// Waits for a permit. Fails with `Overloaded` if too many requests are waiting.
    pub async fn acquire_permit(&self) -> Result<Permit, WorkError> {
        Ok(Permit { permit: self.background.acquire_permit().await?, hashers: self.hashers.clone() })
    }
}

impl Permit {
    /// Runs the computation, twice if it finds no idle core; the first result counts. The permit is released then, also
    /// if the caller has stopped waiting.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Fn(&mut PasswordHasher) -> T + Send + Sync + 'static,
    ) -> Result<T, WorkError> {
        let hashers = self.hashers;
        hashers.plan_drop();
        let done = self.permit.run(move || {
            let mut lent = hashers.lend();
            work(&mut lent.hasher)
        });
        done.await
    }
}

impl Hashers {
    fn new(kept: Duration) -> Self {
        let (unused, computations, lent, is_drop_planned) = Default::default();
        Self(Arc::new(Pool { kept, unused, computations, lent, is_drop_planned }))
    }

    // Not waiting for the lock: a thread of the lowest priority may be suspended while it holds it.

    fn lend(&self) -> Lent {
        self.0.lent.fetch_add(1, Ordering::Relaxed);
        let hasher = self.0.unused.try_lock().and_then(|mut unused| unused.pop());
        Lent { hasher: hasher.unwrap_or_default(), hashers: self.clone() }
    }

    fn give_back(&self, hasher: PasswordHasher) {
        if let Some(mut unused) = self.0.unused.try_lock()
            && unused.len() < PERMITS_MAX
        {
            unused.push(hasher);
        }
    }

    fn are_lent(&self) -> bool {
        self.0.lent.load(Ordering::Acquire) != 0
    }

    /// Counts a computation. Some time after the last one, the memory is freed.
    fn plan_drop(&self) {
        self.0.computations.fetch_add(1, Ordering::Relaxed);
        if !self.0.is_drop_planned.swap(true, Ordering::Relaxed) {
            tokio::spawn(self.clone().drop_unused());
        }
    }

    async fn drop_unused(self) {
        loop {
            let before = self.0.computations.load(Ordering::Relaxed);
            sleep(self.0.kept).await;
            let unused = self.0.unused.try_lock();
            let is_unused = self.0.computations.load(Ordering::Relaxed) == before && !self.are_lent();
            if let Some(mut unused) = unused.filter(|_| is_unused) {
                unused.clear();
                self.0.is_drop_planned.store(false, Ordering::Relaxed);
                return;
            }
        }
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
        assert!(passwords.hashers.0.unused.lock().len() <= 2);
    }

    #[actix_web::test]
    async fn memory_of_hashers_is_freed_when_they_are_unused() {
        let count = |hashers: &Hashers| hashers.0.unused.lock().len();
        let hashers = Hashers::new(Duration::from_millis(1));
        for _ in 0..3 {
            hashers.plan_drop();
            let lent = hashers.lend();
            // A computation that takes longer than unused memory is kept.
            sleep(Duration::from_millis(5)).await;
            drop(lent);
            assert_eq!(count(&hashers), 1);
            while count(&hashers) > 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        let kept = Hashers::new(Duration::from_secs(600));
        kept.plan_drop();
        drop(kept.lend());
        sleep(Duration::from_millis(5)).await;
        assert_eq!(count(&kept), 1);
    }
}
