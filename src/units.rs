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
        assert_eq!(readable_time("2027-01-15T08:00:00Z"), "2027-01-15 08:00:00 UTC");
        assert_eq!(readable_time("never"), "never");
    }
}
