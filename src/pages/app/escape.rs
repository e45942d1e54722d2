//! JSON inside of a quoted attribute: the characters that have a meaning in HTML are written as escapes of JSON.

use bytes::Bytes;

/// The JSON with `<`, `>`, `&` and `'` escaped. They only occur inside of texts, where an escape means the same.
pub fn json_for_attribute(json: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(json.len() + json.len() / 16);
    let mut copied = 0;
    for (at, byte) in json.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'<' => b"\\u003c",
            b'>' => b"\\u003e",
            b'&' => b"\\u0026",
            b'\'' => b"\\u0027",
            _ => continue,
        };
        out.extend_from_slice(json.get(copied..at).unwrap_or_default());
        out.extend_from_slice(escape);
        copied = at + 1;
    }
    out.extend_from_slice(json.get(copied..).unwrap_or_default());
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escaped_json_means_the_same(text in any::<String>()) {
            let json = serde_json::to_vec(&[&text]).unwrap();
            let escaped = json_for_attribute(&json);
            prop_assert!(!escaped.iter().any(|byte| b"<>&'".contains(byte)));
            let read: Vec<String> = serde_json::from_slice(&escaped).unwrap();
            prop_assert_eq!(&read[0], &text);
        }
    }
}
