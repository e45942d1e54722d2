//! Sizes and times as people read them.

/// A number of bytes, such as `1.5 GiB`.
pub fn size(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => counted(bytes, "byte"),
    }
}

/// A number and a noun, in the plural unless it is one.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A duration in its largest two units, such as `3 days 2 hours`; `secs` is in seconds.
pub fn duration(secs: u64) -> String {
    let (days, hours, minutes) = (secs / 86_400, secs / 3600 % 24, secs / 60 % 60);
    match (days, hours) {
        (0, 0) => counted(minutes, "minute"),
        (0, _) => format!("{} {}", counted(hours, "hour"), counted(minutes, "minute")),
        (_, _) => format!("{} {}", counted(days, "day"), counted(hours, "hour")),
    }
}

/// A time of RFC 3339 as people write it; the text itself if it is none.
pub fn readable_time(text: &str) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_readable() {
        for (bytes, expected) in
            [(0, "0 bytes"), (1, "1 byte"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), (3 << 30, "3.0 GiB")]
        {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!((counted(1, "file"), counted(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
        for (secs, expected) in [
            (59, "0 minutes"),
            (60, "1 minute"),
            (3660, "1 hour 1 minute"),
            (2 * 86_400 + 3600, "2 days 1 hour"),
        ] {
            assert_eq!(duration(secs), expected);
        }
        assert_eq!(readable_time("2027-01-15T08:00:00Z"), "2027-01-15 08:00:00 UTC");
        assert_eq!(readable_time("never"), "never");
    }
}
