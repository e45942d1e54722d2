//! The scheduled messages that are currently being sent.

use model::{ScheduledMessageId, UserId};
use parking_lot::Mutex;
use std::collections::HashSet;

/// The maximum number of messages of an organization that are sent at once.
const CLAIMS_MAX: usize = 256;

/// The scheduled messages of an organization that are being sent. They cannot be changed meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    claimed: Mutex<HashSet<(UserId, ScheduledMessageId)>>,
}

impl Claims {
    /// Claims a message. False when it is claimed, or when too many are being sent.
    pub fn claim(&self, user: UserId, id: ScheduledMessageId) -> bool {
        let mut claimed = self.claimed.lock();
        claimed.len() < CLAIMS_MAX && claimed.insert((user, id))
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

    #[test]
    fn claims_are_exclusive_and_bounded() {
        let claims = Claims::default();
        let id = ScheduledMessageId;
        assert!(claims.claim(UserId(1), id(1)));
        assert!(!claims.claim(UserId(1), id(1)));
        assert!(claims.is_claimed(UserId(1), id(1)) && !claims.is_claimed(UserId(1), id(2)));
        claims.release(UserId(1), id(1));
        assert!(claims.claim(UserId(1), id(1)));
        for number in 2..=256 {
            assert!(claims.claim(UserId(1), id(number)));
        }
        assert!(!claims.claim(UserId(2), id(257)));
    }
}
