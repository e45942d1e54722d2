//! Alert words: whether a message contains one of a reader's words (docs/api/users.md#alert-words).

use std::collections::HashSet;

/// Characters allowed before an alert word, besides the message's start.
const BEFORE: &str = " \n(\".,';[*`>";

/// Characters allowed after an alert word, besides the message's end.
const AFTER: &str = " \n)?:.,';]!*`";

/// A message's text, in which the alert words of all recipients are searched at once.
pub struct AlertText {
    lowercase: String,
}

impl AlertText {
    /// Prepares the raw content of a message.
    pub fn new(content: &str) -> Self {
        Self { lowercase: content.to_lowercase() }
    }

    /// What belongs to the words that occur, in any case, between the characters that may surround them; each word once.
    /// `last_until` returns the last of all words, in lower case and in the order of their letters, that is not after a text: at
    /// each position where a word may begin, a few lookups find the words, however many there are.
    pub fn find<'w, T>(&self, last_until: impl Fn(&str) -> Option<(&'w str, T)>) -> Vec<T> {
        let (mut found, mut words, mut beginnings) = (Vec::new(), HashSet::new(), HashSet::new());
        for start in self.starts() {
            let rest = &self.lowercase[start..];
            let mut beginning = rest;
            while let Some((word, value)) = last_until(beginning) {
                // Words that the text begins with are not longer than what it has in common with the last one before it.
                let common = common_prefix(beginning, word);
                let is_begun = common == word.len();
                if is_begun && may_end(rest, common) && words.insert(word) {
                    found.push(value);
                }
                let longest = if is_begun { common - last_char_len(word) } else { common };
                beginning = &rest[..last_end(rest, longest)];
                // The rest is as where the text began in this way before.
                if beginning.is_empty() || !beginnings.insert(beginning) {
                    break;
                }
            }
        }
        found
    }

    /// The positions where a word may begin.
    fn starts(&self) -> impl Iterator<Item = usize> {
        let before = self.lowercase.char_indices().filter(|(_, character)| BEFORE.contains(*character));
        std::iter::once(0).chain(before.map(|(at, character)| at + character.len_utf8()))
    }
}

/// Whether a word may end at a position of the text, which is one between characters.
fn may_end(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_none_or(|after| AFTER.contains(after))
}

/// The last position up to `max` where a word may end; the start if there is none.
fn last_end(text: &str, max: usize) -> usize {
    match may_end(text, max) {
        true => max,
        false => text[..max].rfind(|character: char| AFTER.contains(character)).unwrap_or_default(),
    }
}

/// The length of the characters with which both texts begin.
fn common_prefix(text: &str, other: &str) -> usize {
    let equal = text.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    text.floor_char_boundary(equal)
}

fn last_char_len(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::directory::alert_word_key;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::ops::Bound;

    fn keys(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| alert_word_key(word)).filter(|word| !word.is_empty()).collect()
    }

    fn last_until<'w>(words: &'w BTreeSet<String>, text: &str) -> Option<(&'w str, &'w str)> {
        let word = words.range::<str, _>((Bound::Unbounded, Bound::Included(text))).next_back()?;
        Some((word, word))
    }

    fn found<'w>(content: &str, words: &'w BTreeSet<String>) -> Vec<&'w str> {
        AlertText::new(content).find(|text| last_until(words, text))
    }

    fn has_alert_word<const N: usize>(content: &str, words: [&str; N]) -> bool {
        !found(content, &keys(&words)).is_empty()
    }

    /// The definition, word by word.
    fn contains(text: &str, word: &str) -> bool {
        text.match_indices(word.chars().next().unwrap_or_default()).any(|(start, _)| {
            let begins = text[..start].chars().next_back().is_none_or(|before| BEFORE.contains(before));
            let rest = text[start..].strip_prefix(word);
            begins && rest.is_some_and(|rest| rest.chars().next().is_none_or(|after| AFTER.contains(after)))
        })
    }

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

    #[test]
    fn words_that_begin_each_other_are_all_found_once() {
        let words =
            keys(&["on", "on call", "on call.", "on call.now", "on calls", "é.", "é", ")", "))", "x"]);
        assert_eq!(found("on call.now on", &words), ["on call.now", "on call", "on"]);
        assert_eq!(found("(É. on call., é.", &words), ["é.", "é", "on call.", "on call", "on"]);
        assert_eq!(found("x )) )", &words), ["x", "))", ")"]);
    }

    #[test]
    fn the_cost_follows_the_text_and_not_the_words() {
        let lookups = |content: &str, words: &BTreeSet<String>| {
            let count = Cell::new(0);
            let found = AlertText::new(content).find(|text| {
                count.set(count.get() + 1);
                last_until(words, text)
            });
            (found.len(), count.get())
        };
        let dots: BTreeSet<String> = (1..=100).map(|count| ".".repeat(count)).collect();
        let parentheses: BTreeSet<String> = (1..=100).map(|count| ")".repeat(count)).collect();
        let pairs: BTreeSet<String> = (0..1000).map(|number| format!("a.{number}")).collect();
        assert_eq!(lookups(&format!("x{}", ")".repeat(9_999)), &parentheses), (0, 1));
        let (matching, count) = lookups(&".".repeat(10_000), &dots);
        assert!(matching == 100 && count <= 10_200, "{count} lookups");
        let (matching, count) = lookups(&"a.x ".repeat(2_500), &pairs);
        assert!(matching == 0 && count <= 5_100, "{count} lookups");
    }

    proptest! {
        #[test]
        fn words_are_found_as_they_are_defined(
            content in "[aAé.,) İ]{0,24}",
            words in prop::collection::vec("[aAé.,) İ]{0,4}", 0..12),
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let words = keys(&words);
            let text = content.to_lowercase();
            let expected: BTreeSet<&str> =
                words.iter().map(String::as_str).filter(|word| contains(&text, word)).collect();
            let found = found(&content, &words);
            prop_assert_eq!(found.len(), expected.len(), "each once: {:?}", found);
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}
