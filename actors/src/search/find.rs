//! Looking up the text of a search. The result is candidates in the whole organization: queries intersect them with what
//! the requester may read, like any other term of a narrow.

use super::partial::{LIMITS, Partial};
use super::{OPENING_WAIT, State, TAIL_MAX, read_words};
use crate::error::DomainError;
use crate::queries::{FetchedMessage, MessageSnapshot};
use crate::shared::RealmShared;
use model::{Message, MessageId, Place, TopicKey};
use parking_lot::MutexGuard;
use roaring::{MultiOps, RoaringBitmap};
use search::{
    Analyzer, HashedTerms, Highlighter, Language, Matcher, SearchError, Searched, TermHasher, Topic,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Instant;
use storage::View;

/// Messages that are read at a time.
const READ_MAX: usize = 512;

/// Messages that one search may read to find a phrase.
const CHECKED_MAX: u64 = 100_000;

/// The messages that match the text of a search, or may match it.
#[derive(Debug)]
pub struct SearchCandidates {
    text: String,
    language: Language,
    matcher: Matcher,
    /// For each word: messages whose content has it.
    contents: Vec<RoaringBitmap>,
    /// For each word: topics that have it.
    topics: Vec<Vec<Topic>>,
    /// What is known of the index; none if `contents` has everything that matters.
    partial: Option<Partial>,
    /// Messages that were read, and match.
    confirmed: RoaringBitmap,
    /// Messages that were read, and do not match.
    rejected: RoaringBitmap,
}

/// Looks up a text. Blocks on the disk.
///
/// # Errors
/// `SearchUnavailable`, `SearchNotReady`, `Storage`.
pub(crate) fn find(realm: &RealmShared, text: &str) -> Result<SearchCandidates, DomainError> {
    if realm.search.folder.is_none() {
        return Err(rules::RuleError::SearchUnavailable.into());
    }
    let mut state = opened(realm)?;
    state.absorb(&mut realm.search.pending_changes.lock());
    let missing = state.missing();
    if missing.len() > TAIL_MAX {
        return Err(DomainError::SearchNotReady);
    }
    let language = state.language;
    let reader = state.index.as_ref().map(|index| index.reader());
    let matcher = Matcher::new(text, language);
    let (hasher, changes) = (state.words.hasher.clone(), state.words.changes);
    let words = hasher.words_of(matcher.query());
    let (mut contents, unread) = state.words.find(&missing, &words);
    let mut topics = state.topics.of(matcher.query());
    drop(state);
    if !unread.is_empty() {
        let Unindexed { messages, topics: theirs } = read_unindexed(realm, &unread, &hasher, language)?;
        messages.iter().for_each(|(id, terms)| read_words::note(&mut contents, &words, *id, terms));
        let mut state = realm.search.state.lock();
        state.absorb(&mut realm.search.pending_changes.lock());
        theirs.into_iter().for_each(|topic| state.topics.add(topic));
        state.words.add(changes, messages);
        topics = state.topics.of(matcher.query());
    }
    let newest = realm.view.read().messages.all.max().unwrap_or_default();
    let partial = match reader {
        None => None,
        Some(reader) => {
            let state = (missing, newest);
            let started = Partial::start(reader, matcher.query(), &topics, state, &mut contents, &LIMITS);
            started.map_err(|error| damaged(realm, &error))?
        }
    };
    let (confirmed, rejected) = Default::default();
    Ok(SearchCandidates {
        text: text.to_owned(),
        language,
        matcher,
        contents,
        topics,
        partial,
        confirmed,
        rejected,
    })
}

/// What messages say that the index lacks.
struct Unindexed {
    messages: Vec<(u32, HashedTerms)>,
    topics: HashSet<Topic>,
}

fn read_unindexed(
    realm: &RealmShared,
    ids: &[u32],
    hasher: &TermHasher,
    language: Language,
) -> Result<Unindexed, DomainError> {
    let mut analyzer = Analyzer::new(language);
    let mut found = Unindexed { messages: Vec::with_capacity(ids.len()), topics: HashSet::new() };
    for ids in ids.chunks(READ_MAX) {
        for FetchedMessage { message, .. } in read(realm, ids)? {
            found.messages.push((message.id.0, hasher.terms_of_html(&message.rendered, &mut analyzer)));
            if let Place::Channel { channel, topic } = &message.place {
                found.topics.insert((*channel, TopicKey::new(topic)));
            }
        }
    }
    Ok(found)
}

/// Forgets an index that cannot be read.
fn damaged(realm: &RealmShared, error: &SearchError) -> DomainError {
    tracing::error!(%error, realm = realm.id.0, "the search index cannot be read; it is made anew");
    realm.search.state.lock().start_over(&realm.view.read());
    DomainError::SearchNotReady
}

/// The state, as soon as the index was opened.
fn opened(realm: &RealmShared) -> Result<MutexGuard<'_, State>, DomainError> {
    let until = Instant::now() + OPENING_WAIT;
    let mut state = realm.search.state.lock();
    while !state.is_open {
        if realm.search.opened.wait_until(&mut state, until).timed_out() {
            return Err(DomainError::SearchNotReady);
        }
    }
    Ok(state)
}

