//! The section `[journal]`.

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
    let days = text.strip_suffix(" days").or(text.strip_suffix(" day")).and_then(|days| days.parse().ok());
    match days.filter(|days| (1..=DAYS_MAX).contains(days)) {
        Some(days) => Ok(Some(Duration::from_secs(days * DAY_SECS))),
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
        for text in ["", "0 days", "days", "-1 days", "1.5 days", "30", "30d", "99999 days", "All"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
