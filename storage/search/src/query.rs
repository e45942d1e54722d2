//! What a search asks for: words that a message must have, all of them, and quoted phrases.

use crate::analyzer::Analyzer;
use crate::tokenizer::{Token, run_terms, tokens};
use std::ops::Range;
use std::sync::Arc;

/// Words of a search that count; further ones are ignored.
pub const WORDS_MAX: usize = 64;

/// Characters that join words to one name, such as a host, a path or a version.
const JOINERS: &str = "._/:@=?%#+~";

/// Characters that are entities in HTML, where a text ends.
const ENTITIES: [char; 5] = ['&', '<', '>', '"', '\''];

/// Some words of a query, one bit each.
pub type WordMask = u64;

/// The bit of a word of a query.
pub(crate) fn bit(word: usize) -> WordMask {
    1 << (word % WordMask::BITS as usize)
}

/// One condition of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A word with this stem.
    Stem(Arc<str>),
    /// A name of several words, such as `example.com`, in lower case; with the stems of its words.
    Name(Arc<str>, Vec<Arc<str>>),
    /// A run of characters of a script without spaces.
    Run(Arc<str>),
}

impl Word {
    /// Index terms that a message with this word has. The first one alone may be the beginning of a term: see `is_prefix`.
    pub fn terms(&self) -> Vec<&str> {
        match self {
            Self::Stem(stem) => vec![stem],
            Self::Name(_, stems) => stems.iter().map(|stem| &**stem).collect(),
            Self::Run(run) => {
                let pairs = run.chars().count().saturating_sub(1).max(1);
                run_terms(run).take(pairs).collect()
            }
        }
    }

    /// Whether any term that begins with its only term is one.
    pub fn is_prefix(&self) -> bool {
        match self {
            Self::Run(run) => run.chars().count() == 1,
            Self::Stem(_) | Self::Name(..) => false,
        }
    }

    /// Whether a message with all terms may still lack the word.
    fn needs_check(&self) -> bool {
        match self {
            Self::Run(run) => run.chars().count() > 2,
            Self::Name(..) => true,
            Self::Stem(_) => false,
        }
    }
}

/// A parsed search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// A message must have all of these, in its topic or its content.
    pub words: Vec<Word>,
    /// And all of these texts, in lower case, in its topic or in its content as it was typed.
    pub phrases: Vec<String>,
}

impl Query {
    /// Parses the text of a search.
    pub fn parse(text: &str, analyzer: &mut Analyzer) -> Self {
        let mut query = Self::default();
        for term in terms(text) {
            match term.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
                Some(phrase) => {
                    query.add_phrase(phrase.to_lowercase());
                    query.add_words(phrase, analyzer);
                }
                None => query.add_words(term, analyzer),
            }
        }
        query
    }

    /// Whether it has no words besides stop words; then it finds nothing.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether messages that have all terms must be read to be sure.
    pub fn needs_check(&self) -> bool {
        !self.phrases.is_empty() || self.words.iter().any(Word::needs_check)
    }

    fn add_words(&mut self, text: &str, analyzer: &mut Analyzer) {
        let text = without_tags(text);
        for chunk in text.split_whitespace() {
            let found: Vec<Token> = tokens(chunk).collect();
            if let [first, .., last] = found.as_slice()
                && is_name(chunk, &found)
            {
                let (start, end) = (first.range.start, last.range.end);
                let stems: Vec<Arc<str>> =
                    found.iter().filter_map(|token| analyzer.stem(&chunk[token.range.clone()])).collect();
                if !stems.is_empty() {
                    let name: String = chunk[start..end].chars().flat_map(char::to_lowercase).collect();
                    self.add(Word::Name(name.into(), stems));
                }
                continue;
            }
            for Token { range, is_run } in found {
                let word = &chunk[range];
                match is_run {
                    true => self.add(Word::Run(word.into())),
                    false => self.add_stem(analyzer.stem(word)),
                }
            }
        }
    }

    fn add_phrase(&mut self, phrase: String) {
        if !phrase.is_empty() && !self.phrases.contains(&phrase) {
            self.phrases.push(phrase);
        }
    }

    fn add_stem(&mut self, stem: Option<Arc<str>>) {
        if let Some(stem) = stem {
            self.add(Word::Stem(stem));
        }
    }

    fn add(&mut self, word: Word) {
        if self.words.len() < WORDS_MAX && !self.words.contains(&word) {
            self.words.push(word);
        }
    }
}

/// Quoted phrases with their quotes, and words between spaces.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.find('"')).filter(|length| *length > 0);
        let end = match (first, quoted) {
            ('"', Some(length)) => length + 2,
            _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (term, after) = rest.split_at(end);
        rest = after;
        Some(term)
    })
}

/// Text without anything that looks like an HTML tag, which is no text of a message.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let inner = &rest[start + 1..];
        let is_tag = inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        match inner.find('>').filter(|_| is_tag) {
            Some(end) => {
                kept.push_str(&rest[..start]);
                kept.push(' ');
                rest = &inner[end + 1..];
            }
            None => {
                kept.push_str(&rest[..=start]);
                rest = inner;
            }
        }
    }
    kept + rest
}

/// Whether a text without spaces is one name, such as a host or a path.
fn is_name(chunk: &str, found: &[Token]) -> bool {
    let between = |gap: Range<usize>| chunk[gap].chars().all(|c| JOINERS.contains(c));
    found.len() > 1
        && found.iter().all(|token| !token.is_run)
        && !chunk.contains(ENTITIES)
        && (chunk.contains("://")
            || found.windows(2).all(|pair| between(pair[0].range.end..pair[1].range.start)))
}
