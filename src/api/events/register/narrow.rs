//! `narrow` of a queue: which messages it delivers (docs/api/narrow.md#narrows-of-event-queues).

use crate::http::{ApiError, Fields};
use rules::narrow::{EventNarrow, NARROW_TERMS_MAX};

/// Reads a list of pairs of operator and operand, and checks that queues can filter by them and that they are not too long.
/// `fault` is the error for items that are no pair.
pub fn parse_narrow(fields: &Fields, fault: &str) -> Result<Vec<(String, String)>, ApiError> {
    let mut pairs = Vec::new();
    let Some(field) = fields.optional_json("narrow")? else { return Ok(pairs) };
    // One term too many is enough for the error.
    for term in field.root().list()?.take(NARROW_TERMS_MAX + 1) {
        let mut parts = term.list()?;
        let (Some(operator), Some(operand), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err(term.fault(fault));
        };
        pairs.push((operator.string()?.to_owned(), operand.string()?.to_owned()));
    }
    EventNarrow::parse(&pairs)?;
    EventNarrow::check_size(&pairs)?;
    Ok(pairs)
}
