//! Parsing of anchor, counts and narrow
//! (docs/api/messages.md#fetch-messages).

use crate::http::{ApiError, Fields};
use actors::queries::{Anchor, NEWEST, Range};
use rules::narrow::{Term, parse_narrow};

/// Maximum number of messages in a response.
pub const MESSAGES_MAX: usize = 5000;

/// Parses an anchor: a word or a number. Negative numbers stand for the oldest message, too large ones for the newest.
pub fn parse_anchor(text: &str) -> Result<Anchor, ApiError> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match text {
        "newest" => Ok(Anchor::Newest),
        "oldest" => Ok(Anchor::Oldest),
        "first_unread" => Ok(Anchor::FirstUnread),
        _ if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err(ApiError::bad_request("Invalid anchor"))
        }
        _ if text.starts_with('-') => Ok(Anchor::Id(0)),
        _ => Ok(Anchor::Id(digits.parse().unwrap_or(NEWEST).min(NEWEST))),
    }
}

/// An optional number of messages. Errors: not an integer, too small. A number that is too large is clamped; some
/// endpoints refuse it later.
pub fn read_count(fields: &Fields, name: &str) -> Result<Option<usize>, ApiError> {
    let count: Option<i128> = fields.optional_int(name)?;
    match count {
        Some(count) if count < 0 => Err(ApiError::bad_request(format!("{name} is too small"))),
        count => Ok(count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))),
    }
}

/// The terms of `narrow`; none where it is absent or null.
pub fn read_narrow(fields: &Fields) -> Result<Vec<Term>, ApiError> {
    match fields.optional_json("narrow")? {
        Some(narrow) => Ok(parse_narrow(&narrow.into_value())?),
        None => Ok(Vec::new()),
    }
}

/// Refuses a range that excludes an anchor in its middle.
pub fn check_anchor_place(range: &Range) -> Result<(), ApiError> {
    if range.num_before > 0 && range.num_after > 0 && !range.include_anchor {
        return Err(ApiError::bad_request("The anchor can only be excluded at an end of the range"));
    }
    Ok(())
}

/// Refuses more messages than a response may have.
pub fn check_count(count: usize) -> Result<(), ApiError> {
    if count > MESSAGES_MAX {
        let text = format!("Too many messages requested (maximum {MESSAGES_MAX}).");
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors() {
        let cases = [
            ("newest", Ok(Anchor::Newest)),
            ("oldest", Ok(Anchor::Oldest)),
            ("first_unread", Ok(Anchor::FirstUnread)),
            ("313", Ok(Anchor::Id(313))),
            (" 7 ", Ok(Anchor::Id(7))),
            ("-5", Ok(Anchor::Id(0))),
            ("10000000000000000", Ok(Anchor::Id(NEWEST))),
            ("99999999999999999999", Ok(Anchor::Id(NEWEST))),
            ("bogus", Err(())),
            ("", Err(())),
            ("-", Err(())),
            ("1.5", Err(())),
            ("Newest", Err(())),
        ];
        for (text, expected) in cases {
            let parsed = parse_anchor(text).map_err(|error| assert_eq!(error.msg(), "Invalid anchor"));
            assert_eq!(parsed, expected, "{text:?}");
        }
    }
}
