//! How much each account has had written to the journal within a day. The journal is never trimmed, so what one account
//! can add to it in a day is bounded.
//!
//! Counted are the bytes of frames as they are committed, in 24 slots of an hour. The counts live in memory: after a restart
//! they begin anew, which an account cannot bring about.

use crate::clock::Clock;
use crate::error::DomainError;
use model::{RealmId, UserId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Slots of a day.
const SLOTS: usize = 24;
/// Seconds of one slot.
const SLOT_SECS: u64 = 3600;
/// Every how many charges accounts are forgotten that have written nothing for a day.
const CHARGES_PER_SWEEP: u32 = 65_536;

/// Bytes by account. There are as many entries as accounts wrote something within a day or so.
pub struct WriteBudget {
    bytes_max: u64,
    clock: Arc<dyn Clock>,
    written: HashMap<(RealmId, UserId), Written>,
    charges: u32,
}

/// What one account has had written.
#[derive(Clone, Debug, Default)]
struct Written {
    /// The newest hour that counts.
    hour: u64,
    /// By hour, modulo a day.
    slots: [u64; SLOTS],
}

impl Written {
    /// Forgets hours that are a day ago.
    fn pass_to(&mut self, hour: u64) {
        for passed in (self.hour + 1..=hour).take(SLOTS) {
            self.slots[passed as usize % SLOTS] = 0;
        }
        self.hour = self.hour.max(hour);
    }

    fn total(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Hours until less than `bytes_max` are within a day.
    fn hours_to_wait(&self, bytes_max: u64) -> u64 {
        let mut left = self.total();
        for hours in 1..=SLOTS as u64 {
            left -= self.slots[(self.hour + hours) as usize % SLOTS];
            if left < bytes_max {
                return hours;
            }
        }
        SLOTS as u64
    }
}

impl WriteBudget {
    /// So many bytes for each account within a day; 0 does not limit.
    pub fn new(bytes_max: u64, clock: Arc<dyn Clock>) -> Self {
        // The counter exists from the start, so that monitoring reads zero instead of nothing.
        metrics::counter!("millstream_write_budget_refusals_total").increment(0);
        Self { bytes_max, clock, written: HashMap::new(), charges: 0 }
    }

    /// Whether an account may write more.
    ///
    /// # Errors
    /// `WriteBudgetSpent` with the time to wait.
    pub fn check(&mut self, realm: RealmId, account: UserId) -> Result<(), DomainError> {
        if self.bytes_max == 0 {
            return Ok(());
        }
        let now = self.clock.monotonic();
        let Some(written) = self.written.get_mut(&(realm, account)) else { return Ok(()) };
        written.pass_to(hour_of(now));
        if written.total() < self.bytes_max {
            return Ok(());
        }
        metrics::counter!("millstream_write_budget_refusals_total").increment(1);
        let free_at = Duration::from_secs((written.hour + written.hours_to_wait(self.bytes_max)) * SLOT_SECS);
        Err(DomainError::WriteBudgetSpent { wait: free_at.saturating_sub(now) })
    }

    /// Counts a frame that was queued for the journal.
    pub fn charge(&mut self, realm: RealmId, account: UserId, bytes: u64) {
        if self.bytes_max == 0 {
            return;
        }
        let hour = hour_of(self.clock.monotonic());
        let written = self.written.entry((realm, account)).or_default();
        written.pass_to(hour);
        written.slots[hour as usize % SLOTS] += bytes;
        self.charges += 1;
        if self.charges >= CHARGES_PER_SWEEP {
            self.charges = 0;
            self.written.retain(|_, written| {
                written.pass_to(hour);
                written.total() > 0
            });
        }
    }
}

fn hour_of(time: Duration) -> u64 {
    time.as_secs() / SLOT_SECS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use model::Timestamp;

    const REALM: RealmId = RealmId(1);
    const A: UserId = UserId(4);
    const B: UserId = UserId(5);

    fn budget(bytes_max: u64) -> (WriteBudget, ManualClock) {
        let clock = ManualClock::new(Timestamp(0));
        (WriteBudget::new(bytes_max, Arc::new(clock.clone())), clock)
    }

    fn wait_secs(budget: &mut WriteBudget, account: UserId) -> u64 {
        match budget.check(REALM, account) {
            Ok(()) => 0,
            Err(DomainError::WriteBudgetSpent { wait }) => wait.as_secs(),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn daily_write_budget_is_enforced() {
        let (mut budget, clock) = budget(1000);
        clock.advance_secs(SLOT_SECS / 2);
        budget.charge(REALM, A, 600);
        clock.advance_secs(2 * SLOT_SECS);
        budget.charge(REALM, A, 399);
        assert_eq!(wait_secs(&mut budget, A), 0);
        budget.charge(REALM, A, 900);
        assert_eq!(
            (wait_secs(&mut budget, A), wait_secs(&mut budget, B)),
            (23 * SLOT_SECS + SLOT_SECS / 2, 0)
        );
        // The first hour is gone, but what came after it is still too much.
        clock.advance_secs(22 * SLOT_SECS);
        assert_eq!(wait_secs(&mut budget, A), SLOT_SECS + SLOT_SECS / 2);
        clock.advance_secs(2 * SLOT_SECS);
        assert_eq!(wait_secs(&mut budget, A), 0);
    }

    #[test]
    fn write_budget_frees_bytes_after_a_day() {
        let (mut budget, clock) = budget(1000);
        budget.charge(REALM, A, 600);
        clock.advance_secs(SLOT_SECS);
        budget.charge(REALM, A, 600);
        assert_eq!(wait_secs(&mut budget, A), 23 * SLOT_SECS);
    }

    #[test]
    fn write_budget_of_zero_is_unlimited() {
        let (mut unlimited, _) = budget(0);
        unlimited.charge(REALM, A, u64::MAX);
        assert_eq!((wait_secs(&mut unlimited, A), unlimited.written.len()), (0, 0));
        let (mut limited, clock) = budget(1000);
        limited.charge(REALM, A, 1000);
        clock.shift_wall_secs(90_000);
        assert_eq!(wait_secs(&mut limited, A), 24 * SLOT_SECS);
    }

    #[test]
    fn idle_accounts_are_removed_from_write_budget() {
        let (mut budget, clock) = budget(1000);
        for user in 0..1000 {
            budget.charge(REALM, UserId(user), 1);
        }
        clock.advance_secs(25 * SLOT_SECS);
        (0..CHARGES_PER_SWEEP).for_each(|_| budget.charge(REALM, A, 1));
        assert_eq!(budget.written.len(), 1);
    }
}
