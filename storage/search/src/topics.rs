//! The words of topic names, in memory: moving messages to another topic changes no index.

use crate::analyzer::Analyzer;
use crate::language::Language;
use crate::query::{Query, Word};
use model::{ChannelId, TopicKey};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

/// A topic of a channel.
pub type Topic = (ChannelId, TopicKey);

/// The topics of an organization by their words. It may have topics that no longer exist.
#[derive(Debug)]
pub struct TopicWords {
    analyzer: Analyzer,
    numbers: HashMap<Topic, u32>,
    topics: Vec<Topic>,
    /// Ascending numbers of topics.
    by_term: BTreeMap<Arc<str>, Vec<u32>>,
}

impl TopicWords {
    /// No topics yet.
    pub fn new(language: Language) -> Self {
        Self {
            analyzer: Analyzer::new(language),
            numbers: HashMap::new(),
            topics: Vec::new(),
            by_term: BTreeMap::new(),
        }
    }

    /// How many topics it has.
    pub fn len(&self) -> usize {
        self.topics.len()
    }

    /// Whether it has no topics.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// Adds a topic. Adding it again changes nothing.
    pub fn add(&mut self, topic: Topic) {
        if self.numbers.contains_key(&topic) {
            return;
        }
        let number = u32::try_from(self.topics.len()).unwrap_or(u32::MAX);
        let by_term = &mut self.by_term;
        self.analyzer.each_term_of_text(topic.1.as_str(), |term| match by_term.get_mut(term) {
            Some(numbers) if numbers.last() == Some(&number) => {}
            Some(numbers) => numbers.push(number),
            None => _ = by_term.insert(term.into(), vec![number]),
        });
        self.numbers.insert(topic.clone(), number);
        self.topics.push(topic);
    }

    /// For each word of a query, the topics that have it.
    pub fn of(&self, query: &Query) -> Vec<Vec<Topic>> {
        query.words.iter().map(|word| self.with_word(word)).collect()
    }

    fn with_word(&self, word: &Word) -> Vec<Topic> {
        let terms = word.terms();
        let numbers: Vec<u32> = match terms.as_slice() {
            [prefix] if word.is_prefix() => {
                let terms = self.by_term.range::<str, _>((Bound::Included(*prefix), Bound::Unbounded));
                let terms = terms.take_while(|(term, _)| term.starts_with(prefix));
                let numbers: HashSet<u32> = terms.flat_map(|(_, numbers)| numbers.iter().copied()).collect();
                numbers.into_iter().collect()
            }
            [] => Vec::new(),
            [first, others @ ..] => {
                let others: Vec<&[u32]> = others.iter().map(|term| self.with_term(term)).collect();
                let has_all = |number: &u32| others.iter().all(|list| list.binary_search(number).is_ok());
                self.with_term(first).iter().copied().filter(has_all).collect()
            }
        };
        numbers.iter().filter_map(|number| self.topics.get(*number as usize).cloned()).collect()
    }

    fn with_term(&self, term: &str) -> &[u32] {
        self.by_term.get(term).map(Vec::as_slice).unwrap_or_default()
    }
}
