//! Alert words: whether a message holds a word its reader watches for (endpoints.md 22).

/// What may stand before an alert word, apart from the message's start.
const BEFORE: &str = " \n(\".,';[*`>";

/// What may stand after an alert word, apart from the message's end.
const AFTER: &str = " \n)?:.,';]!*`";

/// A message's text made ready for many look-ups, since every recipient has words of their own.
pub struct AlertText {
    lowercase: String,
}

impl AlertText {
    /// Prepares the raw content of a message.
    pub fn new(content: &str) -> Self {
        Self { lowercase: content.to_lowercase() }
    }

    /// Whether the word occurs, in any case, between the characters that may surround it.
    pub fn contains(&self, word: &str) -> bool {
        let word = word.trim().to_lowercase();
        if word.is_empty() {
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

/// Whether a message holds any of the words.
pub fn has_alert_word<'w>(content: &str, words: impl IntoIterator<Item = &'w str>) -> bool {
    let text = AlertText::new(content);
    words.into_iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_between_its_edges_only() {
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
    }
}
