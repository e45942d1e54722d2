//! The scheduled messages that are currently being sent.

use model::{ScheduledMessageId, UserId};
use parking_lot::Mutex;
use std::collections::HashSet;

/// The maximum number of messages of an organization that are sent at once.
const CLAIMS_MAX: usize = 256;

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The message is claimed now.
    Made,
    /// It is being sent already.
    Taken,
    /// Too many are being sent: no other can be claimed, either.
    NoRoom,
}

/// The scheduled messages of an organization that are being sent. They cannot be changed meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    claimed: Mutex<HashSet<(UserId, ScheduledMessageId)>>,
}

impl Claims {
    /// Claims a message.
    pub fn claim(&self, user: UserId, id: ScheduledMessageId) -> Claim {
        let mut claimed = self.claimed.lock();
        match (claimed.len() < CLAIMS_MAX, claimed.contains(&(user, id))) {
            (false, _) => Claim::NoRoom,
            (true, true) => Claim::Taken,
            (true, false) => {
                claimed.insert((user, id));
                Claim::Made
            }
        }
    }

    /// Whether another message can be claimed.
    pub fn has_room(&self) -> bool {
        self.claimed.lock().len() < CLAIMS_MAX
    }

    /// Claims the first messages among those that are due, at most `max`. None is visited once there is no room.
    pub fn claim_some(
        &self,
        due: impl IntoIterator<Item = (UserId, ScheduledMessageId)>,
        max: usize,
    ) -> Vec<(UserId, ScheduledMessageId)> {
        let mut made = Vec::new();
        for (user, id) in due {
            match self.claim(user, id) {
                Claim::Made => made.push((user, id)),
                Claim::Taken => {}
                Claim::NoRoom => break,
            }
            if made.len() >= max {
                break;
            }
        }
        made
    }

    /// Whether a message is being sent.
    pub fn is_claimed(&self, user: UserId, id: ScheduledMessageId) -> bool {
        self.claimed.lock().contains(&(user, id))
    }

    /// Ends the claim of a message that was sent or refused.
    pub fn release(&self, user: UserId, id: ScheduledMessageId) {
        self.claimed.lock().remove(&(user, id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn claims_are_exclusive_and_bounded() {
        let claims = Claims::default();
        let id = ScheduledMessageId;
        assert_eq!(claims.claim(UserId(1), id(1)), Claim::Made);
        assert_eq!(claims.claim(UserId(1), id(1)), Claim::Taken);
        assert!(claims.is_claimed(UserId(1), id(1)) && !claims.is_claimed(UserId(1), id(2)));
        claims.release(UserId(1), id(1));
        assert_eq!(claims.claim(UserId(1), id(1)), Claim::Made);
        for number in 2..=256 {
            assert!(claims.has_room());
            assert_eq!(claims.claim(UserId(1), id(number)), Claim::Made);
        }
        assert!(!claims.has_room());
        assert_eq!(claims.claim(UserId(2), id(257)), Claim::NoRoom);
    }

    #[test]
    fn without_room_the_other_due_messages_are_not_visited() {
        let claims = Claims::default();
        let visited = Cell::new(0);
        let due = || {
            (1..=1000).map(|id| (UserId(1), ScheduledMessageId(id))).inspect(|_| visited.update(|n| n + 1))
        };
        for (made, visits) in [(100, 100), (100, 200), (56, 257), (0, 1)] {
            visited.set(0);
            assert_eq!(claims.claim_some(due(), 100).len(), made);
            assert_eq!(visited.get(), visits);
        }
        claims.release(UserId(1), ScheduledMessageId(3));
        assert_eq!(claims.claim_some(due(), 100), [(UserId(1), ScheduledMessageId(3))]);
    }
}
