//! E-mails that arrive again: a mail server that missed the reply sends the same one once more.

use crate::rate_limit::MonotonicTime;
use model::{RealmId, UserId};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// E-mails that are remembered.
const MAILS_MAX: usize = 10_000;
/// For how long. Mail servers give up after a few days, but most often try again within minutes.
const WINDOW: Duration = Duration::from_secs(24 * 3600);

/// The e-mails of the last day, by recipient and `Message-ID`. In memory: a restart forgets them.
#[derive(Debug, Default)]
pub struct Duplicates {
    hasher: RandomState,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    states: HashMap<u64, DuplicateState>,
    /// Posted ones, the oldest first.
    posted: VecDeque<(MonotonicTime, u64)>,
}

/// What is known of an e-mail that may be a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateState {
    /// It is new, and the caller posts it; `end` says what became of it. Has its key.
    New(u64),
    /// Another connection is posting it.
    Posting,
    Posted,
}

impl Duplicates {
    /// Takes an e-mail for a recipient.
    pub fn begin(
        &self,
        recipient: (RealmId, UserId, u32, u32),
        message_id: &str,
        now: MonotonicTime,
    ) -> DuplicateState {
        let key = self.hasher.hash_one((recipient, message_id));
        let mut seen = self.seen.lock();
        seen.forget(now);
        match seen.states.get(&key) {
            Some(known) => *known,
            None => {
                seen.states.insert(key, DuplicateState::Posting);
                DuplicateState::New(key)
            }
        }
    }

    /// An e-mail was posted, or was not and may come again.
    pub fn end(&self, key: u64, is_posted: bool, now: MonotonicTime) {
        let mut seen = self.seen.lock();
        if is_posted {
            seen.states.insert(key, DuplicateState::Posted);
            seen.posted.push_back((now, key));
        } else {
            seen.states.remove(&key);
        }
    }
}

impl Seen {
    fn forget(&mut self, now: MonotonicTime) {
        while let Some((posted, key)) = self.posted.front() {
            if self.posted.len() < MAILS_MAX && now.since(*posted) < WINDOW {
                return;
            }
            self.states.remove(key);
            self.posted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::moment as at;

    const RECIPIENT: (RealmId, UserId, u32, u32) = (RealmId(1), UserId(7), 3, 0);

    #[test]
    fn posted_mails_are_known_for_a_day() {
        let known = Duplicates::default();
        let DuplicateState::New(key) = known.begin(RECIPIENT, "a", at(0)) else { panic!("a new e-mail") };
        assert_eq!(known.begin(RECIPIENT, "a", at(1)), DuplicateState::Posting);
        known.end(key, false, at(1));
        let DuplicateState::New(key) = known.begin(RECIPIENT, "a", at(1)) else {
            panic!("it was not posted")
        };
        known.end(key, true, at(2));
        assert_eq!(known.begin(RECIPIENT, "a", at(3)), DuplicateState::Posted);
        assert!(matches!(known.begin((RealmId(1), UserId(7), 4, 0), "a", at(3)), DuplicateState::New(_)));
        assert!(matches!(known.begin(RECIPIENT, "b", at(3)), DuplicateState::New(_)));
        assert!(matches!(known.begin(RECIPIENT, "a", at(24 * 3600 + 2)), DuplicateState::New(_)));
    }

    #[test]
    fn the_number_of_known_mails_is_bounded() {
        let known = Duplicates::default();
        for number in 0..MAILS_MAX + 10 {
            let DuplicateState::New(key) = known.begin(RECIPIENT, &number.to_string(), at(0)) else {
                panic!("{number} is new")
            };
            known.end(key, true, at(0));
        }
        assert_eq!(known.seen.lock().states.len(), MAILS_MAX);
        assert!(matches!(known.begin(RECIPIENT, "0", at(0)), DuplicateState::New(_)));
    }
}
