//! What a client asks of a file besides the file: only if it changed, or only a part (RFC 9110, sections 13 and 14).

use super::call::{Call, FromCall};
use super::error::ApiError;
use actix_web::http::header::{IF_NONE_MATCH, IF_RANGE, RANGE};
use std::ops::Range;

/// The header `If-None-Match`, if present: the entity tags of what the client has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IfNoneMatch(Option<String>);

impl FromCall for IfNoneMatch {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.header(IF_NONE_MATCH).map(str::to_owned)))
    }
}

impl IfNoneMatch {
    /// Whether the client has what this entity tag, in quotation marks, is of: it is one of a list, or `*` stands for all. Weak
    /// comparison (RFC 9110, section 13.1.2), because a proxy that compresses makes tags weak.
    pub fn has(&self, tag: &str) -> bool {
        let is_same = |known: &str| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag;
        self.0.as_deref().is_some_and(|list| list.split(',').map(str::trim).any(is_same))
    }
}

/// The headers of a request that decide what is sent of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    if_none_match: IfNoneMatch,
    if_range: Option<String>,
    range: Option<String>,
}

/// What is sent of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// The client has it.
    NotModified,
    Whole,
    /// Some of its bytes.
    Part(Range<u64>),
    /// The file ends before the part begins.
    NoSuchPart,
}

impl FromCall for Conditions {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let if_none_match = IfNoneMatch::from_call(call)?;
        let text = |name| call.header(name).map(str::to_owned);
        Ok(Self { if_none_match, if_range: text(IF_RANGE), range: text(RANGE) })
    }
}

impl Conditions {
    /// Whether the client asks for a part, which it may not get.
    pub fn wants_part(&self) -> bool {
        self.range.is_some()
    }

    /// What is sent of a file of this size. `tag` is its entity tag, in quotation marks. A list of several ranges is answered with
    /// the whole file, as the standard allows.
    pub fn select(&self, tag: &str, size: u64) -> Selected {
        if self.if_none_match.has(tag) {
            return Selected::NotModified;
        }
        // A date cannot be compared exactly, so it is as if the file had changed.
        if self.if_range.as_deref().is_some_and(|known| known.trim() != tag) {
            return Selected::Whole;
        }
        match self.range.as_deref().and_then(parse_range) {
            None => Selected::Whole,
            Some(Asked::From(start, _)) if start >= size => Selected::NoSuchPart,
            Some(Asked::From(start, last)) => {
                Selected::Part(start..last.map_or(size, |last| last.saturating_add(1).min(size)))
            }
            Some(Asked::Last(0)) => Selected::NoSuchPart,
            Some(Asked::Last(_)) if size == 0 => Selected::NoSuchPart,
            Some(Asked::Last(count)) => Selected::Part(size.saturating_sub(count)..size),
        }
    }
}

enum Asked {
    /// From a position to another one, which is included, or to the end.
    From(u64, Option<u64>),
    /// This many bytes at the end.
    Last(u64),
}

/// One range of bytes; none for several, for other units and for what is malformed.
fn parse_range(text: &str) -> Option<Asked> {
    let (unit, range) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") || range.contains(',') {
        return None;
    }
    let number = |digits: &str| -> Option<u64> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    match range.trim().split_once('-')? {
        ("", last) => number(last).map(Asked::Last),
        (first, "") => number(first).map(|first| Asked::From(first, None)),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Asked::From(first, Some(last)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_files() {
        let asked = |range: &str| Conditions { range: Some(range.to_owned()), ..Conditions::default() };
        for (range, expected) in [
            ("bytes=0-0", Selected::Part(0..1)),
            ("bytes=2-", Selected::Part(2..10)),
            ("Bytes = 2-99", Selected::Part(2..10)),
            ("bytes=-3", Selected::Part(7..10)),
            ("bytes=-30", Selected::Part(0..10)),
            ("bytes=10-", Selected::NoSuchPart),
            ("bytes=-0", Selected::NoSuchPart),
            ("bytes=99999999999999999999-", Selected::NoSuchPart),
            ("bytes=3-2", Selected::Whole),
            ("bytes=0-1,3-4", Selected::Whole),
            ("lines=1-2", Selected::Whole),
            ("bytes=a-b", Selected::Whole),
            ("bytes", Selected::Whole),
        ] {
            assert_eq!(asked(range).select("\"x\"", 10), expected, "{range}");
        }
        assert_eq!(asked("bytes=-5").select("\"x\"", 0), Selected::NoSuchPart);
    }

    #[test]
    fn known_files() {
        let known = |tags: &str| IfNoneMatch(Some(tags.to_owned()));
        for (tags, is_known) in [("\"x\"", true), ("\"y\", W/\"x\"", true), ("*", true), ("\"y\"", false)] {
            assert_eq!(known(tags).has("\"x\""), is_known, "{tags}");
            let expected = if is_known { Selected::NotModified } else { Selected::Whole };
            let conditions = Conditions { if_none_match: known(tags), ..Conditions::default() };
            assert_eq!(conditions.select("\"x\"", 10), expected, "{tags}");
        }
        let range = Some("bytes=0-0".to_owned());
        for (if_range, expected) in [
            ("\"x\"", Selected::Part(0..1)),
            ("\"y\"", Selected::Whole),
            ("Sun, 22 Nov 2026 06:44:04 GMT", Selected::Whole),
        ] {
            let if_range = Some(if_range.to_owned());
            let conditions = Conditions { range: range.clone(), if_range, ..Conditions::default() };
            assert_eq!(conditions.select("\"x\"", 10), expected);
        }
    }
}
