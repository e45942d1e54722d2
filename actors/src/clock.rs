//! Clocks: the system's in a server, one that developers can move in a development server, a manual one in tests.

use model::Timestamp;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall-clock and monotonic time.
pub trait Clock: Send + Sync {
    /// The wall clock: for dates that are stored or shown. It can be set at any time.
    fn now(&self) -> Timestamp;

    /// Time since an arbitrary origin in this process, which never runs backwards and does not depend on the wall clock: for
    /// time-outs, rate limits and other durations.
    fn monotonic(&self) -> Duration;

    /// How far developers have moved the wall clock forward since the start of the process, all moves together; moves back
    /// do not count. Zero, except on development servers.
    fn moved_forward(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether developers may move it.
    fn is_movable(&self) -> bool {
        false
    }

    /// The wall clock and monotonic time of the machine, without what developers have moved.
    fn of_machine(&self) -> (Timestamp, Duration) {
        (self.now(), self.monotonic())
    }
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

    fn moved_forward(&self) -> Duration {
        self.clock.moved_forward()
    }

    fn is_movable(&self) -> bool {
        self.clock.is_movable()
    }

    fn of_machine(&self) -> (Timestamp, Duration) {
        self.clock.of_machine()
    }
}

/// A running clock that can be moved: for tests of clients against a development server.
pub struct ShiftedClock {
    clock: Arc<dyn Clock>,
    /// Added to the wall clock.
    wall_millis: AtomicI64,
    /// Added to monotonic time; it only grows.
    passed_millis: AtomicU64,
    /// How far the wall clock was moved forward, all moves together; it only grows.
    forward_millis: AtomicU64,
    /// Held while the wall clock is moved.
    moving: Mutex<()>,
}

impl ShiftedClock {
    /// Wraps a clock, and shows its time until it is moved.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            wall_millis: AtomicI64::new(0),
            passed_millis: AtomicU64::new(0),
            forward_millis: AtomicU64::new(0),
            moving: Mutex::default(),
        }
    }

    /// Lets time pass at once: the wall clock and monotonic time move forward.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.passed_millis.fetch_add(millis, Ordering::SeqCst);
        self.shift_wall(|shift| shift.saturating_add_unsigned(millis));
    }

    /// Sets the wall clock, which goes on from there. No time passes.
    pub fn set_wall(&self, time: Timestamp) {
        let shift = i128::from(time.0) - i128::from(self.clock.now().0);
        self.shift_wall(|_| i64::try_from(shift).unwrap_or(i64::MAX));
    }

    /// Shows the wall time of the wrapped clock again. Time that has passed stays passed.
    pub fn restore_wall(&self) {
        self.shift_wall(|_| 0);
    }

    /// Moves the wall clock. That it moves forward is known before it does, so that who reads the time first and then how far it
    /// was moved never misses a move.
    fn shift_wall(&self, shift: impl FnOnce(i64) -> i64) {
        let _moving = self.moving.lock();
        let before = self.wall_millis.load(Ordering::SeqCst);
        let after = shift(before);
        let forward = u64::try_from(after.saturating_sub(before)).unwrap_or_default();
        self.forward_millis.fetch_add(forward, Ordering::SeqCst);
        self.wall_millis.store(after, Ordering::SeqCst);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.clock.now().0.saturating_add_signed(self.wall_millis.load(Ordering::SeqCst)))
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic() + Duration::from_millis(self.passed_millis.load(Ordering::SeqCst))
    }

    fn moved_forward(&self) -> Duration {
        Duration::from_millis(self.forward_millis.load(Ordering::SeqCst))
    }

    fn is_movable(&self) -> bool {
        true
    }

    fn of_machine(&self) -> (Timestamp, Duration) {
        self.clock.of_machine()
    }
}

/// A clock that changes only when it is set.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<ManualTime>);

#[derive(Debug)]
struct ManualTime {
    wall_millis: AtomicU64,
    monotonic_millis: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(ManualTime { wall_millis: AtomicU64::new(now.0), monotonic_millis: AtomicU64::new(0) }))
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

    #[test]
    fn shifted_clock_runs_on_from_where_it_was_moved() {
        let manual = ManualClock::new(Timestamp(10_000_000));
        let clock = ShiftedClock::new(Arc::new(manual.clone()));
        clock.advance(Duration::from_secs(60));
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(10_060_000), Duration::from_secs(60)));
        clock.set_wall(Timestamp(5_000_000));
        manual.advance_secs(1);
        assert_eq!((clock.now(), clock.monotonic()), (Timestamp(5_001_000), Duration::from_secs(61)));
        clock.restore_wall();
        assert_eq!((clock.now(), clock.monotonic()), (manual.now(), Duration::from_secs(61)));
    }

    #[test]
    fn moved_clock_says_how_far_it_was_moved_forward() {
        let manual = ManualClock::new(Timestamp(10_000_000));
        let shifted = Arc::new(ShiftedClock::new(Arc::new(manual.clone())));
        let clock = SteadyClock::new(shifted.clone());
        assert_eq!(clock.moved_forward(), Duration::ZERO);
        shifted.advance(Duration::from_secs(60));
        manual.advance_secs(5);
        assert_eq!(clock.moved_forward(), Duration::from_secs(60));
        shifted.set_wall(Timestamp(manual.now().0 + 90_000));
        assert_eq!(clock.moved_forward(), Duration::from_secs(90));
        shifted.set_wall(Timestamp(5_000_000));
        assert_eq!(clock.moved_forward(), Duration::from_secs(90), "moves back do not count");
        shifted.advance(Duration::from_secs(900));
        assert_eq!(clock.moved_forward(), Duration::from_secs(990), "also where it is behind the real time");
        shifted.restore_wall();
        assert_eq!(clock.moved_forward(), Duration::from_secs(990 + 4_105));
    }
}
