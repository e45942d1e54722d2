//! The trees, and the thread that writes rows to them behind the answers.
//!
//! The journal is the truth; the trees follow it in larger batches. Every batch carries the number of
//! the newest frame it reflects, in the same atomic write, so that a restart knows where to go on.

use crate::batch::Batch;
use crate::codec::{decode, encode};
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use crate::view::chunk::entries;
use crate::view::{Progress, Row, RowChange, Rows, View, load};
use crossbeam_channel::{Receiver, Sender, bounded};
use model::{EventNumber, Message, MessageId, RealmId, Sequence};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames that may wait for the trees. A shard that is further ahead waits: the trees bound the memory.
const WAITING_FRAMES_MAX: usize = 8192;

/// Bytes of rows that may wait for the trees, for frames that are large.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Frames that are written in one batch at most.
const BATCH_FRAMES_MAX: usize = 4096;

/// How long a frame waits for others to be written with.
const COMPANY_TIME: Duration = Duration::from_millis(50);

/// Rows that are removed in one batch at most.
const CLEAR_ROWS_MAX: usize = 4096;

/// Garbage is freed once for every so many rows: a step frees 512 things, a row leaves a handful.
const GARBAGE_ROWS: usize = 64;

/// The trees on disk. Clones share them.
#[derive(Clone, Debug)]
pub struct Trees {
    db: sled::Db,
    state: sled::Tree,
}

impl Trees {
    /// Opens or creates the trees in a folder, with `cache_bytes` of page cache.
    ///
    /// # Errors
    /// [`StoreError::Trees`] when they are damaged; what was moved aside to recover is logged.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(cache_bytes)
            // The journal makes things durable; this only bounds how much is replayed after a crash,
            // and lets sled clean its segments.
            .flush_every_ms(Some(1000));
        let db = match open_unlocked(&config) {
            Ok(db) => db,
            Err(error @ StoreError::Trees(sled::Error::Corruption { .. })) => {
                // A kill while sled writes a snapshot makes every later open fail; without the
                // snapshot it scans its log instead (sled issues 1527 and 1533).
                if !move_snapshots_aside(path) {
                    return Err(error);
                }
                tracing::warn!(%error, "the trees had a damaged snapshot, which was moved aside");
                open_unlocked(&config)?
            }
            Err(error) => return Err(error),
        };
        let state = db.open_tree("state")?;
        Ok(Self { db, state })
    }

    /// The organizations in the trees.
    ///
    /// # Errors
    /// [`StoreError::Trees`].
    pub fn realms(&self) -> Result<Vec<RealmId>, StoreError> {
        let mut found = Vec::new();
        let mut from = Vec::new();
        while let Some(entry) = self.state.range(from..).next() {
            let (key, _) = entry?;
            let Some(realm) = tables::realm_of(&key) else { break };
            found.push(realm);
            if realm.0 == u32::MAX {
                break;
            }
            from = realm.next().0.to_be_bytes().to_vec();
        }
        Ok(found)
    }

    /// The organization as the trees have it.
    ///
    /// # Errors
    /// [`StoreError::Decode`], [`StoreError::Trees`].
    pub fn load(&self, realm: RealmId) -> Result<Option<View>, StoreError> {
        load(&self.state, realm)
    }

    /// A message's own record: what was sent, or what `View::is_changed` says has become of it. None when it was
    /// deleted meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Decode`], [`StoreError::Trees`].
    pub fn message(
        &self,
        realm: RealmId,
        id: MessageId,
        is_changed: bool,
    ) -> Result<Option<Message>, StoreError> {
        if !is_changed {
            return Ok(self.messages(realm, (id, id), |found| found == id)?.pop());
        }
        let key = tables::changed_message(realm, id);
        self.state.get(key.as_bytes())?.map(|bytes| decode(&bytes, "changed message")).transpose()
    }

    /// Messages as they were sent, with ids from `first` to `last`, for which `wanted` says yes, ascending: one
    /// scan over the chunks that have them. For those that changed, see `message`.
    ///
    /// # Errors
    /// [`StoreError::Decode`], [`StoreError::Trees`].
    pub fn messages(
        &self,
        realm: RealmId,
        (first, last): (MessageId, MessageId),
        wanted: impl Fn(MessageId) -> bool,
    ) -> Result<Vec<Message>, StoreError> {
        let mut found = Vec::new();
        let from = self.chunk_with(realm, first)?;
        let to = tables::message_chunk(realm, last);
        for row in self.state.range(from.as_bytes()..=to.as_bytes()) {
            for entry in entries(&row?.1) {
                let (id, record) = entry?;
                if (first..=last).contains(&id) && wanted(id) {
                    found.push(decode(record, "message")?);
                }
            }
        }
        Ok(found)
    }

    /// The key of the chunk that a message is in, if it is in any.
    fn chunk_with(&self, realm: RealmId, id: MessageId) -> Result<Key, StoreError> {
        let (from, to) = (Key::table(realm, Table::Messages), tables::message_chunk(realm, id));
        match self.state.range(from.as_bytes()..=to.as_bytes()).next_back() {
            Some(row) => {
                Ok(tables::message_chunk(realm, MessageId(tables::number_at(&row?.0, 0).unwrap_or(0))))
            }
            None => Ok(from),
        }
    }

    /// The frame from which to read on to get every event after `event`.
    ///
    /// # Errors
    /// [`StoreError::Decode`], [`StoreError::Trees`].
    pub fn frame_before_event(&self, realm: RealmId, event: EventNumber) -> Result<Sequence, StoreError> {
        let from = Key::table(realm, Table::EventPositions);
        let to = tables::event_position(realm, event.0);
        match self.state.range(from.as_bytes()..=to.as_bytes()).next_back() {
            Some(entry) => decode(&entry?.1, "event position"),
            None => Ok(Sequence(1)),
        }
    }

    /// Every row of an organization, in key order.
    pub fn rows(&self, realm: RealmId) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
        rows_under(&self.state, &realm.0.to_be_bytes())
    }

    /// Every row of one table of an organization, in key order.
    pub fn table(
        &self,
        realm: RealmId,
        table: Table,
    ) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
        rows_under(&self.state, Key::table(realm, table).as_bytes())
    }

    /// Removes every row of an organization, so that it can be rebuilt. Returns how many there were.
    ///
    /// The first batch takes the rows that everything else hangs on: when this is cut short, the rest
    /// does not count as an organization.
    ///
    /// # Errors
    /// [`StoreError::Trees`].
    pub fn clear(&self, realm: RealmId) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let mut batch = sled::Batch::default();
            let mut rows = 0;
            for key in self.state.scan_prefix(realm.0.to_be_bytes()).keys().take(CLEAR_ROWS_MAX) {
                batch.remove(key?);
                rows += 1;
            }
            if rows == 0 {
                return Ok(removed);
            }
            self.state.apply_batch(batch)?;
            free_garbage(rows);
            removed += rows as u64;
        }
    }

    /// Writes rows and how far they have come, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::Trees`], [`StoreError::Encode`], and [`StoreError::Decode`] when a chunk that is to lose a
    /// message cannot be read.
    pub fn write(&self, batch: Vec<Applied>) -> Result<(), StoreError> {
        let mut progress = BTreeMap::new();
        // A chunk comes once for each of its messages; only the last one is worth writing.
        let mut newest = Batch::new(&self.state);
        for applied in batch {
            applied.rows.0.into_iter().try_for_each(|change| newest.add(change))?;
            progress.insert(applied.realm, applied.progress);
        }
        let newest = newest.into_rows();
        let count = newest.len();
        let mut rows = sled::Batch::default();
        for (key, value) in newest {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(key),
            }
        }
        for (realm, progress) in progress {
            rows.insert(Key::table(realm, Table::Progress).into_bytes(), encode(&progress)?);
        }
        self.state.apply_batch(rows)?;
        free_garbage(count);
        Ok(())
    }

    /// Damages the trees, for tests.
    #[cfg(test)]
    pub(crate) fn remove_row(&self, key: &Key) {
        self.state.remove(key.as_bytes()).expect("trees of tests can be written");
    }

    /// Hands everything to the disk.
    ///
    /// # Errors
    /// [`StoreError::Trees`].
    pub fn flush(&self) -> Result<(), StoreError> {
        self.db.flush()?;
        Ok(())
    }
}

