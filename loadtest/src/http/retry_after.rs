//! `Retry-After`: how long a server asks to wait, as seconds or until a time.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Longest time that a server may ask to wait, in seconds: a day. A longer one becomes this.
const SECS_MAX: f64 = 86_400.0;
/// The three forms of a time in HTTP (RFC 9110, 5.6.7), all in UTC; the first is the one that is still written.
const FORMS: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Reads the value of the header. A time is relative to the reply's own `Date`, if it has one: the clocks of two machines differ.
pub fn parse(value: &[u8], date: Option<&[u8]>) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim();
    if let Ok(secs) = text.parse() {
        return of_secs(secs);
    }
    let until = parse_time(text)?;
    let now = date.and_then(|date| parse_time(std::str::from_utf8(date).ok()?.trim()));
    let wait: SignedDuration = until.duration_since(now.unwrap_or_else(Timestamp::now));
    // A time that has passed already is no wait.
    of_secs(wait.as_secs_f64().max(0.0))
}

/// A time to wait in seconds, a day at most; none that is negative.
pub fn of_secs(secs: f64) -> Option<Duration> {
    (secs >= 0.0).then(|| Duration::from_secs_f64(secs.min(SECS_MAX)))
}

fn parse_time(text: &str) -> Option<Timestamp> {
    let time = FORMS.iter().find_map(|form| DateTime::strptime(form, text).ok())?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(parse(b" 5 ", None), Some(Duration::from_secs(5)));
        assert_eq!(parse(b"0.25", None), Some(Duration::from_millis(250)));
        for endless in ["1e9", "99999999999999999999", "inf"] {
            assert_eq!(parse(endless.as_bytes(), None), Some(Duration::from_secs(86_400)), "{endless}");
        }
        for other in ["-1", "NaN", "soon", "", "Wed, 32 Oct 2026 07:28:00 GMT"] {
            assert_eq!(parse(other.as_bytes(), None), None, "{other}");
        }
    }

    #[test]
    fn times_are_relative_to_the_date_of_the_reply() {
        let date = Some(&b"Wed, 21 Oct 2026 07:28:00 GMT"[..]);
        for time in
            ["Wed, 21 Oct 2026 07:28:30 GMT", "Wednesday, 21-Oct-26 07:28:30 GMT", "Wed Oct 21 07:28:30 2026"]
        {
            assert_eq!(parse(time.as_bytes(), date), Some(Duration::from_secs(30)), "{time}");
        }
        assert_eq!(parse(b"Wed, 21 Oct 2026 07:27:00 GMT", date), Some(Duration::ZERO), "it has passed");
        assert_eq!(
            parse(b"Sun Nov  1 07:28:00 2026", date),
            Some(Duration::from_secs(86_400)),
            "a day at most"
        );
    }

    #[test]
    fn times_are_relative_to_now_without_a_date() {
        let later = Timestamp::now() + SignedDuration::from_secs(60);
        let text = later.strftime(FORMS[0]).to_string();
        for date in [None, Some(&b"today"[..])] {
            let wait = parse(text.as_bytes(), date).unwrap();
            assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60), "{wait:?}");
        }
    }
}
