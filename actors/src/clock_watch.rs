//! Reports changes of the machine's wall clock: once for the server, whatever the number of organizations. What developers move on
//! purpose is none.

use crate::clock::Clock;
use crate::realm::WallClockSteps;
use crate::server::Server;
use std::sync::Weak;
use std::time::Duration;

/// How often the clock is read.
const TICK: Duration = Duration::from_secs(1);

impl Server {
    /// Reads the clock until the server stops.
    pub(crate) async fn watch_clock(server: Weak<Self>) {
        let Some(clock) = server.upgrade().map(|server| server.options.clock.clone()) else { return };
        let mut steps = WallClockSteps::new(clock.of_machine());
        while server.strong_count() > 0 {
            tokio::time::sleep(TICK).await;
            if let Some(seconds) = change(&mut steps, &*clock) {
                tracing::warn!(seconds, "the wall clock was changed");
            }
        }
    }
}

/// By how many seconds the machine's clock was set forward, or with a minus back; none if it was not.
fn change(steps: &mut WallClockSteps, clock: &dyn Clock) -> Option<i64> {
    let (now, at) = clock.of_machine();
    let expected = steps.find((now, at))?;
    let millis = i128::from(now.0) - i128::from(expected.0);
    Some((millis / 1000) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SteadyClock;
    use crate::{ManualClock, ShiftedClock};
    use model::Timestamp;
    use std::sync::Arc;

    #[test]
    fn change_of_the_machine_is_reported_and_one_by_developers_is_none() {
        let machine = ManualClock::new(Timestamp(1_000_000_000));
        let shifted = Arc::new(ShiftedClock::new(Arc::new(machine.clone())));
        let clock = SteadyClock::new(shifted.clone());
        let mut steps = WallClockSteps::new(clock.of_machine());
        machine.shift_wall_secs(-3600);
        assert_eq!(change(&mut steps, &clock), Some(-3600));
        assert_eq!(change(&mut steps, &clock), None, "once");
        shifted.advance(Duration::from_secs(7200));
        assert_eq!(change(&mut steps, &clock), None, "time has passed");
        shifted.set_wall(Timestamp(5_000_000));
        assert_eq!(change(&mut steps, &clock), None, "set on purpose");
        shifted.restore_wall();
        assert_eq!(change(&mut steps, &clock), None, "restored");
        machine.advance_secs(100);
        machine.shift_wall_secs(90);
        assert_eq!(change(&mut steps, &clock), Some(90));
    }
}
