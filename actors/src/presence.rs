//! The presence of users. In memory only: after a restart clients report again within a minute.

use model::{Timestamp, UserId};
use std::collections::BTreeMap;
use std::ops::Bound;

/// When a user was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    pub active: Option<Timestamp>,
    pub idle: Option<Timestamp>,
    /// Number of the last change; clients ask for newer ones.
    pub update: u64,
}

/// A report by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The person does something.
    Active,
    /// The client is open.
    Idle,
    /// The user no longer shares presence: others see them as offline.
    Hidden,
}

/// Seconds within which the same report is not announced again.
const QUIET_SECS: u64 = 50;

/// A user who hides their presence was last seen this many seconds ago: longer than clients show users as present.
const HIDDEN_SECS: u64 = 320;

/// The presence of all users of one organization.
///
/// Changes are numbered by the milliseconds at which they happened, so that a number from before a restart is smaller
/// than every later one: a client that asks for newer changes misses nothing.
#[derive(Clone, Debug)]
pub struct PresenceTable {
    users: BTreeMap<UserId, Presence>,
    /// The number of each user's last change → the user.
    updates: BTreeMap<u64, UserId>,
    last_update: u64,
}

impl PresenceTable {
    /// An empty table, as of now.
    pub fn starting(now: Timestamp) -> Self {
        Self { users: BTreeMap::new(), updates: BTreeMap::new(), last_update: now.0 }
    }

    /// Records a report; true if it should be broadcast: the user came online, became active, or was not reported for long.
    pub fn report(&mut self, user: UserId, report: Report, now: Timestamp) -> bool {
        let before = self.users.get(&user).copied().unwrap_or_default();
        // What was heard long after now was heard before the clock was set back.
        let heard = |at: Option<Timestamp>| at.is_some_and(|at| now.0.abs_diff(at.0) < QUIET_SECS * 1000);
        let is_quiet = match report {
            Report::Active => heard(before.active),
            Report::Idle => heard(before.idle),
            // They were never reported.
            Report::Hidden => before == Presence::default(),
        };
        if is_quiet {
            return false;
        }
        self.last_update = now.0.max(self.last_update + 1);
        let long_ago = Timestamp(now.0.saturating_sub(HIDDEN_SECS * 1000));
        let (active, idle) = match report {
            Report::Active => (Some(now), now),
            Report::Idle => (before.active.filter(|at| *at <= now.plus_secs(QUIET_SECS)), now),
            Report::Hidden => (before.active.map(|at| at.min(long_ago)), long_ago),
        };
        self.updates.remove(&before.update);
        self.updates.insert(self.last_update, user);
        self.users.insert(user, Presence { active, idle: Some(idle), update: self.last_update });
        true
    }

    /// One user's presence.
    pub fn get(&self, user: UserId) -> Option<Presence> {
        self.users.get(&user).copied()
    }

    /// The users with a change after number `update`, by id, in proportion to their number. All users without a number, and
    /// with one that was never issued.
    pub fn since(&self, update: Option<u64>) -> Vec<(UserId, Presence)> {
        let Some(update) = update.filter(|update| *update <= self.last_update) else {
            return self.users.iter().map(|(user, presence)| (*user, *presence)).collect();
        };
        let changed = self.updates.range((Bound::Excluded(update), Bound::Unbounded));
        let mut found: Vec<_> = changed.filter_map(|(_, user)| Some((*user, self.get(*user)?))).collect();
        found.sort_unstable_by_key(|(user, _)| *user);
        found
    }

    /// The number of the newest change; before the first, that of the start.
    pub fn last_update(&self) -> u64 {
        self.last_update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_presence_is_broadcast() {
        let (ada, start) = (UserId(1), Timestamp(1_000_000));
        let mut table = PresenceTable::starting(start);
        assert!(table.report(ada, Report::Idle, start));
        assert!(!table.report(ada, Report::Idle, start.plus_secs(10)));
        assert!(table.report(ada, Report::Active, start.plus_secs(10)));
        assert!(!table.report(ada, Report::Active, start.plus_secs(20)));
        assert!(table.report(ada, Report::Active, start.plus_secs(70)));
        assert_eq!(table.last_update(), 1_070_000);
        assert_eq!(table.since(Some(1_010_000)).len(), 1);
        assert_eq!(table.since(Some(1_070_000)).len(), 0);
    }

    #[test]
    fn changes_since_a_number_are_those_of_each_user_once_by_id() {
        let start = Timestamp(1_000_000);
        let mut table = PresenceTable::starting(start);
        for (user, secs) in [(3, 0), (1, 1), (2, 2), (3, 100), (1, 101)] {
            assert!(table.report(UserId(user), Report::Idle, start.plus_secs(secs)));
        }
        let users = |update| table.since(update).into_iter().map(|(user, _)| user.0).collect::<Vec<_>>();
        assert_eq!(users(None), [1, 2, 3]);
        assert_eq!(users(Some(1_002_000)), [1, 3]);
        assert_eq!(users(Some(1_100_000)), [1]);
        assert_eq!(users(Some(u64::MAX)), [1, 2, 3], "it was never issued");
        assert_eq!(table.updates.len(), 3, "one number for each user");
    }

    #[test]
    fn presence_update_ids_increase_within_millisecond_and_across_restart() {
        let start = Timestamp(1_000_000);
        let mut table = PresenceTable::starting(start);
        for user in 1..=3 {
            assert!(table.report(UserId(user), Report::Idle, start));
        }
        assert_eq!(table.last_update(), 1_000_003);
        let restarted = PresenceTable::starting(start.plus_secs(1));
        assert!(restarted.last_update() > table.last_update());
    }

    #[test]
    fn reports_count_after_the_clock_was_set_back() {
        let (ada, start) = (UserId(1), Timestamp(1_000_000));
        let mut table = PresenceTable::starting(start);
        assert!(table.report(ada, Report::Active, start.plus_secs(3600)));
        assert!(table.report(ada, Report::Idle, start));
        let seen = table.get(ada).unwrap();
        assert_eq!((seen.active, seen.idle), (None, Some(start)), "she is not active in the future");
        assert!(table.report(ada, Report::Active, start.plus_secs(1)));
        assert_eq!(table.get(ada).unwrap().active, Some(start.plus_secs(1)));
        assert!(table.last_update() > 4_600_000, "numbers only grow");
    }

    #[test]
    fn hidden_user_is_offline() {
        let (ada, start) = (UserId(1), Timestamp(1_000_000));
        let mut table = PresenceTable::starting(start);
        assert!(!table.report(ada, Report::Hidden, start), "she was never reported");
        table.report(ada, Report::Active, start);
        assert!(table.report(ada, Report::Hidden, start.plus_secs(1)));
        let hidden = Some(Timestamp(681_000));
        let seen = table.get(ada).unwrap();
        assert_eq!((seen.active, seen.idle), (hidden, hidden));
        assert!(table.report(ada, Report::Active, start.plus_secs(2)));
    }
}
