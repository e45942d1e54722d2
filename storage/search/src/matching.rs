//! Which words of a query a text has, and where.

use crate::analyzer::Analyzer;
use crate::html::texts;
use crate::language::Language;
use crate::query::{Query, Word};
use crate::tokenizer::tokens;
use std::ops::Range;

/// The words of a query that a message has, one bit each.
pub type WordMask = u64;

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
    /// Part of an address: found, but not shown.
    pub is_hidden: bool,
}

/// Compares messages with one query.
#[derive(Debug)]
pub struct Matcher {
    query: Query,
    analyzer: Analyzer,
}

impl Matcher {
    /// A matcher for a search in texts of a language.
    pub fn new(text: &str, language: Language) -> Self {
        let mut analyzer = Analyzer::new(language);
        Self { query: Query::parse(text, &mut analyzer), analyzer }
    }

    /// What is searched.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Whether a message has everything that the query asks for.
    pub fn matches(&mut self, message: Searched<'_>) -> bool {
        if self.query.is_empty() {
            return false;
        }
        let all = self.query.words.iter().enumerate().fold(0, |all, (word, _)| all | bit(word));
        self.words_of(message) == all && self.has_phrases(message)
    }

    /// The words of the query that a message has.
    pub fn words_of(&mut self, message: Searched<'_>) -> WordMask {
        let mut found = 0;
        self.hits(message.topic, |hit| found |= bit(hit.word));
        for text in texts(message.rendered) {
            self.hits(text.text, |hit| found |= bit(hit.word));
        }
        found
    }

    fn has_phrases(&self, Searched { topic, content, .. }: Searched<'_>) -> bool {
        if self.query.phrases.is_empty() {
            return true;
        }
        let (topic, content) = (topic.to_lowercase(), content.to_lowercase());
        self.query.phrases.iter().all(|phrase| content.contains(phrase) || topic.contains(phrase))
    }

    /// The places of words in a plain text.
    pub(crate) fn hits(&mut self, text: &str, mut found: impl FnMut(Match)) {
        let addresses = addresses(text);
        let keeps_first = self.analyzer.language().keeps_first_letter();
        for token in tokens(text) {
            let word = &text[token.range.clone()];
            let is_hidden = addresses.iter().any(|address| address.contains(&token.range.start));
            let mut stem = None;
            for (number, wanted) in self.query.words.iter().enumerate() {
                match wanted {
                    Word::Run(run) if token.is_run => {
                        for (start, _) in word.match_indices(&**run) {
                            let start = token.range.start + start;
                            found(Match { word: number, range: start..start + run.len(), is_hidden: false });
                        }
                    }
                    Word::Stem(wanted) if !token.is_run => {
                        if keeps_first && differs_at_once(word, wanted) {
                            continue;
                        }
                        let stem = stem.get_or_insert_with(|| self.analyzer.stem(word));
                        if stem.as_ref() == Some(wanted) {
                            found(Match { word: number, range: token.range.clone(), is_hidden });
                        }
                    }
                    Word::Name(name, _) if !token.is_run => {
                        if let Some(length) = starts_with_name(&text[token.range.start..], name) {
                            let range = token.range.start..token.range.start + length;
                            found(Match { word: number, range, is_hidden: false });
                        }
                    }
                    Word::Run(_) | Word::Stem(_) | Word::Name(..) => {}
                }
            }
        }
    }
}

/// The bit of a word of a query.
fn bit(word: usize) -> WordMask {
    1 << (word % WordMask::BITS as usize)
}

/// A fast check that a word cannot have a stem.
fn differs_at_once(word: &str, stem: &str) -> bool {
    match (word.as_bytes().first(), stem.as_bytes().first()) {
        (Some(word), Some(stem)) if word.is_ascii() => word.to_ascii_lowercase() != *stem,
        _ => false,
    }
}

/// The length of a name at the beginning of a text, if the name ends with a word there.
fn starts_with_name(text: &str, name: &str) -> Option<usize> {
    let mut wanted = name.chars();
    let mut next = wanted.next();
    let mut length = 0;
    for c in text.chars() {
        if next.is_none() {
            return (!c.is_alphanumeric()).then_some(length);
        }
        for lower in c.to_lowercase() {
            if next != Some(lower) {
                return None;
            }
            next = wanted.next();
        }
        length += c.len_utf8();
    }
    next.is_none().then_some(length)
}

/// The addresses with a scheme in a text.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let start = from + at;
        let end = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
        found.push(start..end);
        from = end;
    }
    found
}
