//! Parses times in informal formats: `2031-05-01 5:30 pm EST`, `May 3rd, 2031 at 5pm`, `1/5/31`.
//!
//! The text is split into numbers, words and signs, whose meaning follows from their form and their neighbors; a token
//! that is part of neither a date nor a time makes the text invalid. A numeric month comes before the day unless it cannot
//! be a month. Missing parts are those of today.

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::Offset;

use super::zones::offset_of;

/// Longest text that is parsed, in bytes.
const TIME_BYTES_MAX: usize = 100;

/// Two-digit years from this one on belong to the twentieth century.
const CENTURY_PIVOT: i16 = 70;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Words that the parser skips.
const FILLERS: [&str; 8] = ["at", "on", "of", "and", "st", "nd", "rd", "th"];

/// Parses a time. `today` completes partial dates; without it they are invalid.
pub(super) fn parse_moment(text: &str, today: Option<Date>) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > TIME_BYTES_MAX {
        return None;
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    read(text).and_then(|parts| parts.moment(today)).or_else(|| parse_unix(text))
}

/// Seconds since 1970.
fn parse_unix(text: &str) -> Option<Timestamp> {
    let seconds: f64 = text.parse().ok()?;
    // Years beyond 9999 have no agreed form.
    if !seconds.is_finite() || seconds.abs() >= 253_402_300_800.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    Timestamp::from_microsecond((seconds * 1e6).round() as i64).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Number(&'t str),
    Word(&'t str),
    /// Any other character except white space.
    Sign(char),
}

fn tokens_of(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_alike = |point: &char| match first {
            '0'..='9' => point.is_ascii_digit(),
            _ => first.is_alphabetic() && point.is_alphabetic(),
        };
        let width: usize = rest.chars().take_while(is_alike).map(char::len_utf8).sum();
        let (token, after) = rest.split_at(width.max(first.len_utf8()));
        tokens.push(match first {
            '0'..='9' => Token::Number(token),
            _ if first.is_alphabetic() => Token::Word(token),
            _ => Token::Sign(first),
        });
        rest = after.trim_start();
    }
    tokens
}

/// The parsed parts of a time.
#[derive(Debug, Default)]
struct Parts {
    month: Option<i8>,
    /// Other numbers of the date, in order, with their number of digits.
    numbers: Vec<(i16, usize)>,
    weekday: Option<Weekday>,
    time: Option<Time>,
    is_afternoon: Option<bool>,
    offset: Option<Offset>,
}

fn read(text: &str) -> Option<Parts> {
    let tokens = tokens_of(text);
    let mut parts = Parts::default();
    let mut rest = &tokens[..];
    while let [first, after @ ..] = rest {
        rest = match first {
            Token::Number(digits) => parts.read_number(digits, after)?,
            Token::Word(word) => parts.read_word(word, after)?,
            Token::Sign('+' | '-') if parts.time.is_some() => parts.read_offset(*first, after)?,
            Token::Sign(',' | '.' | '-' | '/' | ';' | '\'') => after,
            Token::Sign(_) => return None,
        };
    }
    Some(parts)
}

/// Reads `am` or `pm`, with or without dots: whether it is the afternoon, and the remaining tokens.
fn read_half<'l, 't>(tokens: &'l [Token<'t>]) -> Option<(bool, &'l [Token<'t>])> {
    let is_afternoon = |word: &str| match word.to_ascii_lowercase().as_str() {
        "am" | "a" => Some(false),
        "pm" | "p" => Some(true),
        _ => None,
    };
    match tokens {
        [Token::Word(half), Token::Sign('.'), Token::Word(m), rest @ ..] if m.eq_ignore_ascii_case("m") => {
            Some((is_afternoon(half)?, rest))
        }
        [Token::Word(half), rest @ ..] => Some((is_afternoon(half)?, rest)),
        _ => None,
    }
}