fn read(realm: &RealmShared, ids: &[u32]) -> Result<Vec<FetchedMessage>, DomainError> {
    let snapshot = {
        let view = realm.view.read();
        let ids = ids.iter().filter(|id| view.messages.all.contains(**id));
        MessageSnapshot::take(&view, None, &ids.copied().map(MessageId).collect::<Vec<_>>())
    };
    snapshot.read_once(realm)
}

fn searched(message: &Message) -> Searched<'_> {
    Searched { topic: message.place.topic(), content: &message.content, rendered: &message.rendered }
}

impl SearchCandidates {
    /// The messages that may match, in the whole organization.
    pub(crate) fn messages(&self, view: &View) -> RoaringBitmap {
        let mut words: Vec<Cow<'_, RoaringBitmap>> = self
            .contents
            .iter()
            .zip(&self.topics)
            .map(|(ids, topics)| with_topics(view, ids, topics))
            .collect();
        words.sort_unstable_by_key(|ids| ids.len());
        let mut found = words.iter().map(|ids| &**ids).intersection();
        found -= &self.rejected;
        if let Some(partial) = &self.partial {
            found |= partial.unknown(&view.messages.all);
        }
        found
    }

    /// Whether the index must be read for some messages.
    pub fn needs_lookup(&self, ids: &[MessageId]) -> bool {
        self.partial.as_ref().is_some_and(|partial| ids.iter().any(|id| !partial.knows(id.0)))
    }

    /// Those of some messages that must be looked up or read to know whether they match.
    pub fn unverified(&self, ids: impl IntoIterator<Item = MessageId>) -> Vec<MessageId> {
        let needs_check = self.matcher.query().needs_check();
        let is_looked_up = |id: u32| self.partial.as_ref().is_none_or(|partial| partial.knows(id));
        let is_checked = |id: u32| !needs_check || self.confirmed.contains(id) || self.rejected.contains(id);
        ids.into_iter().filter(|id| !is_looked_up(id.0) || !is_checked(id.0)).collect()
    }

    /// Looks messages up in the index; if it was read for all of them, reads them to learn whether they match.
    /// Blocks on the disk.
    ///
    /// # Errors
    /// `SearchTooBroad`, `Storage`.
    pub(crate) fn check(&mut self, realm: &RealmShared, ids: &[MessageId]) -> Result<(), DomainError> {
        let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
        if self.look_up(&ids).map_err(|error| damaged(realm, &error))? {
            return Ok(());
        }
        if self.rejected.len() > CHECKED_MAX {
            return Err(DomainError::SearchTooBroad);
        }
        for ids in ids.chunks(READ_MAX) {
            for FetchedMessage { message, .. } in read(realm, ids)? {
                if self.matcher.matches(searched(&message)) {
                    self.confirmed.insert(message.id.0);
                }
            }
        }
        self.rejected.extend(ids.into_iter().filter(|id| !self.confirmed.contains(*id)));
        Ok(())
    }

    /// False if the words of all these messages are known already.
    fn look_up(&mut self, ids: &[u32]) -> Result<bool, SearchError> {
        let Some(partial) = &mut self.partial else { return Ok(false) };
        let unknown: Vec<u32> = ids.iter().copied().filter(|id| !partial.knows(*id)).collect();
        if unknown.is_empty() {
            return Ok(false);
        }
        if !partial.look_up(self.matcher.query(), &unknown, &mut self.contents)? {
            self.partial = None;
        }
        Ok(true)
    }

    /// A highlighter for the messages that are shown.
    pub fn highlighter(&self) -> Highlighter {
        Highlighter::new(&self.text, self.language)
    }
}

/// The messages that have a word in their content or topic.
fn with_topics<'f>(view: &View, ids: &'f RoaringBitmap, topics: &[Topic]) -> Cow<'f, RoaringBitmap> {
    let found = topics.iter().filter_map(|(channel, topic)| view.messages.topic(*channel, topic));
    let found = found.map(|topic| &topic.ids).union();
    if found.is_empty() { Cow::Borrowed(ids) } else { Cow::Owned(found | ids) }
}
