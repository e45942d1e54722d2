//! Mistakes of a seed, with the entries that they are in.

use super::document_path::{At, DocumentPath};
use std::collections::HashSet;
use std::fmt::Display;

/// A mistake, and where it is.
pub(super) struct Mistake {
    pub why: String,
    pub path: DocumentPath,
}

impl Mistake {
    /// A mistake in an entry.
    pub fn new(at: &At<'_>, why: impl Into<String>) -> Self {
        Self { why: why.into(), path: at.path() }
    }
}

/// The outcome of checking an entry.
pub(super) type Checked = Result<(), Mistake>;

/// Refuses an entry.
pub(super) fn refuse(at: &At<'_>, why: impl Into<String>) -> Checked {
    Err(Mistake::new(at, why))
}

/// Checks the entries of a list.
pub(super) fn each<T>(at: &At<'_>, list: &[T], check: impl Fn(&At<'_>, &T) -> Checked) -> Checked {
    list.iter().enumerate().try_for_each(|(number, item)| check(&at.entry(number), item))
}

/// Refuses a text that an endpoint of the API refuses, or would store in another form.
pub(super) fn stored_as_written(
    at: &At<'_>,
    text: &str,
    parsed: Result<impl AsRef<str>, impl Display>,
) -> Checked {
    match parsed {
        Ok(stored) if stored.as_ref() == text => Ok(()),
        Ok(stored) => refuse(at, format!("`{text}` must be written as `{}`", stored.as_ref())),
        Err(error) => refuse(at, error.to_string()),
    }
}

/// Refuses an entry that an endpoint of the API refuses.
pub(super) fn accepted<T>(at: &At<'_>, checked: Result<T, impl Display>) -> Result<T, Mistake> {
    checked.map_err(|error| Mistake::new(at, error.to_string()))
}

/// Names of which no two may differ only in case.
#[derive(Default)]
pub(super) struct Unique<'s> {
    pub exact: HashSet<&'s str>,
    folded: HashSet<String>,
}

impl<'s> Unique<'s> {
    /// Adds a name; `why` is the refusal of one that is known.
    pub fn add(&mut self, at: &At<'_>, name: &'s str, why: impl FnOnce() -> String) -> Checked {
        self.exact.insert(name);
        if self.folded.insert(name.to_lowercase()) { Ok(()) } else { refuse(at, why()) }
    }
}
