//! Primitives for writing JSON directly into a buffer, for responses that are spliced from parts.

use serde::Serialize;

/// Numbers of bytes that are checked for escapes at once: of long texts, and of the rest.
const STRIDE_BYTES: (usize, usize) = (64, 16);

/// Writes a serializable value.
pub fn push_value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Cannot fail: writing to memory does not, and all keys are strings or integers.
    let _ = serde_json::to_writer(out, value);
}

/// Writes a comma and a member of an object: `,"name":value`.
pub fn push_field(out: &mut Vec<u8>, name: &str, value: &(impl Serialize + ?Sized)) {
    push_name(out, name);
    push_value(out, value);
}

/// Writes `,"name":"text"`. Faster than `push_field` for long texts.
pub fn push_text_field(out: &mut Vec<u8>, name: &str, text: &str) {
    push_name(out, name);
    push_text(out, text);
}

/// Writes a comma and the name of a member: `,"name":`.
pub fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Writes a JSON string with quotes and escapes.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut written = 0;
    loop {
        let at = next_special(bytes, written);
        out.extend_from_slice(&bytes[written..at]);
        let Some(byte) = bytes.get(at) else { break };
        push_escape(out, *byte);
        written = at + 1;
    }
    out.push(b'"');
}

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The index of the first byte at or after `from` that needs an escape, or the length.
fn next_special(bytes: &[u8], from: usize) -> usize {
    const SHORT: usize = STRIDE_BYTES.1;
    let mut at = skip_plain::<{ STRIDE_BYTES.0 }>(bytes, from);
    at = skip_plain::<SHORT>(bytes, at);
    let rest = &bytes[at..];
    // The last bytes, with some that were checked before, are one more stride.
    let last = bytes[from..].last_chunk::<SHORT>().filter(|_| rest.len() < SHORT);
    if last.is_some_and(|last| !has_special(last)) {
        return bytes.len();
    }
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// The index of the first stride that has bytes that need an escape, or of the rest.
fn skip_plain<const STRIDE: usize>(bytes: &[u8], from: usize) -> usize {
    let plain = bytes[from..].chunks_exact(STRIDE).take_while(|stride| !has_special(stride));
    from + plain.count() * STRIDE
}

/// Without an early exit, the compiler vectorizes the comparison.
fn has_special(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |found, byte| found | u8::from(is_special(*byte))) != 0
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        control => {
            out.extend_from_slice(b"\\u00");
            out.push(DIGITS[usize::from(control >> 4)]);
            out.push(DIGITS[usize::from(control & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        push_text(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(written(""), r#""""#);
        assert_eq!(written("a\"b\\c\nd\te\u{1}f\r"), r#""a\"b\\c\nd\te\u0001f\r""#);
        assert_eq!(written("an even longer text with ünïcode 🎉"), "\"an even longer text with ünïcode 🎉\"");
    }

    proptest! {
        #[test]
        fn text_round_trips(text in "(?s).{0,80}|[ -\u{ff}]{0,60}|[a-z]{0,200}[\"\\n]{0,2}[a-z]{0,200}") {
            let read: String = serde_json::from_str(&written(&text)).unwrap();
            prop_assert_eq!(read, text);
        }
    }

    #[test]
    fn fields_are_separated_by_commas() {
        let mut out = b"{\"a\":1".to_vec();
        push_field(&mut out, "b", &[1, 2]);
        push_text_field(&mut out, "c", "x\"");
        out.push(b'}');
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":1,"b":[1,2],"c":"x\""}"#);
    }
}
