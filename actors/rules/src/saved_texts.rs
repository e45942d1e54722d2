//! Saved snippets, and the limits of all saved texts (docs/api/saved-texts.md).

use crate::content::CONTENT_LENGTH_MAX;
use crate::error::{RuleError, TextError};
use crate::text::strip;

/// So many snippets one account may have.
pub const SNIPPETS_MAX: usize = 1000;
/// Longest title of a snippet, in code points.
const SNIPPET_TITLE_LENGTH_MAX: usize = 60;
/// Bytes of all texts of one kind that one account may store.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Refuses a new or longer text beyond the limits of an account. `count` and `bytes` include it.
///
/// # Errors
/// `TooMany`, `TooLarge`.
pub fn check_room(
    what: &'static str,
    (count, count_max): (usize, usize),
    bytes: usize,
) -> Result<(), RuleError> {
    if count > count_max {
        return Err(TextError::TooMany { what, limit: count_max }.into());
    }
    if bytes > TEXT_BYTES_MAX {
        return Err(TextError::TooLarge { what, limit: TEXT_BYTES_MAX }.into());
    }
    Ok(())
}

/// The title of a snippet as sent → the title to store.
///
/// # Errors
/// `Blank`, `TooLong`.
pub fn parse_snippet_title(raw: &str) -> Result<&str, RuleError> {
    parse_text("title", raw, SNIPPET_TITLE_LENGTH_MAX)
}

/// The content of a snippet as sent → the content to store.
///
/// # Errors
/// `Blank`, `TooLong`.
pub fn parse_snippet_content(raw: &str) -> Result<&str, RuleError> {
    parse_text("content", raw, CONTENT_LENGTH_MAX)
}

fn parse_text<'t>(field: &'static str, raw: &'t str, limit: usize) -> Result<&'t str, RuleError> {
    match strip(raw) {
        "" => Err(RuleError::Blank { field }),
        text if text.chars().count() > limit => Err(RuleError::TooLong { field, limit }),
        text => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_stripped_and_bounded() {
        assert_eq!(parse_snippet_title(" Hello \n"), Ok("Hello"));
        assert_eq!(parse_snippet_title(" "), Err(RuleError::Blank { field: "title" }));
        let long = "é".repeat(61);
        assert_eq!(parse_snippet_title(&long), Err(RuleError::TooLong { field: "title", limit: 60 }));
        assert!(parse_snippet_title(&long[2..]).is_ok());
    }

    #[test]
    fn accounts_have_room_up_to_the_limits() {
        assert!(check_room("drafts", (2, 2), TEXT_BYTES_MAX).is_ok());
        let many = TextError::TooMany { what: "drafts", limit: 2 };
        assert_eq!(check_room("drafts", (3, 2), 0), Err(many.into()));
        let large = TextError::TooLarge { what: "drafts", limit: TEXT_BYTES_MAX };
        assert_eq!(check_room("drafts", (1, 2), TEXT_BYTES_MAX + 1), Err(large.into()));
    }
}
