//! From texts to terms: words are folded to lower case and stemmed, stop words are left out.

use crate::html::texts;
use crate::language::Language;
use crate::words::{fold, pieces, run_terms};
use frostem::Stemmer;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use tantivy::tokenizer::{RawTokenizer, TextAnalyzer, TokenStream};

/// Stems that are remembered; then all are forgotten.
const REMEMBERED_MAX: usize = 20_000;

/// Divides texts into terms. It remembers stems, so use one for many texts.
pub struct Analyzer {
    language: Language,
    stemmer: Option<Stemmer>,
    stop_words: TextAnalyzer,
    /// Words in lower case, with their stem; none for stop words.
    stems: HashMap<Box<str>, Option<Arc<str>>>,
    folded: String,
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
            stems: HashMap::new(),
            folded: String::new(),
        }
    }

    /// The language of the texts.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The stem of a word; none for stop words.
    pub(crate) fn stem(&mut self, word: &str) -> Option<Arc<str>> {
        let mut folded = std::mem::take(&mut self.folded);
        fold(word, &mut folded);
        let stem = match self.stems.get(folded.as_str()) {
            Some(stem) => stem.clone(),
            None => {
                let stem = self.compute(&folded);
                if self.stems.len() >= REMEMBERED_MAX {
                    self.stems.clear();
                }
                self.stems.insert(folded.as_str().into(), stem.clone());
                stem
            }
        };
        self.folded = folded;
        stem
    }

    fn compute(&mut self, word: &str) -> Option<Arc<str>> {
        if !self.stop_words.token_stream(word).advance() {
            return None;
        }
        let stem = self.stemmer.as_ref().map(|stemmer| stemmer.stem(word));
        Some(stem.filter(|stem| !stem.is_empty()).as_deref().unwrap_or(word).into())
    }

    /// Adds the terms of a plain text, each once.
    pub(crate) fn add_terms(&mut self, text: &str, terms: &mut HashSet<Arc<str>>) {
        for piece in pieces(text) {
            let word = &text[piece.range];
            if piece.is_run {
                terms.extend(run_terms(word).map(Arc::from));
            } else {
                terms.extend(self.stem(word));
            }
        }
    }

    /// The terms of a message's HTML, separated by blanks.
    pub(crate) fn terms_of_html(&mut self, html: &str) -> String {
        let mut joined = String::with_capacity(html.len());
        for term in self.each_term_of_html(html) {
            joined.push_str(&term);
            joined.push(' ');
        }
        joined
    }

    /// The terms of a message's HTML, each once.
    pub(crate) fn each_term_of_html(&mut self, html: &str) -> HashSet<Arc<str>> {
        let mut terms = HashSet::new();
        for text in texts(html) {
            self.add_terms(text.text, &mut terms);
        }
        terms
    }
}
