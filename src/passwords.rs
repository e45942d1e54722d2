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
    /// How many of them are kept.
    count_max: usize,
    unused: Mutex<Vec<PasswordHasher>>,
    /// The number of computations so far.
    computations: AtomicU64,
    /// The number of computations that run.
    running: AtomicUsize,
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
    }
}

/// A computation that runs, until all of its threads have ended.
struct Running {
    hashers: Hashers,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.hashers.0.running.fetch_sub(1, Ordering::Release);
    }
}

/// Permission to run one computation.
pub struct Permit {
    permit: background::Permit,
    hashers: Hashers,
}

impl Default for Passwords {
    fn default() -> Self {
        let usable = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::new(permits(usable, cores()), PATIENCE, KEPT)
    }
}

/// The number of computations at a time, for so many cores that this process can use all the time, of those on which it may run.
/// At the lowest priority on all cores: others have them at once. With a quota of CPU time that is less than these cores,
/// computations use up the quota of everything else whatever their priority, so they get half of it.
fn permits(usable: usize, cores: Option<usize>) -> usize {
    let permits = if cores == Some(usable) { usable } else { usable / 2 };
    permits.clamp(1, PERMITS_MAX)
}

/// The number of cores on which this process may run, whatever its quota.
#[cfg(target_os = "linux")]
fn cores() -> Option<usize> {
    rustix::thread::sched_getaffinity(None).ok().and_then(|cores| cores.count().try_into().ok())
}

/// Unknown; no system but Linux has a priority that leaves cores to others at once.
#[cfg(not(target_os = "linux"))]
fn cores() -> Option<usize> {
    None
}

impl Passwords {
    fn new(permits: usize, patience: Duration, kept: Duration) -> Self {
        let background = Background::new(permits, WAITING_MAX, patience);
        Self { background, hashers: Hashers::new(permits, kept) }
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
        let running = self.hashers.start();
        let done = self.permit.run(move || {
            let mut lent = running.hashers.lend();
            work(&mut lent.hasher)
        });
        done.await
    }
}

impl Hashers {
    fn new(count_max: usize, kept: Duration) -> Self {
        let (unused, computations, running, is_drop_planned) = Default::default();
        Self(Arc::new(Pool { kept, count_max, unused, computations, running, is_drop_planned }))
    }

    // Not waiting for the lock: a thread of the lowest priority may be suspended while it holds it.

    fn lend(&self) -> Lent {
        let hasher = self.0.unused.try_lock().and_then(|mut unused| unused.pop());
        Lent { hasher: hasher.unwrap_or_default(), hashers: self.clone() }
    }

    fn give_back(&self, hasher: PasswordHasher) {
        if let Some(mut unused) = self.0.unused.try_lock()
            && unused.len() < self.0.count_max
        {
            unused.push(hasher);
        }
    }

    /// Counts a computation. Some time after the last one has ended, the memory is freed.
    fn start(&self) -> Running {
        self.0.running.fetch_add(1, Ordering::Relaxed);
        self.0.computations.fetch_add(1, Ordering::Relaxed);
        if !self.0.is_drop_planned.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.clone().drop_unused());
        }
        Running { hashers: self.clone() }
    }

    async fn drop_unused(self) {
        loop {
            let before = self.computations();
            sleep(self.0.kept).await;
            if self.drop_after(before) && self.end_drop(before) {
                return;
            }
        }
    }

    fn computations(&self) -> u64 {
        self.0.computations.load(Ordering::Relaxed)
    }

    /// Drops all unless there were computations after so many, or some run. Whether they are dropped.
    fn drop_after(&self, before: u64) -> bool {
        let is_unused = self.computations() == before && self.0.running.load(Ordering::Acquire) == 0;
        is_unused && self.0.unused.try_lock().map(|mut unused| unused.clear()).is_some()
    }

    /// Says that no task drops hashers, unless there were computations after so many: those that were counted before that was
    /// said have planned nothing. Whether the task ends.
    fn end_drop(&self, before: u64) -> bool {
        // Acquires what those have counted.
        self.0.is_drop_planned.swap(false, Ordering::AcqRel);
        self.computations() == before || self.0.is_drop_planned.swap(true, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test.
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn half_of_a_quota_is_for_passwords() {
        // Cores that can be used all the time, those on which the process may run, and computations.
        for (usable, cores, expected) in [
            (1, Some(1), 1),
            (2, Some(2), 2),
            (3, Some(3), 3),
            (64, Some(64), 4),
            (1, Some(2), 1),
            (2, Some(64), 1),
            (3, Some(4), 1),
            (4, Some(8), 2),
            (32, Some(64), 4),
            (2, None, 1),
        ] {
            assert_eq!(permits(usable, cores), expected, "{usable} of {cores:?}");
        }
    }

    #[actix_web::test]
    async fn hashers_are_reused() {
        let passwords = Passwords::new(1, LONG, LONG);
        let count = |hashers: &Hashers| hashers.0.unused.lock().len();
        for before in [0, 1, 1] {
            assert_eq!(count(&passwords.hashers), before);
            let hashers = passwords.hashers.clone();
            let permit = passwords.acquire_permit().await.ok().unwrap();
            // The computation has taken the one that was unused.
            assert_eq!(permit.run(move |_| count(&hashers)).await, Ok(0));
        }
        // No more are kept than are in use when all cores are idle.
        let hashers = Hashers::new(2, LONG);
        drop([hashers.lend(), hashers.lend(), hashers.lend()]);
        assert_eq!(count(&hashers), 2);
    }

    #[test]
    fn computation_that_starts_while_the_task_ends_has_its_memory_freed() {
        let hashers = Hashers::new(1, LONG);
        let is_planned = || hashers.0.is_drop_planned.load(Ordering::SeqCst);
        hashers.0.is_drop_planned.store(true, Ordering::SeqCst);
        let before = hashers.computations();
        assert!(hashers.drop_after(before));
        // Starts here: finds a task, and plans none.
        hashers.0.computations.fetch_add(1, Ordering::SeqCst);
        assert!(!hashers.end_drop(before), "the task goes on");
        assert!(is_planned());
        assert!(hashers.end_drop(hashers.computations()));
        assert!(!is_planned());
    }

    #[actix_web::test]
    async fn memory_of_hashers_is_freed_when_they_are_unused() {
        let count = |hashers: &Hashers| hashers.0.unused.lock().len();
        let hashers = Hashers::new(1, Duration::from_millis(1));
        for _ in 0..3 {
            let running = hashers.start();
            // A thread that gets a core after longer than unused memory is kept.
            sleep(Duration::from_millis(5)).await;
            drop(hashers.lend());
            sleep(Duration::from_millis(5)).await;
            assert_eq!(count(&hashers), 1);
            drop(running);
            while count(&hashers) > 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        let kept = Hashers::new(1, LONG);
        let running = kept.start();
        drop(kept.lend());
        drop(running);
        sleep(Duration::from_millis(5)).await;
        assert_eq!(count(&kept), 1);
    }
}
