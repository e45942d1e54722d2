//! The requested parts of the state.

use std::collections::HashSet;

/// A set of fetch types; they are mostly, but not all, types of events.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// None for all types.
    words: Option<HashSet<String>>,
    /// A type that is left out of all types.
    without: Option<&'static str>,
}

impl Fetch {
    /// These types; all types if there is no list.
    pub fn new(words: Option<Vec<String>>) -> Self {
        Self { words: words.map(|words| words.into_iter().collect()), without: None }
    }

    /// All types but this one.
    pub fn all_without(word: &'static str) -> Self {
        Self { words: None, without: Some(word) }
    }

    /// These types without one of them.
    pub fn leaving_out(self, word: &'static str) -> Self {
        Self { without: Some(word), ..self }
    }

    /// Whether a type is requested.
    pub fn wants(&self, word: &str) -> bool {
        self.without != Some(word) && self.words.as_ref().is_none_or(|words| words.contains(word))
    }

    /// Whether no list was given.
    pub fn is_everything(&self) -> bool {
        self.words.is_none()
    }
}
