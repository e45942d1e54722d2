//! `narrow` of a registration: which messages the queue delivers (docs/api/narrow.md#narrows-of-event-queues).

use crate::http::{ApiError, Fields};
use rules::narrow::EventNarrow;

/// Reads a list of pairs of operator and operand, and checks that queues can filter by them.
pub fn parse_narrow(fields: &Fields) -> Result<Vec<(String, String)>, ApiError> {
    let mut pairs = Vec::new();
    let Some(field) = fields.optional_json("narrow")? else { return Ok(pairs) };
    for term in field.root().list()? {
        let parts = term.list()?;
        let [operator, operand] = parts.as_slice() else { return Err(term.fault("is not length 2")) };
        pairs.push((operator.string()?.to_owned(), operand.string()?.to_owned()));
    }
    EventNarrow::parse(&pairs)?;
    Ok(pairs)
}
