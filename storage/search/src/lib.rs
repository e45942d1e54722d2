//! Full-text search: what the words of a text are, the index of words, and highlighting.
//!
//! `analyzer` and `tokenizer` divide text into words and stem them; the same code does it for messages, for queries and for
//! highlights. `index` is the index on disk: for each word, the ids of the messages that have it, and nothing else; `reader` looks words
//! up in it. `hashed` has the words of messages that are not in it yet. It is a
//! projection of the journal: it states the sequence that it reflects, and can be rebuilt at any time. `topics` has the words
//! of topic names. Nothing here knows who may read what: results are candidates.

mod analyzer;
mod document;
mod error;
mod files;
mod hashed;
mod highlight;
mod html;
mod index;
mod inspect;
mod language;
mod matching;
mod names;
mod query;
mod reader;
mod schema;
mod stop_words;
mod tokenizer;
mod topics;

#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod tests;

pub use analyzer::Analyzer;
pub use error::SearchError;
pub use hashed::{HashedTerms, HashedWord, TermHasher};
pub use highlight::Highlighter;
pub use index::{Identity, Index, Merges, VERSION, Writer};
pub use inspect::{Inspected, inspect};
pub use language::Language;
pub use matching::{Matcher, Searched};
pub use query::{Query, WORDS_MAX, Word, WordMask};
pub use reader::Reader;
pub use topics::{Topic, TopicWords};
