//! The trees on disk.
//!
//! The journal is the source of truth; the trees follow it in larger batches (`projector`). Every batch writes the number
//! of the newest frame that it reflects atomically with its rows, so that a restart knows from where to replay.
//!
//! After an I/O error sled refuses every further operation, so the trees can be closed and reopened while the server
//! runs. While they are closed, reading from them is an error.

use crate::batch::{Applied, Batch};
use crate::codec::{decode, encode};
use crate::error::StoreError;
use crate::view::key::{self, Key};
use crate::view::record::Record;
use crate::view::records;
use crate::view::{Row, RowChange, View, load};
use model::{EventNumber, RealmId, Sequence};
use parking_lot::{Condvar, Mutex, RwLock};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

mod calls;
mod closing;
mod dirty_keys;
mod opening;
mod renew;

use calls::Calls;
pub use closing::{HeldCalls, StallWatch};
use dirty_keys::DirtyKeys;
pub use renew::recover_renewed;

/// At most this many rows are removed in one batch.
const CLEAR_ROWS_MAX: usize = 4096;

/// Garbage is collected once for this many written rows: a collection frees up to 512 objects, a row leaves a few.
const GARBAGE_ROWS: usize = 64;

/// The trees on disk. Clones share them.
#[derive(Clone, Debug)]
pub struct Trees(Arc<Shared>);

/// Whether a thread opens the trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TreesOpening {
    #[default]
    None,
    /// Those who read and write wait for it.
    Opening,
    /// It rebuilds them: those who write wait, and those who read get an error.
    Rebuilding,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    cache_bytes: u64,
    /// `None` while the trees are closed.
    open: RwLock<Option<OpenTrees>>,
    opening: Mutex<TreesOpening>,
    opened: Condvar,
    /// They are to be closed while a thread rebuilds them.
    is_stopping: Arc<AtomicBool>,
    /// How often they were opened.
    openings: AtomicU64,
    /// How often in a row they were still locked by an earlier handle when they were to be opened.
    lock_failures: AtomicU64,
    /// Held while rows are written.
    dirty_keys: Mutex<DirtyKeys>,
    /// One `renew` at a time.
    renewing: Mutex<()>,
    calls: Arc<Calls>,
}

impl Shared {
    fn closed(path: &Path, cache_bytes: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            cache_bytes,
            open: RwLock::default(),
            opening: Mutex::default(),
            opened: Condvar::default(),
            is_stopping: Arc::default(),
            openings: AtomicU64::default(),
            lock_failures: AtomicU64::default(),
            dirty_keys: Mutex::default(),
            renewing: Mutex::default(),
            calls: Arc::default(),
        }
    }
}

#[derive(Debug)]
struct OpenTrees {
    db: sled::Db,
    state: sled::Tree,
    /// Has a clone for each use of the tree.
    users: Arc<()>,
}

/// The tree, which is not replaced while this exists.
#[derive(Clone, Debug)]
pub(crate) struct StateTree {
    tree: sled::Tree,
    _users: Arc<()>,
}

impl std::ops::Deref for StateTree {
    type Target = sled::Tree;

    fn deref(&self) -> &sled::Tree {
        &self.tree
    }
}

