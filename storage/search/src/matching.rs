//! Which words of a query a text has, and where.

use crate::analyzer::Analyzer;
use crate::html::texts;
use crate::language::Language;
use crate::names::Names;
use crate::query::{Query, Word, WordMask, bit};
use crate::tokenizer::tokens;
use foldhash::fast::RandomState;
use memchr::memmem::Finder;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A message as it is searched.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'m> {
    /// Empty for direct messages.
    pub topic: &'m str,
    /// As it was typed.
    pub content: &'m str,
    /// The content as HTML.
    pub rendered: &'m str,
}

/// A word of the query in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// Its number in the query.
    pub word: usize,
    pub range: Range<usize>,
    /// One word, which may be a part of an address.
    pub is_part: bool,
}

/// Compares messages with one query: a message is divided into words once, each of which is looked up among those of the query.
#[derive(Debug)]
pub struct Matcher {
    query: Query,
    analyzer: Analyzer,
    /// The numbers of the query's stems.
    stems: HashMap<Arc<str>, usize, RandomState>,
    /// The first bytes of the stems.
    firsts: Vec<u8>,
    runs: Vec<(usize, Finder<'static>)>,
    names: Names,
    phrases: Vec<Finder<'static>>,
}

impl Matcher {
    /// A matcher for a search in texts of a language.
    pub fn new(text: &str, language: Language) -> Self {
        let mut analyzer = Analyzer::new(language);
        let query = Query::parse(text, &mut analyzer);
        let (mut stems, mut runs) = (HashMap::default(), Vec::new());
        for (number, word) in query.words.iter().enumerate() {
            match word {
                Word::Stem(stem) => _ = stems.insert(stem.clone(), number),
                Word::Run(run) => runs.push((number, Finder::new(&**run).into_owned())),
                Word::Name(..) => {}
            }
        }
        let firsts = stems.keys().filter_map(|stem: &Arc<str>| stem.as_bytes().first().copied()).collect();
        let names = Names::of(&query.words);
        let phrases = query.phrases.iter().map(|phrase| Finder::new(phrase).into_owned()).collect();
        Self { query, analyzer, stems, firsts, runs, names, phrases }
    }

    /// What is searched.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Whether a message has everything that the query asks for.
    pub fn matches(&mut self, message: Searched<'_>) -> bool {
        !self.query.is_empty() && self.has_phrases(message) && self.words_of(message) == self.all_words()
    }

    fn all_words(&self) -> WordMask {
        (0..self.query.words.len()).fold(0, |all, word| all | bit(word))
    }

    /// The words of the query that a message has.
    pub fn words_of(&mut self, message: Searched<'_>) -> WordMask {
        let all = self.all_words();
        let found = Cell::new(0);
        for text in std::iter::once(message.topic).chain(texts(message.rendered).map(|text| text.text)) {
            self.hits(text, || found.get(), |hit| found.set(found.get() | bit(hit.word)));
            if found.get() == all {
                break;
            }
        }
        found.get()
    }

    fn has_phrases(&self, Searched { topic, content, .. }: Searched<'_>) -> bool {
        if self.phrases.is_empty() {
            return true;
        }
        let (topic, content) = (topic.to_lowercase(), content.to_lowercase());
        let has = |text: &str, phrase: &Finder<'_>| phrase.find(text.as_bytes()).is_some();
        self.phrases.iter().all(|phrase| has(&content, phrase) || has(&topic, phrase))
    }

    /// The places of words in a plain text; those of words that are known to be there may be left out. The places of parts ascend.
    pub(crate) fn hits(&mut self, text: &str, known: impl Fn() -> WordMask, mut found: impl FnMut(Match)) {
        self.names.each(text, &known, |word, range| found(Match { word, range, is_part: false }));
        let of_tokens = self
            .stems
            .values()
            .chain(self.runs.iter().map(|(number, _)| number))
            .fold(0, |all, n| all | bit(*n));
        let keeps_first = self.analyzer.language().keeps_first_letter();
        for token in tokens(text) {
            if of_tokens & !known() == 0 {
                break;
            }
            let word = &text[token.range.clone()];
            if token.is_run {
                for (number, run) in self.runs.iter().filter(|(number, _)| known() & bit(*number) == 0) {
                    for start in run.find_iter(word.as_bytes()) {
                        let start = token.range.start + start;
                        let range = start..start + run.needle().len();
                        found(Match { word: *number, range, is_part: false });
                    }
                }
            } else if !(keeps_first && differs_at_once(word, &self.firsts))
                && let Some(stem) = self.analyzer.stem(word)
                && let Some(number) = self.stems.get(&stem)
            {
                found(Match { word: *number, range: token.range, is_part: true });
            }
        }
    }
}

/// A fast check that a word cannot have a stem that begins with any of these bytes.
fn differs_at_once(word: &str, firsts: &[u8]) -> bool {
    match word.as_bytes().first() {
        Some(first) if word.is_ascii() => !firsts.contains(&first.to_ascii_lowercase()),
        _ => false,
    }
}
