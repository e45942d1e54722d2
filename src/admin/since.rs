//! A time as the operator writes it: from which a list begins, or whose state is restored. What a server lists, it computes by its own
//! clock.

use crate::config::parse_duration;
use jiff::Timestamp as Time;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Timestamp;
use serde::{Deserialize, Serialize};

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// What is accepted, for the text of an error.
const FORMS: &str = "use a time ago (90s, 1.5h, 30 days, 2w), today, yesterday, a date (2026-11-01), or a date and a time \
                     (2026-11-01T08:30:00Z)";

/// The beginning of a list, or the time of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// This many milliseconds ago.
    Ago(u64),
    /// The beginning of the day (UTC) this many days ago.
    DaysAgo(u64),
    /// A time, in milliseconds since 1970.
    At(u64),
}

impl Since {
    /// Reads what the operator wrote. Dates and times without an offset are UTC, like those in lists.
    ///
    /// # Errors
    /// A sentence that lists the accepted forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let days = [("today", 0), ("yesterday", 1)];
        if let Some((_, ago)) = days.into_iter().find(|(word, _)| text.eq_ignore_ascii_case(word)) {
            return Ok(Self::DaysAgo(ago));
        }
        if let Some(time) = parse_duration(text.strip_suffix(" ago").unwrap_or(text)) {
            return match u64::try_from(time.as_millis()) {
                Ok(0) => Err("nothing can be that new; use for example 1h".to_owned()),
                Ok(millis) => Ok(Self::Ago(millis)),
                Err(_) => Err(FORMS.to_owned()),
            };
        }
        let millis = parse_time(text).ok_or_else(|| FORMS.to_owned())?.as_millisecond();
        u64::try_from(millis).map(Self::At).map_err(|_| "the time must not be before 1970".to_owned())
    }

    /// The time that it means.
    pub fn at(self, now: Timestamp) -> Timestamp {
        Timestamp(match self {
            Self::Ago(millis) => now.0.saturating_sub(millis),
            Self::DaysAgo(days) => (now.0 / DAY_MILLIS).saturating_sub(days) * DAY_MILLIS,
            Self::At(millis) => millis,
        })
    }
}

fn parse_time(text: &str) -> Option<Time> {
    if let Ok(time) = text.parse::<Time>() {
        return Some(time);
    }
    // The form of the lists.
    let text = text.strip_suffix("UTC").map_or(text, str::trim_end);
    let local = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from)).ok()?;
    local.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Result<String, String> {
        // 2026-11-26 20:00:00 UTC.
        let now = Timestamp(1_795_723_200_000);
        let at = Since::parse(text)?.at(now);
        Ok(Time::from_millisecond(at.0 as i64).unwrap().to_string())
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expected) in [
            ("90s", "2026-11-26T19:58:30Z"),
            ("1.5h", "2026-11-26T18:30:00Z"),
            ("12 hours ago", "2026-11-26T08:00:00Z"),
            ("30 days", "2026-10-27T20:00:00Z"),
            ("2w", "2026-11-12T20:00:00Z"),
            ("today", "2026-11-26T00:00:00Z"),
            ("Yesterday", "2026-11-25T00:00:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01 08:30", "2026-11-01T08:30:00Z"),
            ("2026-11-01 08:30:00 UTC", "2026-11-01T08:30:00Z"),
            ("2026-11-01T08:30:00Z", "2026-11-01T08:30:00Z"),
            ("2026-11-01T08:30:00+02:00", "2026-11-01T06:30:00Z"),
        ] {
            assert_eq!(at(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_get_the_accepted_forms() {
        for text in ["", "soon", "7", "-1h", "2026-13-01", "3 months"] {
            assert_eq!(at(text), Err(FORMS.to_owned()), "{text}");
        }
        assert_eq!(at("0s"), Err("nothing can be that new; use for example 1h".to_owned()));
        assert_eq!(at("1969-12-31"), Err("the time must not be before 1970".to_owned()));
    }
}
