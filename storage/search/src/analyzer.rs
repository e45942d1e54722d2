//! From texts to terms: words are folded to lower case and stemmed, stop words are left out.

use crate::html::texts;
use crate::language::Language;
use crate::tokenizer::{fold, run_terms, tokens};
use foldhash::fast::RandomState;
use frostem::Stemmer;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use tantivy::tokenizer::{RawTokenizer, TextAnalyzer, TokenStream};

/// Words that are remembered; then all are forgotten before the next text.
const REMEMBERED_MAX: usize = 20_000;

/// Words of up to this many bytes are remembered as they are written, longer ones as they are folded.
const WRITTEN_BYTES_MAX: usize = 64;

/// Words from this many bytes on are not expected again if they have a digit.
const SELDOM_BYTES_MIN: usize = 16;

/// Divides texts into terms. It remembers stems, so use one for many texts.
pub struct Analyzer {
    language: Language,
    stemmer: Option<Stemmer>,
    stop_words: TextAnalyzer,
    /// Words with the number of their stem; none for stop words.
    words: HashMap<Box<str>, Option<usize>, RandomState>,
    stems: Stems,
    remembered_max: usize,
    folded: String,
}

/// The stems of remembered words.
#[derive(Default)]
struct Stems {
    numbers: HashMap<Arc<str>, usize, RandomState>,
    /// By their number, with the last text that had each.
    all: Vec<(Arc<str>, u64)>,
    /// The number of the current text.
    text: u64,
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Analyzer").field("language", &self.language).finish_non_exhaustive()
    }
}

impl Analyzer {
    /// An analyzer for texts of a language.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            stemmer: language.algorithm().map(Stemmer::new),
            stop_words: TextAnalyzer::builder(RawTokenizer::default()).filter(language.stop_words()).build(),
            words: HashMap::default(),
            stems: Stems::default(),
            remembered_max: REMEMBERED_MAX,
            folded: String::new(),
        }
    }

    /// The language of the texts.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The stem of a word; none for stop words.
    pub(crate) fn stem(&mut self, word: &str) -> Option<Arc<str>> {
        self.make_room();
        let number = self.number(word)?;
        self.stems.all.get(number).map(|(stem, _)| stem.clone())
    }

    /// Forgets all words if they are many.
    fn make_room(&mut self) {
        if self.words.len() >= self.remembered_max {
            self.words.clear();
            self.stems.numbers.clear();
            self.stems.all.clear();
        }
    }

    /// The number of a word's stem; none for stop words.
    fn number(&mut self, word: &str) -> Option<usize> {
        let is_long = word.len() > WRITTEN_BYTES_MAX;
        if !is_long && let Some(number) = self.words.get(word) {
            return *number;
        }
        let mut folded = std::mem::take(&mut self.folded);
        fold(word, &mut folded);
        let key = if is_long { folded.as_str() } else { word };
        let number = match self.words.get(key) {
            Some(number) => *number,
            None => {
                let number = self.compute(&folded).map(|stem| self.stems.number(&stem));
                self.words.insert(key.into(), number);
                number
            }
        };
        self.folded = folded;
        number
    }

    fn compute<'w>(&mut self, word: &'w str) -> Option<Cow<'w, str>> {
        if !self.stop_words.token_stream(word).advance() {
            return None;
        }
        let stem = self.stemmer.as_ref().map(|stemmer| stemmer.stem(word));
        Some(stem.filter(|stem| !stem.is_empty()).unwrap_or(Cow::Borrowed(word)))
    }

    /// The stem of a word that is not expected again, in lower case.
    fn stem_of_seldom<'w>(&self, folded: &'w str) -> Cow<'w, str> {
        let Some(stemmer) = self.stemmer.as_ref().filter(|_| !self.language.keeps(folded)) else {
            return Cow::Borrowed(folded);
        };
        let stem = stemmer.stem(folded);
        if stem.is_empty() { Cow::Borrowed(folded) } else { stem }
    }

    /// Calls `found` with each term of a plain text; with numbers and ids once or more, with others once.
    pub(crate) fn each_term_of_text(&mut self, text: &str, found: impl FnMut(&str)) {
        self.each_term(std::iter::once(text), found);
    }

    /// Calls `found` with each term of a message's HTML, as `each_term_of_text` does.
    pub(crate) fn each_term_of_html(&mut self, html: &str, found: impl FnMut(&str)) {
        self.each_term(texts(html).map(|text| text.text), found);
    }

    fn each_term<'t>(&mut self, texts: impl Iterator<Item = &'t str>, mut found: impl FnMut(&str)) {
        self.make_room();
        self.stems.text += 1;
        let mut of_runs: HashSet<&str, RandomState> = HashSet::default();
        for text in texts {
            for token in tokens(text) {
                let word = &text[token.range];
                if token.is_run {
                    run_terms(word).filter(|term| of_runs.insert(term)).for_each(&mut found);
                } else if is_seldom(word) {
                    fold(word, &mut self.folded);
                    found(&self.stem_of_seldom(&self.folded));
                } else if let Some(number) = self.number(word) {
                    self.stems.if_new(number).into_iter().for_each(&mut found);
                }
            }
        }
    }
}

