//! `stream_weekly_traffic` (docs/api/channels.md#weekly-traffic).

use model::Timestamp;

const DAY_SECS: u64 = 24 * 60 * 60;
/// The period in which messages are counted, in days.
pub const TRAFFIC_DAYS: u64 = 28;
/// Channels younger than this many days have no figure yet.
const YOUNG_DAYS: u64 = 7;

/// Messages a week, from the number of messages in the last 28 days, rounded to two significant digits: none for channels
/// younger than a week, at least 1 if there was a message.
pub fn weekly_traffic(messages: u64, created: Timestamp, now: Timestamp) -> Option<u32> {
    let age_days = now.millis_since(created) / 1000 / DAY_SECS;
    if age_days < YOUNG_DAYS {
        return None;
    }
    let average = messages.saturating_mul(7) / age_days.min(TRAFFIC_DAYS);
    let average = if messages > 0 { average.max(1) } else { 0 };
    Some(u32::try_from(two_digits(average)).unwrap_or(u32::MAX))
}

/// Rounds to two significant digits, half to even.
fn two_digits(number: u64) -> u64 {
    let mut unit: u64 = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    let (kept, rest) = (number / unit, number % unit);
    let is_up = rest * 2 > unit || rest * 2 == unit && kept % 2 == 1;
    (kept + u64::from(is_up)) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded() {
        for (number, rounded) in [
            (0, 0),
            (7, 7),
            (99, 99),
            (104, 100),
            (105, 100),
            (115, 120),
            (125, 120),
            (126, 130),
            (995, 1000),
            (12_345, 12_000),
        ] {
            assert_eq!(two_digits(number), rounded, "{number}");
        }
    }

    #[test]
    fn traffic_by_age() {
        let at = |days: u64| Timestamp(days * DAY_SECS * 1000);
        for (messages, days, expected) in [
            (100, 6, None),
            (7, 7, Some(7)),
            (70, 14, Some(35)),
            (400, 28, Some(100)),
            (400, 1000, Some(100)),
            (1, 28, Some(1)),
            (0, 28, Some(0)),
        ] {
            assert_eq!(weekly_traffic(messages, Timestamp(0), at(days)), expected, "{messages} in {days}");
        }
        assert_eq!(weekly_traffic(u64::MAX, Timestamp(0), at(28)), Some(u32::MAX));
    }
}
