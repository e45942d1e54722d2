//! The headers of a request for a file: which encodings it accepts, what it knows already, and which part it wants.

use crate::http::ApiError;
use crate::http::call::{Call, FromCall};
use actix_web::http::header;
use std::ops::RangeInclusive;

/// The encodings in which a file can be stored beside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Brotli,
    Gzip,
    Plain,
}

impl Encoding {
    /// The name in `Content-Encoding`; none for the file itself.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Plain => None,
        }
    }

    /// What the name of the stored file ends in.
    pub fn file_ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Plain => "",
        }
    }

    /// What the ETag ends in, which differs for each encoding.
    pub fn tag_ending(self) -> &'static str {
        match self {
            Self::Brotli => "-br",
            Self::Gzip => "-gz",
            Self::Plain => "",
        }
    }
}

/// The headers that decide what of a file is sent.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    accept_encoding: Option<String>,
    if_none_match: Option<String>,
    range: Option<String>,
    if_range: Option<String>,
}

impl FromCall for Conditions {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let header = |name| call.header(name).map(str::to_owned);
        Ok(Self {
            accept_encoding: header(header::ACCEPT_ENCODING),
            if_none_match: header(header::IF_NONE_MATCH),
            range: header(header::RANGE),
            if_range: header(header::IF_RANGE),
        })
    }
}

impl Conditions {
    /// The encodings to look for, the best one first. Parts are those of the file itself.
    pub fn encodings(&self) -> Vec<Encoding> {
        let accepted = self.accept_encoding.as_deref().filter(|_| self.range.is_none()).unwrap_or_default();
        let accepts = |name: &str| {
            accepted.split(',').any(|one| {
                let mut parts = one.split(';').map(str::trim);
                let is_named = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case(name));
                let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
                is_named && weight.is_none_or(|weight| weight > 0.0)
            })
        };
        let stored = [Encoding::Brotli, Encoding::Gzip];
        let mut found: Vec<Encoding> =
            stored.into_iter().filter(|encoding| encoding.name().is_some_and(accepts)).collect();
        found.push(Encoding::Plain);
        found
    }

    /// Whether the client has the file with this tag.
    pub fn knows(&self, tag: &str) -> bool {
        let is_it = |one: &str| {
            let one = one.trim();
            one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
        };
        self.if_none_match.as_deref().is_some_and(|known| known.split(',').any(is_it))
    }

    /// The part that is wanted, if it is one part of the file with this tag. Other ranges are answered with the whole.
    pub fn range(&self, tag: &str) -> Option<Range> {
        let is_same = self.if_range.as_deref().is_none_or(|wanted| wanted == tag);
        let range = self.range.as_deref().filter(|_| is_same)?.strip_prefix("bytes=")?;
        let (first, last) = range.trim().split_once('-')?;
        let number =
            |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        match (first.is_empty(), last.is_empty()) {
            (false, true) => Some(Range::From(number(first)?)),
            (false, false) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Range::Between(first, last))
            }
            (true, false) => Some(Range::Last(number(last)?)),
            (true, true) => None,
        }
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    From(u64),
    Between(u64, u64),
    /// So many bytes at its end.
    Last(u64),
}

/// A part that the file does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRefused;

impl Range {
    /// The first and the last byte, in a file of a size.
    pub fn of(self, size: u64) -> Result<RangeInclusive<u64>, RangeRefused> {
        let end = size.checked_sub(1).ok_or(RangeRefused)?;
        let (first, last) = match self {
            Self::From(first) => (first, end),
            Self::Between(first, last) => (first, last.min(end)),
            Self::Last(0) => return Err(RangeRefused),
            Self::Last(count) => (size.saturating_sub(count), end),
        };
        if first > end { Err(RangeRefused) } else { Ok(first..=last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(header: &str) -> Vec<Encoding> {
        Conditions { accept_encoding: Some(header.to_owned()), ..Conditions::default() }.encodings()
    }

    #[test]
    fn best_accepted_encoding_is_first() {
        use Encoding::{Brotli, Gzip, Plain};
        assert_eq!(accepting("gzip, deflate, br"), [Brotli, Gzip, Plain]);
        assert_eq!(accepting("br;q=0, GZIP;q=0.5"), [Gzip, Plain]);
        assert_eq!(accepting("identity"), [Plain]);
        assert_eq!(Conditions::default().encodings(), [Plain]);
        let part = Conditions { range: Some("bytes=0-".to_owned()), ..Conditions::default() };
        assert_eq!(Conditions { accept_encoding: Some("br".to_owned()), ..part }.encodings(), [Plain]);
    }

    #[test]
    fn known_tags() {
        let knows = |header: &str| {
            Conditions { if_none_match: Some(header.to_owned()), ..Conditions::default() }.knows("\"a\"")
        };
        assert!(knows("\"b\", \"a\"") && knows("W/\"a\"") && knows("*"));
        assert!(!knows("\"b\"") && !knows("a") && !knows(""));
    }

    #[test]
    fn ranges() {
        let range = |range: &str, size: u64| {
            let conditions = Conditions { range: Some(range.to_owned()), ..Conditions::default() };
            conditions.range("\"a\"").map(|range| range.of(size))
        };
        assert_eq!(range("bytes=0-4", 10), Some(Ok(0..=4)));
        assert_eq!(range("bytes=5-", 10), Some(Ok(5..=9)));
        assert_eq!(range("bytes=-3", 10), Some(Ok(7..=9)));
        assert_eq!(range("bytes=-30", 10), Some(Ok(0..=9)));
        assert_eq!(range("bytes=5-99", 10), Some(Ok(5..=9)));
        for refused in ["bytes=10-", "bytes=-0", "bytes=99-100"] {
            assert_eq!(range(refused, 10), Some(Err(RangeRefused)), "{refused}");
        }
        assert_eq!(range("bytes=0-", 0), Some(Err(RangeRefused)));
        for ignored in ["bytes=4-2", "bytes=0-1,3-4", "bytes=a-b", "items=0-1", "bytes=-", "bytes=+1-2"] {
            assert_eq!(range(ignored, 10), None, "{ignored}");
        }
        let other = Conditions {
            range: Some("bytes=0-1".to_owned()),
            if_range: Some("\"b\"".to_owned()),
            ..Conditions::default()
        };
        assert_eq!((other.range("\"a\""), other.range("\"b\"").is_some()), (None, true));
    }
}
