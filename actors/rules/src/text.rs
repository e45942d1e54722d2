//! Characters and lengths: common rules of names and texts (docs/api/conventions.md#limits).

use unicode_general_category::{GeneralCategory, get_general_category};

/// Topic name for clients that do not support empty topics.
pub const EMPTY_TOPIC_DISPLAY_NAME: &str = "general chat";

/// White space as in Python: that of Unicode, and the four separators U+001C to U+001F.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// A text without leading and trailing white space.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The 1-based position, in code points, of the first control character or non-character.
pub(crate) fn forbidden_character(text: &str) -> Option<usize> {
    text.chars().position(is_forbidden).map(|index| index + 1)
}

/// The text without control characters and non-characters.
pub fn without_forbidden_characters(text: &str) -> String {
    text.chars().filter(|character| !is_forbidden(*character)).collect()
}

/// Surrogates are not permitted either, but cannot occur in a Rust string.
fn is_forbidden(character: char) -> bool {
    let code = character as u32;
    character.is_control() || (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// Whether a character has no visible form (Unicode category C).
pub(crate) fn is_unprintable(character: char) -> bool {
    matches!(
        get_general_category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
    )
}

/// The text, truncated with `marker` at the end if it has more than `length_max` code points.
pub fn cut(text: &str, length_max: usize, marker: &str) -> String {
    // Each code point has at least one byte, so short texts need no counting.
    if text.len() <= length_max || text.chars().count() <= length_max {
        return text.to_owned();
    }
    let keep = length_max - marker.chars().count();
    let mut short: String = text.chars().take(keep).collect();
    short.push_str(marker);
    short
}

/// Escapes the five special characters of HTML.
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_66_non_characters_and_controls_are_refused() {
        let non_characters =
            (0..=0x10ffff).filter_map(char::from_u32).filter(|c| is_forbidden(*c) && !c.is_control());
        assert_eq!(non_characters.count(), 66);
        for (text, position) in [("abc", None), ("a\nb", Some(2)), ("é\u{fffe}", Some(2)), ("\0", Some(1))] {
            assert_eq!(forbidden_character(text), position, "{text:?}");
        }
    }

    #[test]
    fn truncation_counts_code_points() {
        assert_eq!(cut("ééé", 3, "..."), "ééé");
        assert_eq!(cut("éééééé", 5, "..."), "éé...");
    }
}
