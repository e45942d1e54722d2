//! Formulas that were rendered lately, with their HTML: a formula is rendered once for a message, its edits, and texts that are
//! rendered again. Bounded: what was not used since as many bytes were added is forgotten.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum bytes of formulas that were added or used since the older ones; there are at most twice as many in all.
const BYTES_MAX: usize = 4 << 20;
/// Memory of an entry besides its texts, in bytes.
const ENTRY_BYTES: usize = 100;

/// A rendered formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Formula {
    /// `None` if it has an error or exceeds a bound.
    pub html: Option<Arc<str>>,
    /// The steps that rendering it took, of the budget of a message.
    pub steps: u32,
}

/// Whether it is a block, and the TeX.
type Key = (bool, Arc<str>);

/// The formulas, in two parts: the newer one becomes the older one when it is full.
#[derive(Debug)]
pub(super) struct KnownFormulas {
    newer: BTreeMap<Key, Formula>,
    older: BTreeMap<Key, Formula>,
    newer_bytes: usize,
}

impl KnownFormulas {
    /// No formula is known yet.
    pub const fn new() -> Self {
        Self { newer: BTreeMap::new(), older: BTreeMap::new(), newer_bytes: 0 }
    }

    /// A formula that was rendered before.
    pub fn get(&mut self, tex: &str, is_block: bool) -> Option<Formula> {
        let key = (is_block, Arc::from(tex));
        if let Some(known) = self.newer.get(&key) {
            return Some(known.clone());
        }
        let known = self.older.remove(&key)?;
        self.put(key, known.clone());
        Some(known)
    }

    /// Adds a formula that was rendered.
    pub fn add(&mut self, tex: &str, is_block: bool, formula: Formula) {
        self.put((is_block, Arc::from(tex)), formula);
    }

    fn put(&mut self, key: Key, formula: Formula) {
        let bytes = ENTRY_BYTES + key.1.len() + formula.html.as_ref().map_or(0, |html| html.len());
        if bytes > BYTES_MAX {
            return;
        }
        if self.newer_bytes + bytes > BYTES_MAX {
            self.older = std::mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
        if self.newer.insert(key, formula).is_none() {
            self.newer_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(bytes: usize) -> Formula {
        Formula { html: Some("x".repeat(bytes).into()), steps: 2 }
    }

    #[test]
    fn inline_formula_is_not_the_block() {
        let mut known = KnownFormulas::new();
        known.add("x", false, formula(1));
        assert_eq!((known.get("x", false), known.get("x", true)), (Some(formula(1)), None));
    }

    #[test]
    fn bytes_are_bounded_and_what_is_used_stays() {
        let mut known = KnownFormulas::new();
        known.add("used", false, formula(10));
        for number in 0..100 {
            known.add(&number.to_string(), false, formula(BYTES_MAX / 8));
            assert!(known.get("used", false).is_some(), "{number}");
            assert!(known.newer_bytes <= BYTES_MAX);
            assert!(known.newer.len() + known.older.len() <= 2 * 8);
        }
        assert!(known.get("0", false).is_none() && known.get("99", false).is_some());
        known.add("large", false, formula(BYTES_MAX));
        assert_eq!(known.get("large", false), None);
    }
}
