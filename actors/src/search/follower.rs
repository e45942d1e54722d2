//! The thread that writes the indexes, one organization after the other. Nothing waits for it.

use super::pending_changes::PendingChanges;
use super::{State, language_of};
use crate::error::DomainError;
use crate::priority::lower_thread_priority;
use crate::queries::MessageSnapshot;
use crate::shared::RealmShared;
use model::{MessageId, Place, RealmId, Sequence, TopicKey};
use parking_lot::{Condvar, Mutex};
use roaring::RoaringBitmap;
use search::{Analyzer, Identity, Index, Language, Merges, SearchError, Writer};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use storage::log::RealmLog;
use storage::{StoreError, decode_frame, disk};

/// How often the thread checks for changes.
const TICK: Duration = Duration::from_secs(1);

/// Changed messages from which on they are written at once.
const BATCH_MIN: u64 = 4096;

/// After the last batch of many messages, parts of the index are merged that were left for later.
const MERGE_AFTER: Duration = Duration::from_secs(60);

/// A new index is written at once if it has at least this many messages.
const FIRST_WRITE_MIN: u64 = 2000;

/// Frames without any change of a message after which the position is written nevertheless.
const FRAMES_MAX: u64 = 50_000;

/// Delay after a failure; each further one is twice as long.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Longest delay after a failure.
const RETRY_DELAY_MAX: Duration = Duration::from_secs(300);

/// How often parts of an index with deleted messages are rewritten.
const EXPUNGE_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Free space on the disk below which nothing is written, in bytes.
const FREE_BYTES_MIN: u64 = 32 * 1024 * 1024;

/// Messages that are read at a time.
const READ_MAX: usize = 256;

/// The thread, until it is dropped or stopped.
pub(crate) struct SearchThread {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    woken: Condvar,
}

#[derive(Default)]
struct Work {
    new: Vec<Followed>,
    gone: Vec<RealmId>,
    is_stopping: bool,
}

/// An organization whose messages are indexed.
pub(crate) struct Followed {
    realm: Arc<RealmShared>,
    log: Arc<dyn RealmLog>,
    /// After a failure, nothing is written before this time.
    retry: Option<Instant>,
    delay: Duration,
    expunged: Instant,
    /// The last batch of many messages, if no merge of its parts was due since.
    unmerged_since: Option<Instant>,
    was_full: bool,
    /// The disk was nearly full while the last batch was written.
    lacked_space: bool,
}

impl Followed {
    /// An organization and its log.
    pub fn new(realm: Arc<RealmShared>, log: Arc<dyn RealmLog>) -> Self {
        Self {
            realm,
            log,
            retry: None,
            delay: RETRY_DELAY,
            expunged: Instant::now(),
            unmerged_since: None,
            was_full: false,
            lacked_space: false,
        }
    }
}

impl SearchThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// `Storage` when no thread can be started.
    pub fn start() -> Result<Self, DomainError> {
        let shared = Arc::new(Shared::default());
        let its = shared.clone();
        let thread = std::thread::Builder::new().name("search".into()).spawn(move || run(&its));
        let thread = thread.map_err(|error| DomainError::Storage(error.to_string()))?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Indexes an organization from now on.
    pub fn follow(&self, followed: Followed) {
        self.shared.work.lock().new.push(followed);
        self.shared.woken.notify_one();
    }

    /// Does not index an organization any more, until it is followed again.
    #[cfg(feature = "cluster")]
    pub fn unfollow(&self, realm: RealmId) {
        let mut work = self.shared.work.lock();
        work.new.retain(|followed| followed.realm.id != realm);
        work.gone.push(realm);
        drop(work);
        self.shared.woken.notify_one();
    }

    /// Ends the thread. What is not written yet is found in the log by the next start. Blocks.
    pub fn stop(&self) {
        self.shared.work.lock().is_stopping = true;
        self.shared.woken.notify_one();
        let thread = self.thread.lock().take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the search index panicked");
        }
    }
}

fn run(shared: &Shared) {
    // The index library's threads are started by this one.
    lower_thread_priority();
    let mut realms: Vec<Followed> = Vec::new();
    // It remembers stems, which are those of a language, not of an organization.
    let mut analyzer = Analyzer::new(Language::of(""));
    loop {
        {
            let mut work = shared.work.lock();
            if !work.is_stopping && work.new.is_empty() && work.gone.is_empty() {
                shared.woken.wait_for(&mut work, TICK);
            }
            if work.is_stopping {
                return;
            }
            let gone = std::mem::take(&mut work.gone);
            realms.retain(|followed| !gone.contains(&followed.realm.id));
            realms.append(&mut work.new);
        }
        // Opening takes milliseconds, writing may take long.
        realms.iter().for_each(Followed::open);
        let mut behind = 0;
        for followed in &mut realms {
            if shared.work.lock().is_stopping {
                return;
            }
            behind += followed.step(shared, &mut analyzer);
        }
        metrics::gauge!("millstream_search_behind_messages").set(behind as f64);
    }
}

