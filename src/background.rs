//! CPU-bound work on threads of the lowest priority, a few at a time, with a bounded queue. Work that finds no idle core
//! is begun again on a thread of ordinary priority, so that it ends while other programs use all cores.
//!
//! Not on the threads for blocking work: a thread cannot raise its priority again, and those also read messages.

use cpu_time::CpuClock;
#[cfg(target_os = "linux")]
use preemption::Preemption;
use std::cell::Cell;
use std::io;
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

mod cpu_time;
#[cfg(target_os = "linux")]
mod preemption;

/// A thread that gets less of a core than one part in so many finds no idle one. With more, work takes at most so many
/// times what it takes on an idle core.
const SHARE_OF_IDLE_CORE: u32 = 8;

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
    threads: Threads,
}

/// Permission to run one piece of work.
pub struct Permit {
    held: OwnedSemaphorePermit,
    threads: Threads,
}

/// The threads of the work. At most twice as many as permits: a thread of ordinary priority keeps a permit until it ends, and
/// a thread of the lowest priority one of `idle`.
#[derive(Clone)]
struct Threads {
    /// A thread that finds no idle core keeps its own after its work was done by another thread; further work then runs at
    /// ordinary priority.
    idle: Arc<Semaphore>,
    patience: Duration,
    system: System,
}

type Job = Box<dyn FnOnce() + Send>;

/// What the threads need of the system. Tests have their own.
#[derive(Clone, Copy)]
struct System {
    spawn: fn(Job) -> io::Result<()>,
    cpu_time: fn(&CpuClock) -> Option<Duration>,
}

impl System {
    const REAL: Self = Self {
        spawn: |job| std::thread::Builder::new().name("background".into()).spawn(job).map(drop),
        cpu_time: CpuClock::time,
    };
}

impl Background {
    /// `permits` pieces of work at a time, and up to `waiting_max` waiting requests. Work that is not done after `patience`
    /// and has hardly had a core in that time is begun again at ordinary priority: several times what it takes on an idle core.
    pub fn new(permits: usize, waiting_max: usize, patience: Duration) -> Self {
        Self::on(System::REAL, permits, waiting_max, patience)
    }

    fn on(system: System, permits: usize, waiting_max: usize, patience: Duration) -> Self {
        let semaphore = || Arc::new(Semaphore::new(permits));
        let threads = Threads { idle: semaphore(), patience, system };
        Self { permits: semaphore(), waiting: Semaphore::new(waiting_max), threads }
    }

    /// Waits for a permit. Fails with `Overloaded` if too many requests are waiting.
    pub async fn acquire_permit(&self) -> Result<Permit, WorkError> {
        // A request that is cancelled while it waits gives its place back, too.
        let _place = self.waiting.try_acquire().map_err(|_| WorkError::Overloaded)?;
        let held = self.permits.clone().acquire_owned().await.map_err(|_| WorkError::Stopping)?;
        Ok(Permit { held, threads: self.threads.clone() })
    }
}

impl Permit {
    /// Runs the work, twice if the first thread finds no idle core; the first result counts. The permit is released then,
    /// also if the caller has stopped waiting, or when a second thread ends after the first. Fails with `Overloaded` when no
    /// thread can be started, with `Failed` when the work panicked.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<T, WorkError> {
        let Self { held, threads } = self;
        // A task of its own goes on when the caller is cancelled.
        let task = tokio::spawn(threads.first_result(Arc::new(held), Arc::new(work)));
        task.await.map_err(|_| WorkError::Failed)?
    }
}

impl Threads {
    async fn first_result<T: Send + 'static>(
        self,
        held: Arc<OwnedSemaphorePermit>,
        work: Arc<impl Fn() -> T + Send + Sync + 'static>,
    ) -> Result<T, WorkError> {
        let ordinary = {
            let (held, work) = (held.clone(), work.clone());
            move || {
                let _held = held;
                work()
            }
        };
        let Ok(idle_thread) = self.idle.clone().try_acquire_owned() else {
            return self.start(ordinary)?.await.map_err(|_| WorkError::Failed);
        };
        let clock = CpuClock::default();
        let started = clock.clone();
        let mut first = self.start(move || {
            let _idle_thread = idle_thread;
            started.begin();
            let _preemption = use_lowest_priority();
            work()
        })?;
        let mut cpu_time = Duration::ZERO;
        let second = loop {
            if let Ok(result) = timeout(self.patience, &mut first).await {
                return result.map_err(|_| WorkError::Failed);
            }
            let before = cpu_time;
            cpu_time = (self.system.cpu_time)(&clock).unwrap_or(before);
            if !is_starved(cpu_time.saturating_sub(before), self.patience) {
                continue;
            }
            // Without a second thread, the first one may still find a core.
            if let Ok(second) = self.start(ordinary.clone()) {
                tracing::debug!(
                    "background work finds no idle core, and is begun again at ordinary priority"
                );
                break second;
            }
        };
        drop((held, ordinary));
        let result = tokio::select! { result = first => result, result = second => result };
        result.map_err(|_| WorkError::Failed)
    }

    /// The receiver of the result of work on a thread of its own; closed without a result if the work panics.
    fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, WorkError> {
        let (answer, done) = oneshot::channel();
        let thread = (self.system.spawn)(Box::new(move || {
            let result = work();
            // The caller may have stopped waiting.
            let _ = answer.send(result);
        }));
        match thread {
            Ok(()) => Ok(done),
            Err(error) => {
                tracing::warn!(%error, "a background thread could not be started");
                Err(WorkError::Overloaded)
            }
        }
    }
}

