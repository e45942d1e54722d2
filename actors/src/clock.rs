//! Clocks: the system's in a server, a manual one in tests and simulations.

use model::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall-clock and monotonic time.
pub trait Clock: Send + Sync {
    /// The wall clock: for dates that are stored or shown. It can be set at any time.
    fn now(&self) -> Timestamp;

    /// Time since an arbitrary origin in this process, which never runs backwards and does not depend on the wall clock: for
    /// time-outs, rate limits and other durations.
    fn monotonic(&self) -> Duration;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The origin of monotonic time, the same for every `SystemClock`.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        ORIGIN.elapsed()
    }
}

/// A wall clock that is set back by at most this much stops until it has caught up, in milliseconds.
const HELD_MILLIS_MAX: u64 = 60 * 1000;

/// A clock whose wall time does not run backwards when it is corrected by seconds, as time services do: later messages
/// have no earlier times. If it is set back by more than a minute, the new time is used, because stopping for long would be
/// worse; then only ids give the order.
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    latest_millis: AtomicU64,
}

impl SteadyClock {
    /// Wraps another clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, latest_millis: AtomicU64::new(0) }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let now = self.clock.now().0;
        let held =
            |latest: u64| if latest.saturating_sub(now) <= HELD_MILLIS_MAX { latest.max(now) } else { now };
        let update = |latest| Some(held(latest));
        match self.latest_millis.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update) {
            Ok(latest) | Err(latest) => Timestamp(held(latest)),
        }
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

/// A clock that changes only when it is set.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Hands>);

#[derive(Debug)]
struct Hands {
    wall_millis: AtomicU64,
    monotonic_millis: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(Hands { wall_millis: AtomicU64::new(now.0), monotonic_millis: AtomicU64::new(0) }))
    }

    /// Lets time pass: the wall clock and monotonic time move forward.
    pub fn advance_secs(&self, secs: u64) {
        self.0.wall_millis.fetch_add(secs * 1000, Ordering::SeqCst);
        self.0.monotonic_millis.fetch_add(secs * 1000, Ordering::SeqCst);
    }

    /// Sets the wall clock forward or, with negative seconds, back, as an administrator does. No time passes.
    pub fn shift_wall_secs(&self, secs: i64) {
        let shift = |now: u64| Some(now.saturating_add_signed(secs.saturating_mul(1000)));
        // The closure always gives a value, so this cannot fail.
        let _ = self.0.wall_millis.fetch_update(Ordering::SeqCst, Ordering::SeqCst, shift);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.wall_millis.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.monotonic_millis.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_clock_corrections_do_not_turn_time_back() {
        let manual = ManualClock::new(Timestamp(10_000_000));
        let clock = SteadyClock::new(Arc::new(manual.clone()));
        assert_eq!(clock.now(), Timestamp(10_000_000));
        manual.shift_wall_secs(-30);
        assert_eq!(clock.now(), Timestamp(10_000_000));
        manual.advance_secs(29);
        assert_eq!(clock.now(), Timestamp(10_000_000));
        manual.advance_secs(2);
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(10_001_000), Duration::from_secs(31)));
        manual.shift_wall_secs(-3600);
        assert_eq!(clock.now(), Timestamp(6_401_000));
        manual.shift_wall_secs(7200);
        assert_eq!(clock.now(), Timestamp(13_601_000));
    }

    #[test]
    fn wall_clock_change_keeps_monotonic_time() {
        let clock = ManualClock::new(Timestamp(10_000_000));
        clock.advance_secs(5);
        clock.shift_wall_secs(7200);
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(17_205_000), Duration::from_secs(5)));
        clock.shift_wall_secs(-7200);
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(10_005_000), Duration::from_secs(5)));
    }
}
