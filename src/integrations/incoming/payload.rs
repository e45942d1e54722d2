//! The body of a delivery: JSON, or a form with JSON in one field.

use crate::http::{BodyKind, Fields};
use minijinja::Value;
use minijinja::value::ValueKind;

/// Values in a payload: objects, lists and what is in them.
const VALUES_MAX: usize = 100_000;

/// Why a body is not a payload. The display text is what the service reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("Malformed JSON")]
    NotJson,
    #[error("request is not a dict")]
    NotObject,
    #[error("Too many values in the payload (limit: {VALUES_MAX})")]
    TooManyValues,
}

/// The payload in a body. A form has it in the field `payload`; some tools send JSON with the content type of a form, which
/// is understood, too.
pub fn parse_payload(kind: &BodyKind, body: &[u8]) -> Result<Value, PayloadError> {
    let form = match kind {
        BodyKind::Form | BodyKind::Multipart(_) => Fields::parse(b"", kind, body).ok(),
        BodyKind::Json | BodyKind::Other => None,
    };
    let field = form.as_ref().and_then(|fields| fields.optional_str("payload"));
    let json = field.map_or(body, str::as_bytes);
    if value_count(json) > VALUES_MAX {
        return Err(PayloadError::TooManyValues);
    }
    let value: Value = serde_json::from_slice(json).map_err(|_| PayloadError::NotJson)?;
    if value.kind() == ValueKind::Map { Ok(value) } else { Err(PayloadError::NotObject) }
}

/// A bound of the number of values in JSON, without parsing it: each but the first one follows an opening bracket or a comma.
pub fn value_count(json: &[u8]) -> usize {
    1 + json.iter().filter(|byte| matches!(byte, b'{' | b'[' | b',')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_json_or_in_a_form() {
        let name = |kind: &BodyKind, body: &str| {
            parse_payload(kind, body.as_bytes()).map(|value| value.get_attr("a").unwrap().to_string())
        };
        assert_eq!(name(&BodyKind::Json, r#"{"a":"1"}"#), Ok("1".to_owned()));
        assert_eq!(name(&BodyKind::Other, r#" {"a":"2"} "#), Ok("2".to_owned()));
        assert_eq!(name(&BodyKind::Form, "payload=%7B%22a%22%3A3%7D&x=1"), Ok("3".to_owned()));
        assert_eq!(name(&BodyKind::Form, r#"{"a":4}"#), Ok("4".to_owned()));
        for (body, expected) in [
            ("", PayloadError::NotJson),
            ("hello", PayloadError::NotJson),
            ("{", PayloadError::NotJson),
            ("[1]", PayloadError::NotObject),
            ("null", PayloadError::NotObject),
        ] {
            assert_eq!(name(&BodyKind::Json, body), Err(expected), "{body}");
        }
        let deep = "[".repeat(10_000);
        assert_eq!(name(&BodyKind::Json, &deep), Err(PayloadError::NotJson));
        let wide = format!("{{\"a\":[{}1]}}", "1,".repeat(VALUES_MAX));
        assert_eq!(name(&BodyKind::Json, &wide), Err(PayloadError::TooManyValues));
    }
}