impl Parts {
    /// A number: the hour if a colon, `am` or `pm` follows, a whole date or time if it is long enough, otherwise a part of
    /// the date.
    fn read_number<'l, 't>(&mut self, digits: &str, after: &'l [Token<'t>]) -> Option<&'l [Token<'t>]> {
        if let [Token::Sign(':'), Token::Number(minutes), rest @ ..] = after {
            return self.read_clock(digits, minutes, rest);
        }
        if let Some((is_afternoon, rest)) = read_half(after)
            && self.time.is_none()
        {
            self.time = Some(Time::new(digits.parse().ok()?, 0, 0, 0).ok()?);
            self.is_afternoon = Some(is_afternoon);
            return Some(rest);
        }
        match digits.len() {
            8 | 12 | 14 if self.numbers.is_empty() => {
                self.numbers = vec![(digits[..4].parse().ok()?, 4)];
                self.month = digits[4..6].parse().ok();
                self.numbers.push((digits[6..8].parse().ok()?, 2));
                if digits.len() > 8 {
                    self.time = Some(packed_time(&digits[8..])?);
                }
            }
            4 | 6 if self.numbers.len() + usize::from(self.month.is_some()) == 3 && self.time.is_none() => {
                self.time = Some(packed_time(digits)?);
            }
            1..=4 => self.numbers.push((digits.parse().ok()?, digits.len())),
            _ => return None,
        }
        (self.numbers.len() + usize::from(self.month.is_some()) <= 3).then_some(after)
    }

    /// `17:30`, `17:30:15` or `17:30:15.25`, each with or without `am` or `pm`.
    fn read_clock<'l, 't>(
        &mut self,
        hour: &str,
        minute: &str,
        after: &'l [Token<'t>],
    ) -> Option<&'l [Token<'t>]> {
        let is_first = self.time.is_none();
        let (second, nanosecond, rest) = match after {
            [
                Token::Sign(':'),
                Token::Number(second),
                Token::Sign('.'),
                Token::Number(fraction),
                rest @ ..,
            ] => (second.parse().ok()?, nanoseconds(fraction)?, rest),
            [Token::Sign(':'), Token::Number(second), rest @ ..] => (second.parse().ok()?, 0, rest),
            _ => (0, 0, after),
        };
        self.time = Some(Time::new(hour.parse().ok()?, minute.parse().ok()?, second, nanosecond).ok()?);
        let half = read_half(rest);
        self.is_afternoon = half.map(|(is_afternoon, _)| is_afternoon);
        is_first.then_some(half.map_or(rest, |(_, rest)| rest))
    }

    /// A month, a weekday, a zone, or an ignored word.
    fn read_word<'l, 't>(&mut self, word: &str, after: &'l [Token<'t>]) -> Option<&'l [Token<'t>]> {
        let word = word.to_lowercase();
        if FILLERS.contains(&word.as_str()) || word == "t" && !self.numbers.is_empty() {
            return Some(after);
        }
        if let Some(at) = MONTHS.iter().position(|name| is_name(&word, name)) {
            let is_first = self.month.is_none();
            self.month = i8::try_from(at + 1).ok();
            return is_first.then_some(after);
        }
        if let Some((_, weekday)) = WEEKDAYS.iter().find(|(name, _)| is_name(&word, name)) {
            let is_first = self.weekday.is_none();
            self.weekday = Some(*weekday);
            return is_first.then_some(after);
        }
        self.time?;
        let offset = Offset::from_seconds(offset_of(&word)?).ok()?;
        let is_first = self.offset.is_none();
        self.offset = Some(offset);
        match after {
            // `UTC+2` is ahead of UTC, unlike in POSIX.
            [sign @ Token::Sign('+' | '-'), rest @ ..] if offset == Offset::UTC && is_first => {
                self.offset = None;
                self.read_offset(*sign, rest)
            }
            _ => is_first.then_some(after),
        }
    }

    /// `+02`, `+0200`, `+02:00`.
    fn read_offset<'l, 't>(&mut self, sign: Token<'t>, after: &'l [Token<'t>]) -> Option<&'l [Token<'t>]> {
        let (hours, minutes, rest) = match after {
            [Token::Number(hours), Token::Sign(':'), Token::Number(minutes), rest @ ..] => {
                (*hours, *minutes, rest)
            }
            [Token::Number(digits), rest @ ..] if digits.len() == 4 => (&digits[..2], &digits[2..], rest),
            [Token::Number(hours), rest @ ..] => (*hours, "0", rest),
            _ => return None,
        };
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        if hours > 24 || minutes > 59 {
            return None;
        }
        let seconds = (hours * 60 + minutes) * 60;
        let offset = Offset::from_seconds(if sign == Token::Sign('-') { -seconds } else { seconds }).ok()?;
        let is_first = self.offset.is_none();
        self.offset = Some(offset);
        // The name of the zone may follow its offset.
        let rest = match rest {
            [Token::Sign('('), Token::Word(_), Token::Sign(')'), rest @ ..] => rest,
            _ => rest,
        };
        is_first.then_some(rest)
    }

    fn moment(&self, today: Option<Date>) -> Option<Timestamp> {
        let is_said = self.month.is_some() || !self.numbers.is_empty() || self.weekday.is_some();
        if !is_said && self.time.is_none() {
            return None;
        }
        let time = self.time.unwrap_or_default();
        let hour = match (self.is_afternoon, time.hour()) {
            (Some(false), 12) => 0,
            (Some(true), hour @ 0..12) => hour + 12,
            (_, hour) => hour,
        };
        let time = time.with().hour(hour).build().ok()?;
        let offset = self.offset.unwrap_or(Offset::UTC);
        offset.to_timestamp(self.date(today)?.to_datetime(time)).ok()
    }

    fn date(&self, today: Option<Date>) -> Option<Date> {
        let (year, month, day) = self.year_month_day()?;
        if let (Some(year), Some(month), Some(day)) = (year, month, day) {
            return Date::new(year, month, day).ok();
        }
        let today = today?;
        let first = Date::new(year.unwrap_or(today.year()), month.unwrap_or(today.month()), 1).ok()?;
        let day = day.unwrap_or(today.day().min(first.days_in_month()));
        let date = first.with().day(day).build().ok()?;
        match self.weekday {
            Some(weekday) if date.weekday() != weekday && self.numbers.is_empty() => {
                date.nth_weekday(1, weekday).ok()
            }
            _ => Some(date),
        }
    }

    /// Year, month and day from the numbers; the outer `None` if they are not a date.
    fn year_month_day(&self) -> Option<(Option<i16>, Option<i8>, Option<i8>)> {
        let small = |(number, _): (i16, usize)| i8::try_from(number).ok();
        let year = |(number, digits): (i16, usize)| match digits {
            ..=2 if number < CENTURY_PIVOT => number + 2000,
            ..=2 => number + 1900,
            _ => number,
        };
        let is_year = |(number, digits): (i16, usize)| number > 31 || digits > 2;
        Some(match (self.month, self.numbers[..].as_ref()) {
            (month, []) => (None, month, None),
            (month, [one]) if is_year(*one) => (Some(year(*one)), month, None),
            (month, [one]) => (None, month, Some(small(*one)?)),
            (Some(month), [one, two]) if is_year(*one) => (Some(year(*one)), Some(month), Some(small(*two)?)),
            (Some(month), [one, two]) => (Some(year(*two)), Some(month), Some(small(*one)?)),
            (None, [one, two]) if is_year(*one) => (Some(year(*one)), Some(small(*two)?), None),
            (None, [one, two]) if is_year(*two) => (Some(year(*two)), Some(small(*one)?), None),
            (None, [one, two]) if one.0 > 12 => (None, Some(small(*two)?), Some(small(*one)?)),
            (None, [one, two]) => (None, Some(small(*one)?), Some(small(*two)?)),
            (None, [one, two, three]) if is_year(*one) => {
                (Some(year(*one)), Some(small(*two)?), Some(small(*three)?))
            }
            (None, [one, two, three]) => {
                let (month, day) = if one.0 > 12 { (two, one) } else { (one, two) };
                (Some(year(*three)), Some(small(*month)?), Some(small(*day)?))
            }
            (_, [_, _, _, ..]) => return None,
        })
    }
}

/// Whether a word is the name of a month or weekday, or its abbreviation.
fn is_name(word: &str, name: &str) -> bool {
    word.len() >= 3 && name.starts_with(word) && (word.len() <= 4 || word == name)
}

/// `hhmm` or `hhmmss`.
fn packed_time(digits: &str) -> Option<Time> {
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |part| part.parse().ok());
    Time::new(part(0)?, part(2)?, part(4)?, 0).ok()
}

