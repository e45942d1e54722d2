//! Alert words: whether a message contains one of a reader's words (docs/api/users.md#alert-words).

use std::collections::HashSet;

/// Characters allowed before an alert word, besides the message's start.
const BEFORE: &str = " \n(\".,';[*`>";

/// Characters allowed after an alert word, besides the message's end.
const AFTER: &str = " \n)?:.,';]!*`";

/// A message's text, prepared for many lookups: every recipient has different words.
pub struct AlertText {
    lowercase: String,
    /// The text between each position where a word may begin and the next one where it may end. Most words are excluded by
    /// one lookup here.
    pieces: HashSet<Box<str>>,
}

impl AlertText {
    /// Prepares the raw content of a message.
    pub fn new(content: &str) -> Self {
        let lowercase = content.to_lowercase();
        let mut pieces = HashSet::from([Box::from(first_piece(&lowercase))]);
        for (at, before) in lowercase.char_indices().filter(|(_, before)| BEFORE.contains(*before)) {
            pieces.insert(Box::from(first_piece(&lowercase[at + before.len_utf8()..])));
        }
        Self { lowercase, pieces }
    }

    /// Whether the word occurs, in any case, between the characters that may surround it.
    pub fn contains(&self, word: &str) -> bool {
        let word = word.trim().to_lowercase();
        // The first piece of a word that begins with a character of `AFTER` is empty and excludes nothing.
        let first = first_piece(&word);
        if word.is_empty() || !(first.is_empty() || self.pieces.contains(first)) {
            return false;
        }
        let text = &self.lowercase;
        let mut from = 0;
        while let Some(offset) = text[from..].find(&word) {
            let start = from + offset;
            let end = start + word.len();
            let begins = text[..start].chars().next_back().is_none_or(|before| BEFORE.contains(before));
            if begins && text[end..].chars().next().is_none_or(|after| AFTER.contains(after)) {
                return true;
            }
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        false
    }
}

/// The text up to the first character that may follow a word.
fn first_piece(text: &str) -> &str {
    text.split(|character| AFTER.contains(character)).next().unwrap_or_default()
}

/// Whether a message contains any of the words.
pub fn has_alert_word<'w>(content: &str, words: impl IntoIterator<Item = &'w str>) -> bool {
    let text = AlertText::new(content);
    words.into_iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_between_word_edges_only() {
        for text in [
            "deploy",
            "Deploy now",
            "we DEPLOY!",
            "(deploy)",
            "`deploy`",
            "> deploy\n",
            "'deploy'",
            "x.deploy:",
        ] {
            assert!(has_alert_word(text, ["deploy"]), "{text}");
        }
        for text in
            ["deployed", "redeploy", "de ploy", "deploy-x", "/deploy", "deploy\"", "", "xdeployx deployed"]
        {
            assert!(!has_alert_word(text, ["deploy"]), "{text}");
        }
        assert!(has_alert_word("deployed, then deploy", ["deploy"]));
        assert!(has_alert_word("a phrase of words here", ["x", "Phrase Of"]));
        assert!(!has_alert_word("anything", ["", "  "]));
        assert!(!has_alert_word("ééé", ["éé"]));
        for (text, word) in [
            ("see a.b, c", "a.b"),
            ("x )y z", ")y"),
            ("(on call)", "on call"),
            ("c++ or rust", "c++"),
            ("a b", "a b"),
        ] {
            assert!(has_alert_word(text, [word]), "{text}");
        }
        assert!(!has_alert_word("a.bc", ["a.b"]) && !has_alert_word("on calls", ["on call"]));
    }
}