/// What is written by one commit.
struct Batch {
    changed: RoaringBitmap,
    gone: RoaringBitmap,
    sequence: Sequence,
    /// Words of removed messages are removed from the disk afterwards.
    expunges: bool,
}

impl Followed {
    /// Does what is due, and returns how many messages the index lacks.
    fn step(&mut self, shared: &Shared, analyzer: &mut Analyzer) -> u64 {
        let Some(folder) = self.realm.search.folder.clone() else { return 0 };
        let batch = self.due();
        if let Some(batch) = batch {
            let written = self.write(shared, &folder, &batch, analyzer);
            self.finish(batch, written);
        }
        self.realm.search.behind()
    }

    /// Opens the index and adds what the log has after it; without an index, all messages are to be added.
    fn open(&self) {
        let search = &self.realm.search;
        let Some(folder) = &search.folder else { return };
        if search.state.lock().is_open {
            return;
        }
        let language = language_of(&self.realm.view.read());
        let opened = self.open_index(folder, &identity_of(&self.realm, language));
        let mut state = search.state.lock();
        match opened {
            Ok(Some((index, written, mut pending_changes))) => {
                state.language = language;
                (state.index, state.written) = (Some(index), written);
                state.forget_words();
                state.absorb(&mut pending_changes);
                state.reload_topics(&self.realm.view.read());
            }
            Ok(None) => state.start_over(&self.realm.view.read()),
            Err(error) => {
                tracing::warn!(%error, realm = self.realm.id.0, "the search index cannot be used; it is made anew");
                state.start_over(&self.realm.view.read());
            }
        }
        state.absorb(&mut search.pending_changes.lock());
        state.is_open = true;
        drop(state);
        search.opened.notify_all();
    }

    fn open_index(
        &self,
        folder: &Path,
        identity: &Identity,
    ) -> Result<Option<(Index, Sequence, PendingChanges)>, DomainError> {
        let opened = Index::open(folder, identity).map_err(failed)?;
        let Some((index, written)) = opened else { return Ok(None) };
        let last = self.realm.view.read().progress.sequence;
        if written > last {
            return Err(DomainError::Storage("it is ahead of the journal".into()));
        }
        let mut pending_changes = PendingChanges::after(written);
        for frame in self.log.read(self.realm.id.0, written.0 + 1).map_err(StoreError::from)? {
            let stored = frame.map_err(StoreError::from)?;
            let frame = decode_frame(&stored.payload)?;
            pending_changes.add(Sequence(stored.sequence), &frame.facts);
            if stored.sequence >= last.0 {
                break;
            }
        }
        Ok(Some((index, written, pending_changes)))
    }

    /// The changes to write, if it is time.
    fn due(&mut self) -> Option<Batch> {
        if self.retry.is_some_and(|retry| Instant::now() < retry) {
            return None;
        }
        let search = &self.realm.search;
        let mut state = search.state.lock();
        if language_of(&self.realm.view.read()) != state.language {
            state.start_over(&self.realm.view.read());
        }
        let has_lost_topics = {
            let mut pending_changes = search.pending_changes.lock();
            state.absorb(&mut pending_changes);
            std::mem::take(&mut pending_changes.has_lost_topics)
        };
        if has_lost_topics || self.has_many_old_topics(&state) {
            state.reload_topics(&self.realm.view.read());
        }
        let is_due = state.index.is_none() && state.tail.len() >= FIRST_WRITE_MIN
            || state.tail.len() >= BATCH_MIN
            || state.since.is_some_and(|since| since.elapsed() >= search.write_after)
            || state.noted.0 > state.written.0 + FRAMES_MAX
            || state.is_expunge_wanted
            || self.unmerged_since.is_some_and(|since| since.elapsed() >= MERGE_AFTER);
        if !is_due {
            return None;
        }
        state.writing = std::mem::take(&mut state.tail);
        state.since = None;
        let (changed, gone) = (state.writing.clone(), std::mem::take(&mut state.gone));
        Some(Batch { changed, gone, sequence: state.noted, expunges: state.is_expunge_wanted })
    }

    /// Whether most of the known topics no longer exist.
    fn has_many_old_topics(&self, state: &State) -> bool {
        const STALE_TOPICS_MIN: usize = 1000;
        state.topics.len() > STALE_TOPICS_MIN && {
            let view = self.realm.view.read();
            let live: usize = view.messages.channels.values().map(|channel| channel.topics.len()).sum();
            state.topics.len() > 2 * live + STALE_TOPICS_MIN
        }
    }