/// The digits after a decimal point; only nine are used.
fn nanoseconds(fraction: &str) -> Option<i32> {
    format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_on(text: &str, today: Option<Date>) -> Option<String> {
        parse_moment(text, today).map(|moment| moment.to_string())
    }

    /// A Sunday.
    fn today() -> Option<Date> {
        Some(jiff::civil::date(2026, 11, 22))
    }

    #[test]
    fn complete_times_do_not_depend_on_today() {
        for text in [
            "2031-05-01T12:00:00+02:00",
            "2031-05-01T10:00:00Z",
            "2031-05-01T10:00",
            "20310501T1000",
            "20310501100000",
            "2031-05-01 10:00:00",
            "2031-05-01 10:00 UTC",
            "2031-05-01 12:00:00 +0200",
            "2031-05-01 12:00 UTC+2",
            "1935396000",
            "Thu, 1 May 2031 10:00:00 +0000",
            "Thu May 1 10:00:00 2031",
            "May 1st 2031, 10:00:00",
            "May 1, 2031 10:00 AM",
            "May 1st, 2031 at 10 a.m.",
            "10am May 1 2031",
            "1 May 2031 10:00",
            "1 May 31 10:00",
            "5/1/2031 10:00",
            "2031/5/1 10 am",
            "2031 may 1 6:00 EDT",
            "2031-05-01 12:00 CEST",
            "2031-05-01T03:00:00-07:00 (PDT)",
        ] {
            assert_eq!(read_on(text, None).as_deref(), Some("2031-05-01T10:00:00Z"), "{text}");
        }
    }

    #[test]
    fn forms_of_dates_and_times() {
        for (text, expected) in [
            ("May 3 2020 5pm", "2020-05-03T17:00:00Z"),
            ("2020-05-03 5:30 PM EST", "2020-05-03T22:30:00Z"),
            ("12am May 3 2020", "2020-05-03T00:00:00Z"),
            ("12pm May 3 2020", "2020-05-03T12:00:00Z"),
            ("13/05/2020", "2020-05-13T00:00:00Z"),
            ("3.5.2020", "2020-03-05T00:00:00Z"),
            ("May 3 2020 17:00:30.5", "2020-05-03T17:00:30.5Z"),
            ("1935396000.25", "2031-05-01T10:00:00.25Z"),
            ("Sept 5 2021", "2021-09-05T00:00:00Z"),
            ("May 3 '20", "2020-05-03T00:00:00Z"),
            ("99999", "1970-01-02T03:46:39Z"),
            ("0.5", "1970-01-01T00:00:00.5Z"),
        ] {
            assert_eq!(read_on(text, None).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn missing_parts_are_those_of_today() {
        for (text, expected) in [
            ("5pm", "2026-11-22T17:00:00Z"),
            ("17:00", "2026-11-22T17:00:00Z"),
            ("May 3 5pm", "2026-05-03T17:00:00Z"),
            ("5/3", "2026-05-03T00:00:00Z"),
            ("May 2020", "2020-05-22T00:00:00Z"),
            ("Feb 2021", "2021-02-22T00:00:00Z"),
            ("Friday 5pm", "2026-11-27T17:00:00Z"),
            ("Sunday", "2026-11-22T00:00:00Z"),
        ] {
            assert_eq!(read_on(text, today()).as_deref(), Some(expected), "{text}");
            assert_eq!(read_on(text, None), None, "{text}");
        }
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in [
            "",
            "foo",
            "2031-13-01",
            "2020-02-30",
            "2020-05-03 24:00",
            "inf",
            "nan",
            "1e300",
            "2031-05-01T10:00[Europe/Paris]",
            "2020-05-03 17:00 Nowhere",
            "noon",
            "5 o'clock",
            "May June 2020",
            "1 2 3 4",
            "10:00 11:00",
            "+",
            "5:",
            "٣:00",
        ] {
            assert_eq!(read_on(text, today()), None, "{text}");
        }
    }
}
