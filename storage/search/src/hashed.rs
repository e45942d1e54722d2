//! The words of messages that are not in the index yet, in little memory: hashes of their terms. They find what the index
//! would find.

use crate::analyzer::Analyzer;
use crate::query::Query;
use std::hash::{BuildHasher, RandomState};

/// Hashes terms with a random key, so that no text can be made to have another's hashes.
#[derive(Clone, Debug, Default)]
pub struct TermHasher(RandomState);

/// The terms of a message.
#[derive(Clone, Debug)]
pub struct HashedTerms(Box<[u64]>);

/// The terms of a word of a query; a message must have all of them.
#[derive(Clone, Debug)]
pub struct HashedWord(Vec<u64>);

impl TermHasher {
    /// The terms of a message, given as HTML.
    pub fn terms_of_html(&self, html: &str, analyzer: &mut Analyzer) -> HashedTerms {
        let mut hashes = Vec::with_capacity(32);
        analyzer.each_term_of_html(html, |term| {
            hashes.push(self.hash(term, false));
            // One character of a script without spaces finds all terms that begin with it.
            if let Some(first) = term.chars().next().filter(|first| !first.is_ascii()) {
                hashes.push(self.hash(first.encode_utf8(&mut [0; 4]), true));
            }
        });
        hashes.sort_unstable();
        hashes.dedup();
        HashedTerms(hashes.into())
    }

    /// The words of a query.
    pub fn words_of(&self, query: &Query) -> Vec<HashedWord> {
        let words = query.words.iter().map(|word| {
            let terms = word.terms().into_iter();
            HashedWord(terms.map(|term| self.hash(term, word.is_prefix())).collect())
        });
        words.collect()
    }

    fn hash(&self, term: &str, is_prefix: bool) -> u64 {
        self.0.hash_one((term, is_prefix))
    }
}

impl HashedTerms {
    /// Whether a message has a word.
    pub fn has(&self, word: &HashedWord) -> bool {
        !word.0.is_empty() && word.0.iter().all(|hash| self.0.binary_search(hash).is_ok())
    }

    /// The memory of the hashes, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