    /// Writes a batch; none if the server stops meanwhile.
    fn write(
        &mut self,
        shared: &Shared,
        folder: &Path,
        batch: &Batch,
        analyzer: &mut Analyzer,
    ) -> Result<Option<Index>, DomainError> {
        self.check_space()?;
        let (index, language) = {
            let state = self.realm.search.state.lock();
            (state.index.clone(), state.language)
        };
        let (index, is_new) = match index {
            Some(index) => (index, false),
            None => (Index::create(folder, &identity_of(&self.realm, language)).map_err(failed)?, true),
        };
        let merges = if batch.changed.len() >= BATCH_MIN { Merges::Late } else { Merges::Soon };
        let mut writer = index.writer(merges).map_err(failed)?;
        if !is_new {
            writer.remove(&batch.changed | &batch.gone).map_err(failed)?;
        }
        if analyzer.language() != language {
            *analyzer = Analyzer::new(language);
        }
        if !self.add(shared, &mut writer, &batch.changed, analyzer)? {
            return Ok(None);
        }
        writer.commit(batch.sequence).map_err(failed)?;
        if batch.expunges || self.expunged.elapsed() >= EXPUNGE_AFTER {
            writer.expunge().map_err(failed)?;
            self.expunged = Instant::now();
        }
        writer.finish().map_err(failed)?;
        self.unmerged_since = (merges == Merges::Late).then(Instant::now);
        Ok(Some(index))
    }

    /// Adds messages. False if the server stops meanwhile.
    fn add(
        &mut self,
        shared: &Shared,
        writer: &mut Writer,
        changed: &RoaringBitmap,
        analyzer: &mut Analyzer,
    ) -> Result<bool, DomainError> {
        let ids: Vec<MessageId> = changed.iter().map(MessageId).collect();
        for ids in ids.chunks(READ_MAX) {
            if shared.work.lock().is_stopping {
                return Ok(false);
            }
            self.check_space()?;
            let snapshot = {
                let view = self.realm.view.read();
                let here: Vec<MessageId> =
                    ids.iter().copied().filter(|id| view.messages.all.contains(id.0)).collect();
                MessageSnapshot::take(&view, None, &here)
            };
            let (messages, mut places) = (snapshot.read_once(&self.realm)?, Vec::new());
            for fetched in &messages {
                writer.add(fetched.message.id, &fetched.message.rendered, analyzer).map_err(failed)?;
                if let Place::Channel { channel, topic } = &fetched.message.place {
                    places.push((*channel, topic));
                }
            }
            // Neighbours are often in one topic.
            places.dedup();
            let topics = places.into_iter().map(|(channel, topic)| (channel, TopicKey::new(topic)));
            let topics: Vec<_> = topics.collect();
            let mut state = self.realm.search.state.lock();
            topics.into_iter().for_each(|topic| state.topics.add(topic));
        }
        Ok(true)
    }

    /// Makes a written batch visible, or keeps it for later.
    fn finish(&mut self, batch: Batch, written: Result<Option<Index>, DomainError>) {
        let written = written.and_then(|index| match index {
            Some(index) => index.reload().map_err(failed).map(|()| Some(index)),
            None => Ok(None),
        });
        let written = written.and_then(|index| {
            if let Some(index) = index.as_ref().filter(|_| batch.expunges) {
                // Only now: before, readers had the old files.
                index.writer(Merges::Soon).and_then(search::Writer::finish).map_err(failed)?;
            }
            Ok(index)
        });
        let mut state = self.realm.search.state.lock();
        let is_current = batch.changed == state.writing;
        match written {
            // Meanwhile a search has found the old index damaged, and the state says so.
            Ok(_) if !is_current => {}
            Ok(Some(index)) => {
                (state.index, state.written) = (Some(index), batch.sequence);
                state.writing.clear();
                state.forget_words();
                state.is_expunge_wanted &= !batch.expunges;
                (self.retry, self.delay, self.was_full) = (None, RETRY_DELAY, false);
            }
            Ok(None) => state.put_back(batch),
            Err(error) => {
                let is_full = self.lacked_space || self.is_full();
                self.retry = Some(Instant::now() + if is_full { RETRY_DELAY } else { self.delay });
                self.delay = (self.delay * 2).min(RETRY_DELAY_MAX);
                if !(is_full && self.was_full) {
                    tracing::warn!(%error, is_full, realm = self.realm.id.0, "the search index cannot be written");
                }
                self.was_full = is_full;
                match is_full {
                    true => state.put_back(batch),
                    false => state.start_over(&self.realm.view.read()),
                }
            }
        }
    }

    /// Refuses to write while the disk is nearly full, also in the middle of a batch.
    fn check_space(&mut self) -> Result<(), DomainError> {
        self.lacked_space = self.is_full();
        if self.lacked_space { Err(StoreError::NoRoom.into()) } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        let parent = self.realm.search.folder.as_deref().and_then(Path::parent).and_then(Path::parent);
        parent.and_then(disk::space).is_some_and(|space| space.free_bytes < FREE_BYTES_MIN)
    }
}

impl State {
    fn put_back(&mut self, batch: Batch) {
        self.tail |= std::mem::take(&mut self.writing);
        self.gone |= batch.gone;
        self.since.get_or_insert_with(Instant::now);
    }
}

fn identity_of(realm: &RealmShared, language: Language) -> Identity {
    let created = realm.view.read().directory.realm().created;
    Identity::new(realm.id.0, created.0, language)
}

fn failed(error: SearchError) -> DomainError {
    DomainError::Storage(error.to_string())
}
