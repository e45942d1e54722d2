//! Full-text search of an organization: the index on disk, and what happened since it was written.
//!
//! Publishing a frame only records the ids of messages whose text changed. A thread (`follower`) adds them to the index in
//! large batches, long after the replies. Until then a search reads these few messages itself (`find`), so a new message is
//! found at once, whatever the state of the index. How far the index is behind is a set of ids, which takes no memory to
//! speak of; the words of those messages are kept from the first search on (`read_words`). Of frequent words only the part
//! of the index is read that an answer needs (`partial`).

mod find;
mod follower;
mod partial;
mod pending_changes;
mod read_words;

pub use find::SearchCandidates;
pub(crate) use find::find;
pub(crate) use follower::{Followed, SearchThread};
pub use search::{Highlighter, Language};

use model::{Fact, RealmId, Sequence};
use parking_lot::{Condvar, Mutex};
use pending_changes::PendingChanges;
use read_words::ReadWords;
use roaring::RoaringBitmap;
use rules::settings::realm_text;
use search::{Index, TopicWords};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use storage::View;

/// Messages that a search may read because they are not in the index yet. With more of them, it is not ready.
const TAIL_MAX: u64 = 16_384;

/// How long a search waits for the index to be opened after a start.
const OPENING_WAIT: Duration = Duration::from_secs(5);

/// How often the caller of `expunge` checks whether it is done.
const EXPUNGE_TICK: Duration = Duration::from_millis(50);

/// The search of one organization.
#[derive(Debug)]
pub struct RealmSearch {
    /// The folder of its index; none where search is switched off.
    folder: Option<PathBuf>,
    /// Changes are written to the index after this long, or when they are many.
    write_after: Duration,
    /// Written while frames are published, so it is never locked for long.
    pending_changes: Mutex<PendingChanges>,
    state: Mutex<State>,
    opened: Condvar,
}

/// The index, and what it lacks.
#[derive(Debug)]
struct State {
    /// False until the thread has examined the disk.
    is_open: bool,
    language: Language,
    /// None if all messages are still to be added.
    index: Option<Index>,
    /// Messages that the index does not have as they are now.
    tail: RoaringBitmap,
    /// Messages that are being added, which the index does not have as they are now.
    writing: RoaringBitmap,
    /// Messages that were deleted since the last commit.
    gone: RoaringBitmap,
    /// The words of those messages in `tail` and `writing` that searches have read.
    words: ReadWords,
    topics: TopicWords,
    /// The newest frame that was noted.
    noted: Sequence,
    /// The newest frame that the index reflects.
    written: Sequence,
    /// When the oldest change was noted that the index lacks.
    since: Option<Instant>,
    /// Words of removed messages are to be removed from the disk soon.
    is_expunge_wanted: bool,
}

impl RealmSearch {
    /// The search of an organization whose view has reached `sequence`. `root` is the folder of all indexes, with the time
    /// after which changes are written to them; none to switch search off.
    pub fn new(root: Option<(&Path, Duration)>, realm: RealmId, sequence: Sequence) -> Self {
        let language = Language::of("");
        Self {
            folder: root.map(|(root, _)| root.join(realm.0.to_string())),
            write_after: root.map_or(Duration::ZERO, |(_, after)| after),
            pending_changes: Mutex::new(PendingChanges::after(sequence)),
            state: Mutex::new(State {
                is_open: false,
                language,
                index: None,
                tail: RoaringBitmap::new(),
                writing: RoaringBitmap::new(),
                gone: RoaringBitmap::new(),
                words: ReadWords::default(),
                topics: TopicWords::new(language),
                noted: sequence,
                written: Sequence(0),
                since: None,
                is_expunge_wanted: false,
            }),
            opened: Condvar::new(),
        }
    }

    /// Records what a published frame has changed.
    pub fn record_changes(&self, sequence: Sequence, facts: &[Fact]) {
        if self.folder.is_some() {
            self.pending_changes.lock().add(sequence, facts);
        }
    }

    /// Forgets the index of an organization that was created again.
    pub fn reset(&self, view: &View) {
        if self.folder.is_none() {
            return;
        }
        let mut state = self.state.lock();
        *self.pending_changes.lock() = PendingChanges::after(view.progress.sequence);
        state.noted = view.progress.sequence;
        state.start_over(view);
    }

    /// Removes the words of deleted messages from the disk. Blocks until that is done, or `goes_on` says no, which returns
    /// false. Where search is switched off, what is left of an index in `root` is removed.
    pub fn expunge(&self, root: &Path, realm: RealmId, goes_on: &dyn Fn() -> bool) -> std::io::Result<bool> {
        if self.folder.is_none() {
            return match std::fs::remove_dir_all(root.join(realm.0.to_string())) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(true),
            };
        }
        self.state.lock().is_expunge_wanted = true;
        while self.state.lock().is_expunge_wanted {
            if !goes_on() {
                return Ok(false);
            }
            std::thread::sleep(EXPUNGE_TICK);
        }
        Ok(true)
    }

    /// How many messages are not in the index yet.
    pub fn behind(&self) -> u64 {
        let mut state = self.state.lock();
        state.absorb(&mut self.pending_changes.lock());
        state.missing().len()
    }
}

impl State {
    /// Takes over what was noted since the last time.
    fn absorb(&mut self, pending_changes: &mut PendingChanges) {
        self.noted = pending_changes.sequence;
        if pending_changes.is_empty() {
            return;
        }
        self.since.get_or_insert_with(Instant::now);
        let (changed, gone, topics) = pending_changes.take();
        if !gone.is_empty() || !changed.is_disjoint(&self.tail) || !changed.is_disjoint(&self.writing) {
            self.words.changes += 1;
        }
        self.words.forget(&changed);
        self.words.forget(&gone);
        self.gone |= &gone;
        self.tail |= changed;
        self.tail -= gone;
        topics.into_iter().for_each(|topic| self.topics.add(topic));
    }

    /// Messages that have to be read instead of looked up.
    fn missing(&self) -> RoaringBitmap {
        &self.tail | &self.writing
    }

    /// Forgets the index: all messages are added to a new one.
    fn start_over(&mut self, view: &View) {
        self.index = None;
        self.language = language_of(view);
        self.written = Sequence(0);
        self.tail.clone_from(&view.messages.all);
        self.writing.clear();
        self.gone.clear();
        self.forget_words();
        self.since.get_or_insert_with(Instant::now);
        self.reload_topics(view);
    }

    /// Forgets the words of messages that the index has now.
    fn forget_words(&mut self) {
        self.words.changes += 1;
        let Self { words, tail, index, .. } = self;
        words.keep(|id| index.is_some() && tail.contains(id));
    }

    fn reload_topics(&mut self, view: &View) {
        let mut topics = TopicWords::new(self.language);
        for (channel, messages) in &view.messages.channels {
            messages.topics.keys().for_each(|topic| topics.add((*channel, topic.clone())));
        }
        self.topics = topics;
    }
}

/// The language that texts of an organization are stemmed for.
fn language_of(view: &View) -> Language {
    Language::of(realm_text(view.directory.realm(), "default_language"))
}
