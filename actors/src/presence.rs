//! Who was here when. In memory only: after a restart clients report again within a minute.

use model::{Timestamp, UserId};
use std::collections::BTreeMap;

/// When a user was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Last report of being active.
    pub active: Option<Timestamp>,
    /// Last report of being connected.
    pub idle: Option<Timestamp>,
    /// Number of the change that set this; clients ask for newer ones.
    pub update: u64,
}

/// A report by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The person does something.
    Active,
    /// The client is open.
    Idle,
}

/// Reports within so many seconds of one that says the same are not announced again.
const QUIET_SECS: u64 = 50;

/// Everybody's presence in one organization.
#[derive(Clone, Debug, Default)]
pub struct PresenceTable {
    users: BTreeMap<UserId, Presence>,
    last_update: u64,
}

impl PresenceTable {
    /// Notes a report; true when others should hear of it: someone came, woke up, or was not heard of for long.
    pub fn report(&mut self, user: UserId, report: Report, now: Timestamp) -> bool {
        let before = self.users.get(&user).copied().unwrap_or_default();
        let heard = |at: Option<Timestamp>| at.is_some_and(|at| now.millis_since(at) < QUIET_SECS * 1000);
        let is_quiet = match report {
            Report::Active => heard(before.active),
            Report::Idle => heard(before.idle),
        };
        if is_quiet {
            return false;
        }
        self.last_update += 1;
        let active = if report == Report::Active { Some(now) } else { before.active };
        self.users.insert(user, Presence { active, idle: Some(now), update: self.last_update });
        true
    }

    /// One user's presence.
    pub fn get(&self, user: UserId) -> Option<Presence> {
        self.users.get(&user).copied()
    }

    /// Everybody with a change after number `update`, by user.
    pub fn since(&self, update: Option<u64>) -> impl Iterator<Item = (UserId, Presence)> {
        let after = update.unwrap_or(0);
        self.users.iter().filter(move |(_, p)| p.update > after).map(|(user, p)| (*user, *p))
    }

    /// The number of the newest change, 0 before the first.
    pub fn last_update(&self) -> u64 {
        self.last_update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_announced_and_repetitions_are_not() {
        let mut table = PresenceTable::default();
        let (ada, start) = (UserId(1), Timestamp(1_000_000));
        assert!(table.report(ada, Report::Idle, start));
        assert!(!table.report(ada, Report::Idle, start.plus_secs(10)));
        assert!(table.report(ada, Report::Active, start.plus_secs(10)));
        assert!(!table.report(ada, Report::Active, start.plus_secs(20)));
        assert!(table.report(ada, Report::Active, start.plus_secs(70)));
        assert_eq!(table.last_update(), 3);
        assert_eq!(table.since(Some(2)).count(), 1);
        assert_eq!(table.since(Some(3)).count(), 0);
    }
}
