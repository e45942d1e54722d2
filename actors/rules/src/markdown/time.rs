//! `<time:…>`: a moment each reader sees in their own time zone.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

use super::html::push_text;
use super::inline::{Inline, Rewrite};

const OPEN: &str = "<time:";

/// Longest text read as a moment, in bytes.
const MOMENT_BYTES_MAX: usize = 100;

/// Date forms beside ISO 8601 and e-mail dates; each may have a time after it.
const DATE_FORMATS: [&str; 8] =
    ["%Y-%m-%d", "%Y/%m/%d", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y"];

const TIME_FORMATS: [&str; 9] = [
    "%H:%M:%S %z",
    "%H:%M:%S%z",
    "%H:%M %z",
    "%H:%M%z",
    "%H:%M:%S",
    "%H:%M",
    "%I:%M:%S %p",
    "%I:%M %p",
    "%I:%M%p",
];

/// Moments; what cannot be read as one is shown as an error.
pub(super) fn times(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find(OPEN) {
        let start = from + offset;
        let body_start = start + OPEN.len();
        let Some(length) = text[body_start..].find('>') else { break };
        from = body_start + length + 1;
        let body = &text[body_start..from - 1];
        rewrite.put(start, from, time_html(inline, body), &mut inline.stash);
    }
    rewrite.finish()
}

fn time_html(inline: &Inline<'_>, body: &str) -> String {
    let Some(moment) = parse_moment(body) else {
        let mut html = String::from(r#"<span class="timestamp-error">Invalid time format: "#);
        html.push_str(&inline.stash.expanded(body));
        html.push_str("</span>");
        return html;
    };
    let mut html = format!(r#"<time datetime="{}">"#, moment.strftime("%Y-%m-%dT%H:%M:%SZ"));
    push_text(&mut html, body);
    html.push_str("</time>");
    html
}

/// Reads a moment. Without a zone it is in UTC; zone names other than UTC are not known.
fn parse_moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > MOMENT_BYTES_MAX || text.contains('[') {
        return None;
    }
    if let Ok(seconds) = text.parse::<f64>() {
        return parse_unix(seconds);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let bare = text.strip_suffix(" UTC").or_else(|| text.strip_suffix(" GMT")).unwrap_or(text);
    if let Ok(local) = bare.parse::<DateTime>() {
        return in_utc(local);
    }
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Some(zoned.timestamp());
    }
    parse_formats(bare)
}

fn parse_unix(seconds: f64) -> Option<Timestamp> {
    // Years beyond 9999 have no agreed form.
    if !seconds.is_finite() || seconds.abs() >= 253_402_300_800.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked; fractions are dropped")]
    Timestamp::from_second(seconds.floor() as i64).ok()
}

fn parse_formats(text: &str) -> Option<Timestamp> {
    // A day's ending, as in "5th", carries nothing.
    let text = without_ordinal(text);
    for format in DATE_FORMATS {
        let Ok((parsed, used)) = BrokenDownTime::parse_prefix(format, &text) else { continue };
        let Ok(day) = parsed.to_date() else { continue };
        let rest = text[used..].trim_start_matches([',', ' ']);
        if rest.is_empty() {
            return in_utc(day.at(0, 0, 0, 0));
        }
        if let Some(moment) = parse_time(day, rest) {
            return Some(moment);
        }
    }
    None
}

fn parse_time(day: Date, text: &str) -> Option<Timestamp> {
    for format in TIME_FORMATS {
        let Ok(parsed) = BrokenDownTime::parse(format, text) else { continue };
        let local = day.to_datetime(parsed.to_time().ok()?);
        return match parsed.offset() {
            Some(offset) => offset.to_timestamp(local).ok(),
            None => in_utc(local),
        };
    }
    None
}

fn in_utc(local: DateTime) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(local).ok()
}

/// The text without `st`, `nd`, `rd` or `th` after a number.
fn without_ordinal(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let (number, comma) = word.strip_suffix(',').map_or((word, ""), |number| (number, ","));
        let stem = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| number.strip_suffix(ending));
        match stem {
            Some(stem) if !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_digit()) => {
                words.push(stem);
                if !comma.is_empty() {
                    words.push(comma);
                }
            }
            _ => words.push(word),
        }
    }
    words.join(" ").replace(" ,", ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_forms_are_read() {
        for text in [
            "2031-05-01T12:00:00+02:00",
            "2031-05-01T10:00:00Z",
            "2031-05-01T10:00",
            "2031-05-01 10:00:00",
            "2031-05-01 10:00 UTC",
            "2031-05-01 12:00:00 +0200",
            "1935396000",
            "1935396000.25",
            "Thu, 1 May 2031 10:00:00 +0000",
            "May 1st 2031, 10:00:00",
            "May 1, 2031 10:00 AM",
            "1 May 2031 10:00",
        ] {
            let moment = parse_moment(text).unwrap_or_else(|| panic!("{text} is not read"));
            assert_eq!(moment.as_second(), 1_935_396_000, "{text}");
        }
        assert_eq!(parse_moment("2031-05-01").map(|moment| moment.as_second()), Some(1_935_360_000));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "foo", "2031-13-01", "inf", "nan", "1e300", "2031-05-01T10:00[Europe/Paris]"] {
            assert_eq!(parse_moment(text), None, "{text}");
        }
    }
}