/// Whether a thread with so much CPU time in a time finds no idle core.
fn is_starved(cpu_time: Duration, time: Duration) -> bool {
    cpu_time < time / SHARE_OF_IDLE_CORE
}

thread_local! {
    static HAS_LOWEST_PRIORITY: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread has the lowest priority: what it holds is perhaps released only when a core is idle.
pub fn has_lowest_priority() -> bool {
    HAS_LOWEST_PRIORITY.get()
}

/// Lowers the priority of this thread below all others, so that it uses idle cores only. Only Linux has such a policy.
#[cfg(target_os = "linux")]
fn use_lowest_priority() -> Option<Preemption> {
    HAS_LOWEST_PRIORITY.set(true);
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
    HAS_LOWEST_PRIORITY.set(true);
    if let Err(error) = ThreadPriority::Min.set_for_current() {
        tracing::debug!(?error, "the priority of a background thread could not be lowered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::atomic::{AtomicU32, Ordering};

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
        let returned = background.threads.idle.acquire().await;
        drop(returned);
        let threads = Threads { patience: LONG, ..background.threads };
        let background = Background { threads, ..background };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(policy).await.ok(), Some(Some(IDLE)));
    }
    #[test]
    fn only_a_thread_with_a_small_share_of_a_core_is_starved() {
        let time = Duration::from_millis(800);
        for (millis, expected) in [(0, true), (99, true), (100, false), (800, false)] {
            assert_eq!(is_starved(Duration::from_millis(millis), time), expected, "{millis}");
        }
    }

    #[actix_web::test]
    async fn slow_work_with_a_core_is_not_begun_again() {
        /// How often the waiting task has asked for the CPU time of the thread.
        static ASKED: AtomicU32 = AtomicU32::new(0);
        const STEP: Duration = Duration::from_millis(2);
        let cpu_time = |_: &CpuClock| Some(STEP * (ASKED.fetch_add(1, Ordering::SeqCst) + 1));
        let background = Background::on(System { cpu_time, ..System::REAL }, 1, 8, STEP);
        let runs = Arc::new(AtomicU32::new(0));
        let counted = runs.clone();
        let slow = move || {
            let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            while is_first && ASKED.load(Ordering::SeqCst) < 4 {
                std::thread::sleep(STEP);
            }
        };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(slow).await, Ok(()));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }

    #[actix_web::test]
    async fn work_goes_on_when_no_second_thread_can_be_started() {
        static STARTS: AtomicU32 = AtomicU32::new(0);
        let spawn = |job: Job| match STARTS.fetch_add(1, Ordering::SeqCst) {
            0 => (System::REAL.spawn)(job),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        };
        let system = System { spawn, cpu_time: |_| None };
        let background = Background::on(system, 1, 8, Duration::from_millis(2));
        let starved = || {
            while STARTS.load(Ordering::SeqCst) < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            7
        };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(starved).await, Ok(7));
        // Further work finds no thread at all, and gives the permit back.
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(|| 7).await, Err(WorkError::Overloaded));
        assert!(background.acquire_permit().await.is_ok());
    }

    #[actix_web::test]
    async fn second_thread_keeps_the_permit_until_it_ends() {
        let system = System { cpu_time: |_| None, ..System::REAL };
        let background = Background::on(system, 1, 8, Duration::from_millis(2));
        let (begin, begun) = std::sync::mpsc::channel::<()>();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (begun, ended) = (parking_lot::Mutex::new(begun), parking_lot::Mutex::new(ended));
        // The first thread finds a core as soon as the second one has begun.
        let work = move || match has_lowest_priority() {
            true => begun.lock().recv().is_ok(),
            false => begin.send(()).is_ok() && ended.lock().recv().is_ok(),
        };
        let permit = background.acquire_permit().await.ok().unwrap();
        assert_eq!(permit.run(work).await, Ok(true));
        assert!(background.acquire_permit().now_or_never().is_none());
        end.send(()).unwrap();
        assert!(background.acquire_permit().await.is_ok());
    }
}
