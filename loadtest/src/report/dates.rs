//! Dates as text.

/// A UNIX time as people write it: `23 November 2026, 08:10 UTC`.
pub fn written(unix_secs: u64) -> String {
    format(unix_secs, "%-d %B %Y, %H:%M UTC")
}

/// A UNIX time in ISO 8601.
pub fn iso(unix_secs: u64) -> String {
    format(unix_secs, "%Y-%m-%dT%H:%M:%SZ")
}

/// Only the day, in ISO 8601.
pub fn day(unix_secs: u64) -> String {
    format(unix_secs, "%Y-%m-%d")
}

fn format(unix_secs: u64, form: &str) -> String {
    let secs = i64::try_from(unix_secs).unwrap_or_default();
    jiff::Timestamp::from_second(secs).unwrap_or_default().strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_in_words_and_in_iso() {
        assert_eq!(written(1_790_000_000), "21 September 2026, 14:13 UTC");
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(day(1_790_000_000), "2026-09-21");
    }
}