impl Trees {
    /// Opens or creates the trees in a folder, with `cache_bytes` of page cache.
    ///
    /// # Errors
    /// [`StoreError::Trees`] when they are damaged; what was moved aside to recover is logged.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        let trees = Self::closed(path, cache_bytes);
        trees.reopen()?;
        Ok(trees)
    }

    /// Trees that are not opened yet.
    pub fn closed(path: &Path, cache_bytes: u64) -> Self {
        Self(Arc::new(Shared::closed(path, cache_bytes)))
    }

    /// Whether a rebuild is to be given up, because the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.0.is_stopping.load(Ordering::Relaxed)
    }

    /// The folder of the trees.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Opens the trees, closing them first if they are open.
    pub fn reopen(&self) -> Result<(), StoreError> {
        self.close();
        self.check_given_up()?;
        let opened =
            open_trees(&self.0.path, self.0.cache_bytes).inspect_err(|error| self.note_failure(error))?;
        self.0.lock_failures.store(0, Ordering::SeqCst);
        self.0.openings.fetch_add(1, Ordering::SeqCst);
        *self.0.open.write() = Some(opened);
        Ok(())
    }

    pub(crate) fn state(&self) -> Result<StateTree, StoreError> {
        loop {
            self.wait();
            self.check_given_up()?;
            let open = self.0.open.read();
            if let Some(open) = open.as_ref() {
                return Ok(StateTree { tree: open.state.clone(), _users: open.users.clone() });
            }
            drop(open);
            // They may be replaced since `wait`, or have been meanwhile.
            if !self.is_open() {
                return Err(StoreError::TreesClosed);
            }
        }
    }

    /// The rows for requests, which do not wait while the trees are rebuilt.
    pub(crate) fn readable(&self) -> Result<StateTree, StoreError> {
        match *self.0.opening.lock() {
            TreesOpening::Rebuilding => Err(StoreError::TreesRebuilding),
            TreesOpening::Opening | TreesOpening::None => Ok(()),
        }?;
        self.state()
    }

    /// The organizations in the trees.
    pub fn realms(&self) -> Result<Vec<RealmId>, StoreError> {
        let (state, mut found) = (self.state()?, Vec::new());
        let mut from = Vec::new();
        while let Some(entry) = state.range(from..).next() {
            let (key, _) = entry?;
            let Some(realm) = key::realm_of(&key) else { break };
            found.push(realm);
            if realm.0 == u32::MAX {
                break;
            }
            from = realm.next().0.to_be_bytes().to_vec();
        }
        Ok(found)
    }

    /// The newest frame of an organization that the rows reflect; 0 without any.
    pub(crate) fn progress(&self, realm: RealmId) -> Result<u64, StoreError> {
        let row = self.state()?.get(Key::table(realm, records::Progress::ID).as_bytes())?;
        let progress =
            row.map(|row| decode::<crate::view::Progress>(&row, records::Progress::NAME)).transpose()?;
        Ok(progress.map_or(0, |progress| progress.sequence.0))
    }

    /// Loads an organization; `None` if the trees do not have it.
    pub fn load(&self, realm: RealmId) -> Result<Option<View>, StoreError> {
        let state = self.state()?;
        load(&state, realm)
    }

    /// The frame from which reading yields every event after `event`; the first frame while the trees are closed.
    pub fn frame_before_event(&self, realm: RealmId, event: EventNumber) -> Result<Sequence, StoreError> {
        let Ok(state) = self.readable() else { return Ok(Sequence(1)) };
        let from = Key::table(realm, records::EventPositions::ID);
        let to = Key::new(realm, records::EventPositions::ID, &event);
        match state.range(from.as_bytes()..=to.as_bytes()).next_back() {
            Some(entry) => decode(&entry?.1, "event position"),
            None => Ok(Sequence(1)),
        }
    }

    /// Every row of an organization, in key order.
    pub fn rows(&self, realm: RealmId) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
        rows_under(self.state(), &realm.0.to_be_bytes())
    }

    /// Every row of one table of an organization, in key order.
    pub fn table<R: Record>(&self, realm: RealmId) -> impl Iterator<Item = Result<Row, StoreError>> + use<R> {
        rows_under(self.state(), Key::table(realm, R::ID).as_bytes())
    }

    /// The rows of the tables that checkpoints store as rows, in key order.
    pub(crate) fn small_rows(&self, realm: RealmId) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
        let tree = self.state();
        let tables = records::TABLES.iter().filter(|table| !table.is_in_sets);
        let (tree, closed) = match tree {
            Ok(tree) => (Some(tree), None),
            Err(error) => (None, Some(Err(error))),
        };
        let rows = tree.into_iter().flat_map(move |tree| {
            let tables = tables.clone();
            tables.flat_map(move |table| rows_under(Ok(tree.clone()), Key::table(realm, table.id).as_bytes()))
        });
        closed.into_iter().chain(rows)
    }

    /// Removes every row of an organization, so that it can be rebuilt. Returns how many there were.
    ///
    /// The first batch removes the rows without which an organization is not loaded, so an interrupted removal leaves
    /// nothing that is mistaken for a whole organization.
    pub fn clear(&self, realm: RealmId) -> Result<u64, StoreError> {
        let (state, mut removed) = (self.state()?, 0);
        loop {
            let mut batch = sled::Batch::default();
            let mut keys = Vec::new();
            for key in state.scan_prefix(realm.0.to_be_bytes()).keys().take(CLEAR_ROWS_MAX) {
                keys.push(key?);
            }
            keys.iter().for_each(|key| batch.remove(key));
            let rows = keys.len();
            if rows == 0 {
                return Ok(removed);
            }
            let mut dirty_keys = self.0.dirty_keys.lock();
            dirty_keys.add(keys.iter().map(|key| &**key));
            state.apply_batch(batch)?;
            drop(dirty_keys);
            free_garbage(rows);
            removed += rows as u64;
        }
    }

    /// Writes rows and progress atomically.
    ///
    /// # Errors
    /// [`StoreError::Trees`], [`StoreError::Encode`], and [`StoreError::Decode`] when a chunk from which a message is
    /// removed cannot be read.
    pub fn write(&self, batch: Vec<Applied>) -> Result<(), StoreError> {
        let mut progress = BTreeMap::new();
        // Also while the rows are prepared: they are read from the tree that they are written to.
        let mut dirty_keys = self.0.dirty_keys.lock();
        let state = self.state()?;
        let _call = self.begin_call();
        // A chunk is put once for each of its messages; only its last state is written.
        let mut newest = Batch::new(&state);
        for applied in batch {
            applied.rows.0.into_iter().try_for_each(|change| newest.add(change))?;
            progress.insert(applied.realm, applied.progress);
        }
        let newest = newest.into_rows()?;
        let count = newest.len();
        let mut rows = sled::Batch::default();
        dirty_keys.add(newest.iter().map(|(key, _)| &**key));
        for (key, value) in newest {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(key),
            }
        }
        for (realm, progress) in progress {
            let key = Key::table(realm, records::Progress::ID).into_bytes();
            dirty_keys.add(std::iter::once(&*key));
            rows.insert(key, encode(&progress)?);
        }
        state.apply_batch(rows)?;
        free_garbage(count);
        Ok(())
    }

    /// Writes rows of a base; chunks are plain.
    pub(crate) fn write_rows(&self, rows: Vec<Row>) -> Result<(), StoreError> {
        let (state, count) = (self.state()?, rows.len());
        let mut newest = Batch::new(&state);
        rows.into_iter().try_for_each(|row| newest.add(RowChange::Put(row)))?;
        let mut batch = sled::Batch::default();
        for (key, value) in newest.into_rows()? {
            batch.insert(key, value.unwrap_or_default());
        }
        state.apply_batch(batch)?;
        free_garbage(count);
        Ok(())
    }

    /// Damages the trees, for tests.
    #[cfg(test)]
    pub(crate) fn remove_row(&self, key: &Key) {
        self.state().expect("open").remove(key.as_bytes()).expect("trees of tests can be written");
    }
}

