//! What an owner sees of the organization at a glance.

use crate::handle::RealmHandle;
use model::{MessageId, Timestamp};

/// Milliseconds of a day.
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// Numbers of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Event queues that are registered.
    pub queues: usize,
    /// Accounts of people that are not deactivated.
    pub people: usize,
    /// For each of the last days (UTC), oldest first: the day since 1970 and the number of messages that were sent.
    pub messages_by_day: Vec<(u64, u64)>,
}

/// Counts the last `days` days, today included. The cost depends on the number of days and users.
pub fn activity(realm: &RealmHandle, days: u64) -> Activity {
    let today = day_of(realm.now());
    realm.read(|view| {
        let messages = &view.messages;
        let before = |day: u64| match messages.days.range(day..).next() {
            Some((_, MessageId(first))) => u64::from(*first),
            None => u64::from(messages.last.0) + 1,
        };
        let range = (today + 1).saturating_sub(days)..=today;
        let people = view.directory.users().filter(|user| user.is_active && !user.is_bot());
        Activity {
            queues: view.queues.len(),
            people: people.count(),
            messages_by_day: range.map(|day| (day, before(day + 1).saturating_sub(before(day)))).collect(),
        }
    })
}

fn day_of(time: Timestamp) -> u64 {
    time.0 / DAY_MILLIS
}
