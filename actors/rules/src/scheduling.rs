//! When and what may be scheduled (docs/api/scheduled-messages.md).

use crate::error::{RuleError, TextError};
use crate::text::strip;
use model::Timestamp;
use std::time::Duration;

/// So many scheduled messages and reminders one account may have.
pub const SCHEDULED_MAX: usize = 1000;
/// Longest note of a reminder, in code points.
pub const NOTE_LENGTH_MAX: usize = 1000;

/// A message that could not be sent for so long after its time is not sent any more.
const LATE_MAX: Duration = Duration::from_secs(10 * 60);

/// The last second of the year 9999.
const SECS_MAX: i64 = 253_402_300_799;

/// The time of a delivery in seconds, as a client sends it.
///
/// # Errors
/// `NotInFuture`, `TooLarge`.
pub fn parse_due(secs: i64, now: Timestamp) -> Result<Timestamp, RuleError> {
    if secs > SECS_MAX {
        return Err(RuleError::TooLarge { field: "scheduled_delivery_timestamp" });
    }
    let due = Timestamp(u64::try_from(secs).unwrap_or(0).saturating_mul(1000));
    check_due(due, now).map(|()| due)
}

/// Refuses a time that is not in the future.
///
/// # Errors
/// `NotInFuture`.
pub fn check_due(due: Timestamp, now: Timestamp) -> Result<(), RuleError> {
    if due <= now { Err(TextError::NotInFuture.into()) } else { Ok(()) }
}

/// Refuses to send a message long after its time, when its content may be outdated. A clock that developers have moved
/// forward makes no message late: it could not be sent earlier.
///
/// # Errors
/// `TooLate`.
pub fn check_not_late(due: Timestamp, now: Timestamp, moved_forward: Duration) -> Result<(), RuleError> {
    let late = Duration::from_millis(now.millis_since(due)).saturating_sub(moved_forward);
    if late > LATE_MAX { Err(TextError::TooLate.into()) } else { Ok(()) }
}

/// The note of a reminder as sent → the note to store.
///
/// # Errors
/// `NoteTooLong`.
pub fn parse_note(raw: &str) -> Result<&str, RuleError> {
    let note = strip(raw);
    match note.chars().count() > NOTE_LENGTH_MAX {
        true => Err(TextError::NoteTooLong { limit: NOTE_LENGTH_MAX }.into()),
        false => Ok(note),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_scheduled_for_the_future() {
        let now = Timestamp(5_500);
        assert_eq!(parse_due(6, now), Ok(Timestamp(6_000)));
        for secs in [5, 0, -1, i64::MIN] {
            assert_eq!(parse_due(secs, now), Err(TextError::NotInFuture.into()), "{secs}");
        }
        let field = "scheduled_delivery_timestamp";
        assert_eq!(parse_due(i64::MAX, now), Err(RuleError::TooLarge { field }));
    }

    #[test]
    fn messages_are_not_sent_long_after_their_time() {
        let due = Timestamp(1_000);
        let check =
            |now, moved_forward| check_not_late(due, Timestamp(now), Duration::from_secs(moved_forward));
        assert!(check(0, 0).is_ok());
        assert!(check(601_000, 0).is_ok());
        assert_eq!(check(601_001, 0), Err(TextError::TooLate.into()));
        assert!(check(3_601_000, 3_600).is_ok());
        assert!(check(601_001, 3_600).is_ok());
        assert_eq!(check(4_201_001, 3_600), Err(TextError::TooLate.into()));
    }

    #[test]
    fn notes_are_stripped_and_bounded() {
        assert_eq!(parse_note(" call \n"), Ok("call"));
        assert!(parse_note(&"é".repeat(1_000)).is_ok());
        assert_eq!(parse_note(&"é".repeat(1_001)), Err(TextError::NoteTooLong { limit: 1_000 }.into()));
    }
}
