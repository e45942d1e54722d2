//! Writes the trees anew beside the ones in use, because sled keeps overwritten bytes in its files: everything in the new
//! files is what the rows hold now.
//!
//! Rows are copied while others write. The keys of what is written meanwhile are noted, and their rows are copied again, until
//! few are left; then writing waits for the last ones, the old trees are closed and the new ones take their place.

use super::{Trees, TreesOpening, free_garbage, open_trees};
use crate::disk;
use crate::error::StoreError;
use crate::private_files::sync_folder;
use crate::view::key;
use crate::view::packed::bodies_as_now;
use crate::view::record::Record;
use crate::view::records::Messages;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Page cache of the new trees while they are written, in bytes.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// Rows that are copied at a time.
const ROWS: usize = 256;

/// With so few noted rows left, writing waits until they are copied.
const LAST_ROWS: usize = 512;

/// How long readers of the old trees are waited for.
const READERS_WAIT: Duration = Duration::from_secs(20);

/// How often they are looked for.
const READERS_TICK: Duration = Duration::from_millis(2);

/// The folder in which new trees are written.
fn unfinished(state: &Path) -> PathBuf {
    state.with_extension("new")
}

/// The folder of the old trees while they are removed.
fn replaced(state: &Path) -> PathBuf {
    state.with_extension("old")
}

/// Completes or undoes what a crash has interrupted. Nothing may use the trees.
///
/// # Errors
/// [`StoreError::Io`].
pub fn recover_renewed(state: &Path) -> Result<(), StoreError> {
    let old = replaced(state);
    if !state.exists() && old.exists() {
        fs::rename(&old, state).map_err(|error| StoreError::io("cannot rename", &old, error))?;
    }
    remove(&old)?;
    remove(&unfinished(state))
}

/// The value of a row in the form in which it is written now: bodies of an earlier version become blocks.
fn as_now(key: &[u8], value: sled::IVec) -> Result<sled::IVec, StoreError> {
    match key::table_of(key) == Some(Messages::ID) {
        true => Ok(bodies_as_now(&value)?.map_or(value, sled::IVec::from)),
        false => Ok(value),
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("cannot remove", path, error))
        }
        _ => Ok(()),
    }
}

/// The bytes of the files in a folder.
fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

impl Trees {
    /// Writes the trees anew. `pace` is called with numbers of bytes, and may wait; when it returns false, the trees stay as
    /// they are, and so they do after an error. Returns whether they were replaced.
    ///
    /// # Errors
    /// [`StoreError::NoRoom`], [`StoreError::TreesBusy`], and errors of reading and writing.
    pub fn renew(&self, pace: &mut dyn FnMut(u64) -> bool) -> Result<bool, StoreError> {
        let _one = self.0.renewing.lock();
        let path = unfinished(self.path());
        remove(&path)?;
        if disk::space(self.path()).is_some_and(|space| !space.has_room(bytes_in(self.path()))) {
            return Err(StoreError::NoRoom);
        }
        let opened = self.0.openings.load(Ordering::SeqCst);
        self.0.dirty_keys.lock().0 = Some(BTreeSet::new());
        let target = Self::open(&path, CACHE_BYTES);
        let replaced = target.and_then(|target| {
            let is_copied = self.copy_rows(&target, pace)? && self.copy_noted(&target, pace)?;
            if !is_copied {
                return Ok(false);
            }
            // Opening it again now takes the time; after the last rows there is little to read.
            target.flush()?;
            target.reopen()?;
            if !self.copy_noted(&target, pace)? {
                return Ok(false);
            }
            target.flush()?;
            self.replace(target, opened)
        });
        self.0.dirty_keys.lock().0 = None;
        if !matches!(replaced, Ok(true)) {
            // If removing fails, the next start removes it.
            let _ = remove(&path);
        }
        replaced
    }

