//! Normalization of message content before it is stored (docs/api/messages.md#send-a-message). Rendering is `markdown`.

use crate::error::RuleError;
use crate::text;

/// Longest message, in code points.
pub const CONTENT_LENGTH_MAX: usize = 10_000;
/// The end of a truncated message.
pub const TRUNCATED_MARKER: &str = "\n[message truncated]";

/// The content to store: without trailing white space and leading line feeds, truncated to 10,000 code points.
/// Refuses empty content and NUL.
pub fn parse_content(raw: &str) -> Result<String, RuleError> {
    let content = raw.trim_end_matches(text::is_space).trim_start_matches('\n');
    if content.is_empty() {
        return Err(RuleError::ContentEmpty);
    }
    if content.contains('\0') {
        return Err(RuleError::ContentNul);
    }
    Ok(text::cut(content, CONTENT_LENGTH_MAX, TRUNCATED_MARKER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_trimmed() {
        for (raw, expected) in [
            ("hi", Ok("hi")),
            ("\n\n  hi \n\t", Ok("  hi")),
            (" \nhi", Ok(" \nhi")),
            ("", Err(RuleError::ContentEmpty)),
            ("\n \n", Err(RuleError::ContentEmpty)),
            ("a\0b", Err(RuleError::ContentNul)),
        ] {
            assert_eq!(parse_content(raw), expected.map(str::to_owned), "{raw:?}");
        }
    }

    #[test]
    fn long_content_is_truncated_with_a_marker() {
        let exact = "é".repeat(10_000);
        assert_eq!(parse_content(&exact).unwrap(), exact);
        let cut = parse_content(&"é".repeat(10_001)).unwrap();
        assert_eq!(cut.chars().count(), 10_000);
        assert!(cut.ends_with("é\n[message truncated]"));
    }
}
