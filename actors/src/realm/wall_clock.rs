//! Detects changes of the wall clock.

use crate::clock::Clock;
use model::Timestamp;
use std::time::Duration;

/// The wall clock was set if it differs by more than this from what it would show, in milliseconds.
const STEP_MILLIS: u64 = 60 * 1000;

/// How often expired invitations are searched for.
const INTERVAL: Duration = Duration::from_secs(60);

/// What the wall clock showed last, and when in monotonic time.
#[derive(Debug)]
pub(crate) struct WallClockSteps {
    wall: Timestamp,
    at: Duration,
}

impl WallClockSteps {
    /// Begins with what the clocks show.
    pub fn new((wall, at): (Timestamp, Duration)) -> Self {
        Self { wall, at }
    }

    /// Compares what the clocks show with the time that has passed. If the wall clock was set: what it would show otherwise.
    pub fn find(&mut self, (now, at): (Timestamp, Duration)) -> Option<Timestamp> {
        let passed = u64::try_from(at.saturating_sub(self.at).as_millis()).unwrap_or(u64::MAX);
        let expected = Timestamp(self.wall.0.saturating_add(passed));
        (self.wall, self.at) = (now, at);
        (now.0.abs_diff(expected.0) > STEP_MILLIS).then_some(expected)
    }
}

/// The wall clock as an organization sees it.
#[derive(Debug)]
pub(super) struct WallClockWatch {
    steps: WallClockSteps,
    /// When expired invitations are searched for next, in monotonic time.
    due: Duration,
}

/// What reading the wall clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockReading {
    /// The time of the decision, by the server's clock.
    pub now: Timestamp,
    /// What the wall clock would show if it had not been set; none if it was not.
    pub instead_of: Option<Timestamp>,
    /// Whether a search for expired records is due.
    pub is_due: bool,
}

impl WallClockWatch {
    /// The first search for expired records is due at once.
    pub fn new(clock: &dyn Clock) -> Self {
        let (wall, at) = (clock.now(), clock.monotonic());
        Self { steps: WallClockSteps::new((wall, at)), due: at }
    }

    /// Reads the clock and compares it with the time that has passed.
    pub fn read(&mut self, clock: &dyn Clock) -> ClockReading {
        let (now, at) = (clock.now(), clock.monotonic());
        let is_due = at >= self.due;
        if is_due {
            self.due = at + INTERVAL;
        }
        ClockReading { now, instead_of: self.steps.find((now, at)), is_due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    #[test]
    fn wall_clock_step_is_detected() {
        let clock = ManualClock::new(Timestamp(1_000_000_000));
        let mut watch = WallClockWatch::new(&clock);
        assert!(watch.read(&clock).is_due);
        clock.advance_secs(30);
        let calm = ClockReading { now: clock.now(), instead_of: None, is_due: false };
        assert_eq!(watch.read(&clock), calm);
        clock.advance_secs(31);
        assert_eq!(watch.read(&clock), ClockReading { now: clock.now(), is_due: true, ..calm });
        let expected = Some(clock.now());
        clock.shift_wall_secs(-3600);
        assert_eq!(watch.read(&clock), ClockReading { now: clock.now(), instead_of: expected, ..calm });
        let expected = Some(clock.now());
        clock.shift_wall_secs(7200);
        assert_eq!(watch.read(&clock), ClockReading { now: clock.now(), instead_of: expected, ..calm });
        // A correction by seconds is none.
        clock.shift_wall_secs(-20);
        assert_eq!(watch.read(&clock), ClockReading { now: clock.now(), ..calm });
    }
}
