//! Bursts of small requests on the connections of one thread.
//!
//! Writing an answer wakes its client, if that waits for nothing else, and the wake-up costs the server a sixth of a small request. When
//! many connections have a request at once, all are decided before their answers are written, one after the other: the first
//! of them wakes the client, and the others find it awake.

use actix_http::body::BodySize;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Answers that follow each other faster are a burst. More than a small request takes, and less than a client notices.
const GAP_MAX: Duration = Duration::from_micros(50);
/// Larger answers take longer to write than a wake-up.
const SMALL_BYTES_MAX: u64 = 4 << 10;

/// Finds the bursts of a thread.
#[derive(Clone)]
pub struct Bursts {
    gap_max: Duration,
    /// When the last small answer was decided.
    last: Rc<Cell<Option<Instant>>>,
}

/// When the last small answer of a connection was decided.
#[derive(Default)]
pub struct LastAnswer(Option<Instant>);

impl Default for Bursts {
    fn default() -> Self {
        Self::within(GAP_MAX)
    }
}

impl Bursts {
    /// Answers are a burst that follow each other within this time.
    pub fn within(gap_max: Duration) -> Self {
        Self { gap_max, last: Rc::default() }
    }

    /// Records an answer that was decided without waiting, and says whether it shall wait for those of other connections.
    pub fn defers(&self, size: BodySize, own: &mut LastAnswer, now: Instant) -> bool {
        let is_small = match size {
            BodySize::None => true,
            BodySize::Sized(bytes) => bytes <= SMALL_BYTES_MAX,
            BodySize::Stream => false,
        };
        if !is_small {
            return false;
        }
        let last = self.last.replace(Some(now));
        // A single connection has nothing to wait for, however fast its requests follow each other.
        let is_of_others = last != own.0;
        own.0 = Some(now);
        is_of_others && last.is_some_and(|last| now.duration_since(last) < self.gap_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: BodySize = BodySize::Sized(400);

    #[test]
    fn small_answers_of_several_connections_are_a_burst() {
        let (bursts, mut one, mut two) = (Bursts::default(), LastAnswer::default(), LastAnswer::default());
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        assert!(!bursts.defers(SMALL, &mut one, at(0)));
        assert!(bursts.defers(SMALL, &mut two, at(20)));
        assert!(bursts.defers(SMALL, &mut one, at(40)));
        assert!(!bursts.defers(SMALL, &mut one, at(45)), "nothing of others came between");
        assert!(!bursts.defers(SMALL, &mut two, at(95)), "too late");
    }

    #[test]
    fn large_answers_are_none() {
        let (bursts, mut one, mut two) = (Bursts::default(), LastAnswer::default(), LastAnswer::default());
        let now = Instant::now();
        assert!(!bursts.defers(SMALL, &mut one, now));
        for size in [BodySize::Sized(SMALL_BYTES_MAX + 1), BodySize::Stream] {
            assert!(!bursts.defers(size, &mut two, now));
        }
        assert!(bursts.defers(BodySize::None, &mut two, now));
    }
}