fn rows_under(tree: &sled::Tree, prefix: &[u8]) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
    tree.scan_prefix(prefix).map(|entry| {
        let (key, value) = entry?;
        Ok(Row { key: key.to_vec(), value: value.to_vec() })
    })
}

/// Frees the versions of nodes that a batch of so many rows has replaced.
///
/// sled leaves them to the epochs of crossbeam, which free 512 things every 128 batches: with large batches
/// that is far less than comes in, and memory grows by gigabytes within minutes.
fn free_garbage(rows: usize) {
    for _ in 0..2 + rows / GARBAGE_ROWS {
        crossbeam_epoch::pin().flush();
    }
}

/// Opens the database. Some damage makes sled panic; that is an answer here like any other.
fn open_db(config: &sled::Config) -> Result<sled::Db, StoreError> {
    match std::panic::catch_unwind(AssertUnwindSafe(|| config.open())) {
        Ok(opened) => Ok(opened?),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let why = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("for an unknown reason");
            Err(StoreError::TreesDamaged(format!("opening them failed: {why}")))
        }
    }
}

/// How long the last owner of the trees in this process may take to let go of them.
const RELEASE_SECS_MAX: u64 = 5;

/// Opens, and waits while a handle that this process has dropped is still being closed: sled lets go of its
/// lock on a thread of its own. Other processes are kept out by the lock of the data folder.
fn open_unlocked(config: &sled::Config) -> Result<sled::Db, StoreError> {
    let start = Instant::now();
    loop {
        match open_db(config) {
            Err(StoreError::Trees(sled::Error::Io(error)))
                if error.to_string().contains("could not acquire lock")
                    && start.elapsed().as_secs() < RELEASE_SECS_MAX =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

fn move_snapshots_aside(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    let mut moved = false;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("snap.") {
            let aside = path.join(format!("damaged-{name}"));
            moved |= std::fs::rename(entry.path(), aside).is_ok();
        }
    }
    moved
}

/// The rows of one frame, on their way to the trees.
#[derive(Debug)]
pub struct Applied {
    /// Whose.
    pub realm: RealmId,
    /// How far the organization has come with them.
    pub progress: Progress,
    /// What to write.
    pub rows: Rows,
    /// Where to note that it is written.
    pub stored: Arc<AtomicU64>,
}

impl Applied {
    fn bytes(&self) -> usize {
        self.rows.0.iter().map(RowChange::bytes).sum()
    }
}

/// What waits for the trees, in bytes of rows.
#[derive(Debug, Default)]
struct Waiting {
    state: Mutex<WaitingState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WaitingState {
    bytes: usize,
    is_stopped: bool,
}

impl Waiting {
    /// Waits until there is room. One frame alone always has room.
    fn add(&self, bytes: usize) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        while !state.is_stopped && state.bytes > 0 && state.bytes + bytes > WAITING_BYTES_MAX {
            self.changed.wait(&mut state);
        }
        if state.is_stopped {
            return Err(StoreError::ProjectionStopped);
        }
        state.bytes += bytes;
        Ok(())
    }

    fn remove(&self, bytes: usize) {
        self.state.lock().bytes -= bytes;
        self.changed.notify_all();
    }
}

/// Lets nobody wait for a thread that has ended, in whatever way.
struct StopWaiting(Arc<Waiting>);

impl Drop for StopWaiting {
    fn drop(&mut self) {
        self.0.state.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

/// The way to the thread that writes the trees.
#[derive(Clone, Debug)]
pub struct ProjectionSender {
    sender: Sender<Applied>,
    waiting: Arc<Waiting>,
}

impl ProjectionSender {
    /// Hands over the rows of a frame. Waits while too many are waiting (8192 frames, or 64 MiB of rows).
    ///
    /// # Errors
    /// [`StoreError::ProjectionStopped`] when the thread has ended.
    pub fn send(&self, applied: Applied) -> Result<(), StoreError> {
        self.waiting.add(applied.bytes())?;
        self.sender.send(applied).map_err(|_| StoreError::ProjectionStopped)
    }
}

/// The thread that writes the trees.
#[derive(Debug)]
pub struct Projection {
    sender: ProjectionSender,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Projection {
    /// Starts it.
    ///
    /// # Errors
    /// [`StoreError::Io`] when no thread can be had.
    pub fn start(trees: Trees) -> Result<Self, StoreError> {
        let (sender, receiver) = bounded(WAITING_FRAMES_MAX);
        let waiting = Arc::new(Waiting::default());
        let thread_waiting = waiting.clone();
        let thread = std::thread::Builder::new()
            .name("projection".into())
            .spawn(move || {
                let waiting = StopWaiting(thread_waiting);
                run(&trees, &receiver, &waiting.0)
            })
            .map_err(|source| StoreError::Io {
                what: "cannot start a thread for",
                path: "state".into(),
                source,
            })?;
        Ok(Self { sender: ProjectionSender { sender, waiting }, thread })
    }

    /// A way to it.
    pub fn sender(&self) -> ProjectionSender {
        self.sender.clone()
    }

    /// Writes what is waiting, flushes and ends. All other senders must be gone.
    ///
    /// # Errors
    /// What made the thread stop before, if anything.
    pub fn close(self) -> Result<(), StoreError> {
        drop(self.sender);
        self.thread.join().unwrap_or(Err(StoreError::ProjectionStopped))
    }
}

/// Frames for one batch. Nobody waits for the trees, so a batch waits a moment for company: a leaf or a chunk
/// that many frames change is then written once. It sleeps meanwhile: a thread that is woken for each frame
/// costs the one that wakes it more than the frame.
fn collect(first: Applied, receiver: &Receiver<Applied>) -> Vec<Applied> {
    std::thread::sleep(COMPANY_TIME);
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < BATCH_FRAMES_MAX && bytes < WAITING_BYTES_MAX / 2 {
        let Ok(next) = receiver.try_recv() else { break };
        bytes += next.bytes();
        batch.push(next);
    }
    batch
}

fn run(trees: &Trees, receiver: &Receiver<Applied>, waiting: &Waiting) -> Result<(), StoreError> {
    let rows_written = metrics::counter!("millstream_rows_written_total");
    let batches_written = metrics::counter!("millstream_row_batches_written_total");
    while let Ok(first) = receiver.recv() {
        let batch = collect(first, receiver);
        let notes: Vec<(Arc<AtomicU64>, u64)> =
            batch.iter().map(|applied| (applied.stored.clone(), applied.progress.sequence.0)).collect();
        let bytes = batch.iter().map(Applied::bytes).sum();
        let rows: usize = batch.iter().map(|applied| applied.rows.0.len()).sum();
        trees.write(batch).inspect_err(|error| tracing::error!(%error, "the trees cannot be written"))?;
        waiting.remove(bytes);
        rows_written.increment(rows as u64);
        batches_written.increment(1);
        for (stored, sequence) in notes {
            stored.fetch_max(sequence, Ordering::Release);
        }
    }
    trees.flush()
}
