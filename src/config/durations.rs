//! Spans of time as people write them, for options and flags.

use jiff::{Span, SpanRelativeTo};
use std::time::Duration;

/// A span of time such as `90s`, `1.5h`, `2w` or `30 days`; a day has 24 hours. None for other texts, and for negative spans.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let span: Span = text.trim().parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_read_as_people_write_them() {
        const DAY: u64 = 24 * 3_600;
        for (text, secs) in [
            ("90s", 90),
            ("30m", 1_800),
            ("1.5h", 5_400),
            ("12 hours", 12 * 3_600),
            ("7d", 7 * DAY),
            ("1 day", DAY),
            ("30 days", 30 * DAY),
            ("2w", 14 * DAY),
            ("0s", 0),
            (" 1h ", 3_600),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_secs(secs)), "{text}");
        }
        for text in
            ["", "h", "1", "-1h", "1h ago", "days", "3 months", "99999999999999999999d", "1é", "yesterday"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