fn rows_under(
    tree: Result<StateTree, StoreError>,
    prefix: &[u8],
) -> impl Iterator<Item = Result<Row, StoreError>> + use<> {
    let (rows, closed) = match tree {
        Ok(tree) => (Some((tree.scan_prefix(prefix), tree)), None),
        Err(error) => (None, Some(Err(error))),
    };
    let rows = rows.into_iter().flat_map(|(rows, tree)| {
        rows.map(move |entry| {
            // It is not replaced as long as its rows are read.
            let _kept = &tree;
            let (key, value) = entry?;
            Ok(Row { key: key.to_vec(), value: value.to_vec() })
        })
    });
    closed.into_iter().chain(rows)
}

/// Frees the node versions that a batch of `rows` rows has replaced.
///
/// sled leaves them to crossbeam's epochs, which free up to 512 objects every 128 batches: with large batches that is
/// far less than accumulates, and memory grows by gigabytes within minutes.
fn free_garbage(rows: usize) {
    for _ in 0..2 + rows / GARBAGE_ROWS {
        crossbeam_epoch::pin().flush();
    }
}

fn open_trees(path: &Path, cache_bytes: u64) -> Result<OpenTrees, StoreError> {
    let config = sled::Config::new()
        .path(path)
        .cache_capacity(cache_bytes)
        // The journal guarantees durability; this only bounds how much is replayed after a crash,
        // and lets sled clean its segments.
        .flush_every_ms(Some(1000));
    remove_unfinished_snapshots(path);
    let db = match open_unlocked(&config) {
        Ok(db) => db,
        Err(error) if error.is_tree_damage() && !error.is_full() => {
            // If the process was killed while sled wrote a snapshot, every later open fails; without the
            // snapshot sled scans its log instead (sled issues 1527 and 1533).
            if !move_snapshots_aside(path) {
                return Err(error);
            }
            tracing::warn!(%error, "the database in state/ had a damaged snapshot, which was moved aside");
            open_unlocked(&config)?
        }
        Err(error) => return Err(error.of_trees(path)),
    };
    let state = db.open_tree("state")?;
    Ok(OpenTrees { db, state, users: Arc::default() })
}

/// Opens the database. Some damage makes sled panic; the panic is returned as an error.
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

/// Whether a handle of this process still has the lock of the database.
fn is_locked(error: &StoreError) -> bool {
    match error {
        StoreError::Trees(sled::Error::Io(error)) => error.to_string().contains("could not acquire lock"),
        _ => false,
    }
}

/// How long to wait for a previous handle of this process to release the database.
const RELEASE_SECS_MAX: u64 = 5;

/// Opens the database, waiting while a handle that this process has dropped is still being closed: sled releases its
/// lock on a background thread. Other processes are excluded by the lock of the data folder.
fn open_unlocked(config: &sled::Config) -> Result<sled::Db, StoreError> {
    let start = Instant::now();
    loop {
        match open_db(config) {
            Err(error) if is_locked(&error) && start.elapsed().as_secs() < RELEASE_SECS_MAX => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

/// The names of sled's snapshot files.
fn snapshots(path: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("snap."))
}

/// Removes incomplete snapshots that a crash or a full disk left: sled would take one for the newest.
fn remove_unfinished_snapshots(path: &Path) {
    for name in snapshots(path).filter(|name| name.ends_with(".generating")) {
        // If removing fails, it is moved aside with the others.
        let _ = std::fs::remove_file(path.join(name));
    }
}

fn move_snapshots_aside(path: &Path) -> bool {
    let mut moved = false;
    for name in snapshots(path) {
        moved |= std::fs::rename(path.join(&name), path.join(format!("damaged-{name}"))).is_ok();
    }
    moved
}
