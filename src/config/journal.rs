//! The section `[journal]`.

use super::durations::parse_duration;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

const DAY_SECS: u64 = 24 * 60 * 60;

/// At most this many days can be said.
const DAYS_MAX: u64 = 36_600;

/// The section `[journal]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalSettings {
    /// How long changes are kept; none: always.
    #[serde(deserialize_with = "time")]
    pub keep: Option<Duration>,
}

/// Reads a time; none for `all`.
pub fn time<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    parse(&String::deserialize(input)?).map_err(serde::de::Error::custom)
}

fn parse(text: &str) -> Result<Option<Duration>, String> {
    if text == "all" {
        return Ok(None);
    }
    let is_days = |time: &Duration| {
        time.as_secs().is_multiple_of(DAY_SECS)
            && time.subsec_nanos() == 0
            && (1..=DAYS_MAX).contains(&(time.as_secs() / DAY_SECS))
    };
    match parse_duration(text).filter(is_days) {
        Some(time) => Ok(Some(time)),
        None => Err(format!("must be \"all\" or 1 to {DAYS_MAX} days, such as \"30 days\"")),
    }
}

/// Refuses what is neither `all` nor a number of days.
pub fn check_keep(text: &str) -> Result<(), String> {
    parse(text).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_is_all_or_days() {
        assert_eq!(parse("all"), Ok(None));
        assert_eq!(parse("30 days"), Ok(Some(Duration::from_secs(30 * DAY_SECS))));
        assert_eq!(parse("1 day"), Ok(Some(Duration::from_secs(DAY_SECS))));
        assert_eq!(parse("30d"), parse("30 days"));
        for text in ["", "0 days", "days", "-1 days", "1.5 days", "30", "30h", "99999 days", "All"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