/// Whether a word is not expected again: a number or an id. To remember such words would take more time than their stems
/// do, and the place of others. No stop word is among them.
#[inline]
fn is_seldom(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.last().is_some_and(u8::is_ascii_digit)
        || bytes.len() >= SELDOM_BYTES_MIN && bytes.iter().any(u8::is_ascii_digit)
}

impl Stems {
    /// The number of a stem.
    fn number(&mut self, stem: &str) -> usize {
        if let Some(number) = self.numbers.get(stem) {
            return *number;
        }
        let (stem, number): (Arc<str>, _) = (stem.into(), self.all.len());
        self.numbers.insert(stem.clone(), number);
        self.all.push((stem, 0));
        number
    }

    /// A stem, if the current text did not have it yet.
    fn if_new(&mut self, number: usize) -> Option<&str> {
        let (stem, last) = self.all.get_mut(number)?;
        (std::mem::replace(last, self.text) != self.text).then_some(stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(analyzer: &mut Analyzer, html: &str) -> Vec<String> {
        let mut terms = Vec::new();
        analyzer.each_term_of_html(html, |term| terms.push(term.to_owned()));
        terms
    }

    proptest! {
        /// What was remembered, and forgotten, changes no term, and each comes once.
        #[test]
        fn terms_do_not_depend_on_earlier_texts(
            texts in prop::collection::vec("((The|the|jumps?|JUMPING|Über|x{60,70}|XX{63}|東京都|[a-zé]{1,3})[ <&;p>]{1,2}){0,12}", 1..12),
            language in prop::sample::select(vec!["en", "de", "xx"]),
        ) {
            let language = Language::of(language);
            let mut small = Analyzer { remembered_max: 5, ..Analyzer::new(language) };
            let mut large = Analyzer::new(language);
            for text in &texts {
                let fresh = terms(&mut Analyzer::new(language), text);
                let distinct: HashSet<&String> = fresh.iter().collect();
                prop_assert_eq!(distinct.len(), fresh.len());
                prop_assert_eq!(&terms(&mut small, text), &fresh);
                prop_assert_eq!(&terms(&mut large, text), &fresh);
            }
        }
    }

    /// Each word folded and stemmed by itself.
    fn plain_terms(language: Language, text: &str) -> HashSet<String> {
        let mut stop_words =
            TextAnalyzer::builder(RawTokenizer::default()).filter(language.stop_words()).build();
        let mut terms = HashSet::new();
        for token in tokens(text) {
            let word = &text[token.range];
            if token.is_run {
                terms.extend(run_terms(word).map(str::to_owned));
                continue;
            }
            let folded: String = word.chars().flat_map(char::to_lowercase).take(64).collect();
            if stop_words.token_stream(&folded).advance() {
                let stem =
                    language.algorithm().map(|algorithm| Stemmer::new(algorithm).stem(&folded).into_owned());
                terms.insert(stem.filter(|stem| !stem.is_empty()).unwrap_or(folded));
            }
        }
        terms
    }

    proptest! {
        /// Shorter ways for frequent words, numbers and ids change no term, in any language.
        #[test]
        fn terms_are_those_of_each_word_by_itself(
            text in "(([0-9]{1,3}|[a-zA-Z]{1,9}|[a-z]{1,20}[0-9]{1,4}(s|ed|ing|ization|ously)?|[yY]?[a-zßéйשع]{1,7}[0-9]|\\PC{1,4}|the|über|x{60,63}[0-9]{1,3})[ .-]){0,16}",
            language in prop::sample::select(vec![
                "en", "ar", "ca", "da", "de", "el", "es", "fi", "fr", "hu", "id", "it", "lt", "nl", "no", "pt", "ro", "ru",
                "sv", "ta", "tr", "xx",
            ]),
        ) {
            let language = Language::of(language);
            let mut analyzer = Analyzer::new(language);
            for _ in 0..2 {
                let mut terms = HashSet::new();
                analyzer.each_term_of_text(&text, |term| _ = terms.insert(term.to_owned()));
                prop_assert_eq!(&terms, &plain_terms(language, &text));
            }
        }
    }

    #[test]
    fn numbers_and_ids_are_not_remembered() {
        let mut analyzer = Analyzer::new(Language::of("en"));
        let found = terms(&mut analyzer, "<p>2026 v11 1f0c9f4be8a74adb9d pens b2b</p>");
        assert_eq!(found, ["2026", "v11", "1f0c9f4be8a74adb9d", "pen", "b2b"]);
        assert_eq!(analyzer.words.len(), 2);
    }

    #[test]
    fn remembered_words_are_bounded() {
        let mut analyzer = Analyzer { remembered_max: 100, ..Analyzer::new(Language::of("en")) };
        for number in 0..1000 {
            terms(
                &mut analyzer,
                &format!("<p>{number}first {number}second {}{number}</p>", "long".repeat(30)),
            );
            analyzer.stem(&format!("query{number}"));
            assert!(analyzer.words.len() <= 103 && analyzer.stems.all.len() <= analyzer.words.len());
            assert_eq!(analyzer.stems.numbers.len(), analyzer.stems.all.len());
        }
        assert!(analyzer.words.keys().all(|word| word.len() <= WRITTEN_BYTES_MAX));
    }
}
