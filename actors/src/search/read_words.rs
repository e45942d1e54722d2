//! The words of messages that searches have read because the index lacks them. They are kept until the index has the
//! messages, or until these change, so that each is read once.

use roaring::RoaringBitmap;
use search::{HashedTerms, HashedWord, TermHasher};
use std::collections::HashMap;

/// Memory of the words, for each organization; the words of further messages are not kept.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Memory of a message besides its words.
const MESSAGE_BYTES: usize = 48;

/// Words of messages, as hashes.
#[derive(Debug, Default)]
pub(super) struct ReadWords {
    pub hasher: TermHasher,
    messages: HashMap<u32, HashedTerms>,
    bytes: usize,
    /// How often messages changed that may be being read.
    pub changes: u64,
}

impl ReadWords {
    /// For each word, those of some messages that have it; and the messages that must be read to know.
    pub fn find(&self, ids: &RoaringBitmap, words: &[HashedWord]) -> (Vec<RoaringBitmap>, Vec<u32>) {
        let mut found = vec![RoaringBitmap::new(); words.len()];
        let mut unread = Vec::new();
        for id in ids {
            match self.messages.get(&id) {
                Some(terms) => note(&mut found, words, id, terms),
                None => unread.push(id),
            }
        }
        (found, unread)
    }

    /// Keeps the words of messages that were read, if none of them changed since `changes`.
    pub fn add(&mut self, changes: u64, messages: impl IntoIterator<Item = (u32, HashedTerms)>) {
        if changes != self.changes {
            return;
        }
        for (id, terms) in messages {
            let bytes = terms.bytes() + MESSAGE_BYTES;
            if self.bytes + bytes <= BYTES_MAX {
                self.remove(id);
                self.bytes += bytes;
                self.messages.insert(id, terms);
            }
        }
    }

    /// Forgets messages, which changed or are gone.
    pub fn forget(&mut self, ids: &RoaringBitmap) {
        if ids.len() < self.messages.len() as u64 {
            ids.iter().for_each(|id| self.remove(id));
        } else {
            self.keep(|id| !ids.contains(id));
        }
    }

    /// Forgets the others.
    pub fn keep(&mut self, is_kept: impl Fn(u32) -> bool) {
        self.messages.retain(|id, _| is_kept(*id));
        self.bytes = self.messages.values().map(|terms| terms.bytes() + MESSAGE_BYTES).sum();
    }

    fn remove(&mut self, id: u32) {
        if let Some(terms) = self.messages.remove(&id) {
            self.bytes = self.bytes.saturating_sub(terms.bytes() + MESSAGE_BYTES);
        }
    }
}

/// Adds a message to the sets of the words that it has.
pub(super) fn note(found: &mut [RoaringBitmap], words: &[HashedWord], id: u32, terms: &HashedTerms) {
    for (found, _) in found.iter_mut().zip(words).filter(|(_, word)| terms.has(word)) {
        found.insert(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::{Analyzer, Language, Query};

    fn found(words: &ReadWords, ids: &RoaringBitmap, text: &str) -> (Vec<u32>, Vec<u32>) {
        let query = Query::parse(text, &mut Analyzer::new(Language::of("en")));
        let (found, unread) = words.find(ids, &words.hasher.words_of(&query));
        (found.into_iter().flatten().collect(), unread)
    }

    #[test]
    fn words_are_kept_until_messages_change() {
        let (mut words, mut analyzer) = (ReadWords::default(), Analyzer::new(Language::of("en")));
        let read = |words: &ReadWords, id: u32, text: &str, analyzer: &mut Analyzer| {
            (id, words.hasher.terms_of_html(text, analyzer))
        };
        let ids: RoaringBitmap = (1..=3).collect();
        assert_eq!(found(&words, &ids, "quokka"), (vec![], vec![1, 2, 3]));
        let messages =
            [(1, "<p>quokkas</p>"), (2, "moon")].map(|(id, text)| read(&words, id, text, &mut analyzer));
        words.add(0, messages);
        assert_eq!(found(&words, &ids, "quokka"), (vec![1], vec![3]));
        words.forget(&[1].into_iter().collect());
        assert_eq!(found(&words, &ids, "quokka"), (vec![], vec![1, 3]));
        // It was read before it changed.
        words.changes += 1;
        let stale = read(&words, 1, "quokka", &mut analyzer);
        words.add(0, [stale]);
        assert_eq!(found(&words, &ids, "quokka"), (vec![], vec![1, 3]));
        words.keep(|_| false);
        assert_eq!((found(&words, &ids, "moon").1, words.bytes), (vec![1, 2, 3], 0));
    }

    #[test]
    fn memory_of_the_words_is_bounded() {
        let (mut words, mut analyzer) = (ReadWords::default(), Analyzer::new(Language::of("en")));
        let text: String = (0..2000).map(|number| format!("word{number} ")).collect();
        let terms = words.hasher.terms_of_html(&text, &mut analyzer);
        words.add(0, (0..1000).map(|id| (id, terms.clone())));
        assert!(words.bytes <= BYTES_MAX && words.bytes > BYTES_MAX / 2, "{}", words.bytes);
        let (_, unread) = found(&words, &(0..1000).collect(), "word7");
        assert_eq!(unread.len(), 1000 - words.messages.len());
    }
}
