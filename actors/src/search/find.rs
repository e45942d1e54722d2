//! Looking up the text of a search. The result is candidates in the whole organization: queries intersect them with what
//! the requester may read, like any other term of a narrow.

use super::{OPENING_WAIT, State, TAIL_MAX};
use crate::error::DomainError;
use crate::queries::{FetchedMessage, MessageSnapshot};
use crate::shared::RealmShared;
use model::{Message, MessageId};
use parking_lot::MutexGuard;
use roaring::{MultiOps, RoaringBitmap};
use search::{Highlighter, Language, Matcher, Searched, Topic};
use std::borrow::Cow;
use std::time::Instant;
use storage::View;

/// Messages that are read at a time.
const READ_MAX: usize = 512;

/// Messages that one search may read to find a phrase.
const CHECKED_MAX: u64 = 100_000;

/// The messages that match the text of a search, or may match it.
#[derive(Debug)]
pub struct Found {
    text: String,
    language: Language,
    matcher: Matcher,
    /// For each word: messages whose content has it.
    contents: Vec<RoaringBitmap>,
    /// For each word: topics that have it.
    topics: Vec<Vec<Topic>>,
    /// Messages that were read, and match.
    good: RoaringBitmap,
    /// Messages that were read, and do not match.
    bad: RoaringBitmap,
}

/// Looks up a text. Blocks on the disk.
///
/// # Errors
/// `SearchUnavailable`, `SearchNotReady`, `Storage`.
pub(crate) fn find(realm: &RealmShared, text: &str) -> Result<Found, DomainError> {
    if realm.search.folder.is_none() {
        return Err(rules::RuleError::SearchUnavailable.into());
    }
    let mut state = opened(realm)?;
    state.absorb(&mut realm.search.notes.lock());
    let missing = state.missing();
    if missing.len() > TAIL_MAX {
        return Err(DomainError::SearchNotReady);
    }
    let language = state.language;
    let reader = state.index.as_ref().map(|index| index.reader());
    let mut matcher = Matcher::new(text, language);
    let topics = state.topics.of(matcher.query());
    drop(state);
    let mut contents = match reader.map(|reader| reader.find(matcher.query())) {
        None => vec![RoaringBitmap::new(); matcher.query().words.len()],
        Some(Ok(contents)) => contents,
        Some(Err(error)) => {
            tracing::error!(%error, realm = %realm.id, "the search index cannot be read; it is made anew");
            realm.search.state.lock().start_over(&realm.view.read());
            return Err(DomainError::SearchNotReady);
        }
    };
    contents.iter_mut().for_each(|ids| *ids -= &missing);
    let missing: Vec<u32> = missing.into_iter().collect();
    for ids in missing.chunks(READ_MAX) {
        for FetchedMessage { message, .. } in read(realm, ids)? {
            let hits = matcher.words_of(searched(&message));
            let words = contents.iter_mut().enumerate().filter(|(word, _)| hits >> word & 1 == 1);
            words.for_each(|(_, ids)| _ = ids.insert(message.id.0));
        }
    }
    let (good, bad) = Default::default();
    Ok(Found { text: text.to_owned(), language, matcher, contents, topics, good, bad })
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
    snapshot.read_from(realm)
}

fn searched(message: &Message) -> Searched<'_> {
    Searched { topic: message.place.topic(), content: &message.content, rendered: &message.rendered }
}

impl Found {
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
        found -= &self.bad;
        found
    }

    /// Those of some messages that must be read to know whether they match.
    pub fn unsure(&self, ids: impl IntoIterator<Item = MessageId>) -> Vec<MessageId> {
        if !self.matcher.query().needs_check() {
            return Vec::new();
        }
        let is_known = |id: &MessageId| self.good.contains(id.0) || self.bad.contains(id.0);
        ids.into_iter().filter(|id| !is_known(id)).collect()
    }

    /// Reads messages to learn whether they match. Blocks on the disk.
    ///
    /// # Errors
    /// `SearchTooBroad`, `Storage`.
    pub(crate) fn check(&mut self, realm: &RealmShared, ids: &[MessageId]) -> Result<(), DomainError> {
        let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
        if self.bad.len() > CHECKED_MAX {
            return Err(DomainError::SearchTooBroad);
        }
        for ids in ids.chunks(READ_MAX) {
            for FetchedMessage { message, .. } in read(realm, ids)? {
                if self.matcher.matches(searched(&message)) {
                    self.good.insert(message.id.0);
                }
            }
        }
        self.bad.extend(ids.into_iter().filter(|id| !self.good.contains(*id)));
        Ok(())
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
