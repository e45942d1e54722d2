//! What each account, with its bots, has added to an organization within a day and what stays there: bytes of the journal, which
//! keeps them for ever or for the days of `journal.keep`, and direct conversations, which stay in memory. So both are limited.
//!
//! They are counted in 24 slots of an hour, in memory: a restart, which no account can cause, resets them.

use crate::clock::Clock;
use crate::error::DomainError;
use model::{RealmId, UserId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The last 24 hours are counted in this many slots.
const SLOTS: usize = 24;
/// Duration of a slot, in seconds.
const SLOT_SECS: u64 = 3600;
/// Number of charges after which accounts that added nothing for a day are removed.
const CHARGES_PER_SWEEP: u32 = 65_536;

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budgeted {
    /// Bytes of committed frames.
    Bytes,
    /// New direct conversations.
    Conversations,
}

impl Budgeted {
    fn refuse(self, wait: Duration) -> DomainError {
        match self {
            Self::Bytes => {
                metrics::counter!("millstream_write_budget_refusals_total").increment(1);
                DomainError::WriteBudgetSpent { wait }
            }
            Self::Conversations => {
                metrics::counter!("millstream_conversation_budget_refusals_total").increment(1);
                DomainError::ConversationBudgetSpent { wait }
            }
        }
    }
}

/// Amounts by account, for the accounts that added something within about a day.
pub struct DailyBudget {
    counted: Budgeted,
    max: u64,
    clock: Arc<dyn Clock>,
    added: HashMap<(RealmId, UserId), Added>,
    charges: u32,
}

#[derive(Clone, Debug, Default)]
struct Added {
    /// The newest counted hour.
    hour: u64,
    /// Amounts by hour, modulo a day.
    slots: [u64; SLOTS],
}

impl Added {
    /// Clears the hours that are a day ago.
    fn pass_to(&mut self, hour: u64) {
        for passed in (self.hour + 1..=hour).take(SLOTS) {
            self.slots[passed as usize % SLOTS] = 0;
        }
        self.hour = self.hour.max(hour);
    }

    fn total(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Hours until the total of a day is below `max`.
    fn hours_to_wait(&self, max: u64) -> u64 {
        let mut left = self.total();
        for hours in 1..=SLOTS as u64 {
            left -= self.slots[(self.hour + hours) as usize % SLOTS];
            if left < max {
                return hours;
            }
        }
        SLOTS as u64
    }
}

impl DailyBudget {
    /// A budget of `max` for each account within a day; 0 for no limit.
    pub fn new(counted: Budgeted, max: u64, clock: Arc<dyn Clock>) -> Self {
        Self { counted, max, clock, added: HashMap::new(), charges: 0 }
    }

    /// Whether an account may add more. Fails with `WriteBudgetSpent` or `ConversationBudgetSpent` and the time to wait.
    pub fn check(&mut self, realm: RealmId, account: UserId) -> Result<(), DomainError> {
        if self.max == 0 {
            return Ok(());
        }
        let now = self.clock.monotonic();
        let Some(added) = self.added.get_mut(&(realm, account)) else { return Ok(()) };
        added.pass_to(hour_of(now));
        if added.total() < self.max {
            return Ok(());
        }
        let free_at = Duration::from_secs((added.hour + added.hours_to_wait(self.max)) * SLOT_SECS);
        Err(self.counted.refuse(free_at.saturating_sub(now)))
    }

    /// Counts what was queued for the journal.
    pub fn charge(&mut self, realm: RealmId, account: UserId, amount: u64) {
        if self.max == 0 {
            return;
        }
        let hour = hour_of(self.clock.monotonic());
        let added = self.added.entry((realm, account)).or_default();
        added.pass_to(hour);
        added.slots[hour as usize % SLOTS] += amount;
        self.charges += 1;
        if self.charges >= CHARGES_PER_SWEEP {
            self.charges = 0;
            self.added.retain(|_, added| {
                added.pass_to(hour);
                added.total() > 0
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

    fn budget(max: u64) -> (DailyBudget, ManualClock) {
        let clock = ManualClock::new(Timestamp(0));
        (DailyBudget::new(Budgeted::Bytes, max, Arc::new(clock.clone())), clock)
    }

    fn wait_secs(budget: &mut DailyBudget, account: UserId) -> u64 {
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
        // The first hour has expired, but the later ones still exceed the budget.
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
        assert_eq!((wait_secs(&mut unlimited, A), unlimited.added.len()), (0, 0));
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
        assert_eq!(budget.added.len(), 1);
    }
}
