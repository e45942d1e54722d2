//! The requested parts of the state.

use std::collections::HashSet;

/// A set of fetch types; they are mostly, but not all, types of events.
#[derive(Clone, Debug)]
pub struct Fetch(Option<HashSet<String>>);

impl Fetch {
    /// These types; all types if there is no list.
    pub fn new(words: Option<Vec<String>>) -> Self {
        Self(words.map(|words| words.into_iter().collect()))
    }

    /// Whether a type is requested.
    pub fn wants(&self, word: &str) -> bool {
        self.0.as_ref().is_none_or(|words| words.contains(word))
    }

    /// Whether no list was given.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }
}