    /// Copies all rows, a few at a time. False: `pace` gave up.
    fn copy_rows(&self, target: &Self, pace: &mut dyn FnMut(u64) -> bool) -> Result<bool, StoreError> {
        let mut from = Bound::Unbounded;
        loop {
            let (mut batch, mut bytes, mut last) = (sled::Batch::default(), 0, None);
            for row in self.state()?.range::<Vec<u8>, _>((from, Bound::Unbounded)).take(ROWS) {
                let (key, value) = row?;
                bytes += key.len() + value.len();
                last = Some(key.to_vec());
                let value = as_now(&key, value)?;
                batch.insert(key, value);
            }
            let Some(last) = last else { return Ok(true) };
            target.state()?.apply_batch(batch)?;
            free_garbage(ROWS);
            if !pace(bytes as u64) {
                return Ok(false);
            }
            from = Bound::Excluded(last);
        }
    }

    /// Copies rows that were written meanwhile, until few are left. False: `pace` gave up.
    fn copy_noted(&self, target: &Self, pace: &mut dyn FnMut(u64) -> bool) -> Result<bool, StoreError> {
        loop {
            let keys = {
                let mut dirty_keys = self.0.dirty_keys.lock();
                if dirty_keys.0.as_ref().is_none_or(|keys| keys.len() <= LAST_ROWS) {
                    return Ok(true);
                }
                dirty_keys.0.replace(BTreeSet::new()).unwrap_or_default()
            };
            let bytes = self.copy_keys(target, keys)?;
            if !pace(bytes) {
                return Ok(false);
            }
        }
    }

    /// Copies the rows of some keys as they are now. Returns their bytes.
    fn copy_keys(&self, target: &Self, keys: BTreeSet<Vec<u8>>) -> Result<u64, StoreError> {
        let (state, mut batch, mut bytes) = (self.state()?, sled::Batch::default(), 0);
        let count = keys.len();
        for key in keys {
            match state.get(&key)? {
                Some(value) => {
                    bytes += key.len() + value.len();
                    batch.insert(key, value);
                }
                None => batch.remove(key),
            }
        }
        target.state()?.apply_batch(batch)?;
        free_garbage(count);
        Ok(bytes as u64)
    }

    /// Copies the last rows and puts the new trees in place. Writing waits meanwhile, and so does reading while they are
    /// opened. False: the old ones were closed and opened meanwhile, after a failure of the disk.
    fn replace(&self, target: Self, opened: u64) -> Result<bool, StoreError> {
        let mut dirty_keys = self.0.dirty_keys.lock();
        if self.0.openings.load(Ordering::SeqCst) != opened {
            return Ok(false);
        }
        self.copy_keys(&target, dirty_keys.0.take().unwrap_or_default())?;
        target.flush()?;
        target.close();
        let _opening = self.begin_opening(TreesOpening::Opening);
        let Some(old) = self.0.open.write().take() else { return Err(StoreError::TreesClosed) };
        let started = Instant::now();
        while std::sync::Arc::strong_count(&old.users) > 1 {
            if started.elapsed() > READERS_WAIT {
                *self.0.open.write() = Some(old);
                return Err(StoreError::TreesBusy);
            }
            std::thread::sleep(READERS_TICK);
        }
        // What it holds is in the new trees.
        self.close_sled(old);
        self.check_given_up()?;
        let swapped = self.swap_folders();
        let open = open_trees(self.path(), self.0.cache_bytes)?;
        *self.0.open.write() = Some(open);
        swapped?;
        remove(&replaced(self.path()))?;
        Ok(true)
    }

    /// Gives the new trees their name. A crash leaves either.
    fn swap_folders(&self) -> Result<(), StoreError> {
        let (state, new, old) = (self.path(), unfinished(self.path()), replaced(self.path()));
        let rename = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|error| StoreError::io("cannot rename", from, error))
        };
        remove(&old)?;
        rename(state, &old)?;
        if let Err(error) = rename(&new, state) {
            rename(&old, state)?;
            return Err(error);
        }
        state.parent().map_or(Ok(()), sync_folder)
    }
}
