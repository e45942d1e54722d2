//! Backups of a data folder, also of one in use: files named by their content, and a manifest for each backup. What did
//! not change since the last one is neither read nor stored again.
//!
//! ```text
//! backup                     "millstream backup 1"
//! lock                       held while a backup is made or removed
//! files/<SHA-256>            the contents of files
//! manifests/<time>.manifest  one for each backup, written last
//! ```
//!
//! A backup has the journal up to its last whole group, uploaded files, and the secret. The journal is read before the
//! uploaded files, which are stored before a frame names them. Everything else is derived from these.

mod manifest;
mod restore;

#[cfg(test)]
mod tests;

pub use manifest::{Entry, Manifest};
pub use restore::{Restored, restore};

use crate::error::StoreError;
use crate::folder::DataFolder;
use crate::log::{self, LogError};
use crate::private_files::{create_private, sync_folder, write_private};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const MARK: &str = "backup";
const MARK_TEXT: &str = "millstream backup 1\n";

/// A file that was modified less than this long before a backup may change without a new time of modification.
const RECENT_NANOS: u64 = 2_000_000_000;

/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// The result of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    pub files: usize,
    pub bytes: u64,
    /// What was not in an earlier backup.
    pub new_files: usize,
    pub new_bytes: u64,
}

/// A folder of backups, locked by this process.
#[derive(Debug)]
pub struct Backups {
    path: PathBuf,
    _lock: File,
}

impl Backups {
    /// Opens a folder of backups; with `creates` an empty or missing folder becomes one.
    ///
    /// # Errors
    /// [`StoreError::Backup`] for another folder, or while another process uses it; [`StoreError::Io`].
    pub fn open(path: &Path, creates: bool) -> Result<Self, StoreError> {
        let mark = path.join(MARK);
        if creates && !mark.exists() && is_unused(path) {
            create_private(path)?;
            write_private(&mark, MARK_TEXT.as_bytes())?;
        }
        if fs::read_to_string(&mark).ok().as_deref() != Some(MARK_TEXT) {
            return Err(StoreError::Backup(format!("{} is not a folder of backups", path.display())));
        }
        let lock = path.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock);
        let file = file.map_err(|source| StoreError::io("cannot open", &lock, source))?;
        for folder in ["files", "manifests"] {
            create_private(&path.join(folder))?;
        }
        if file.try_lock().is_err() {
            return Err(StoreError::Backup(format!("{} is used by another process", path.display())));
        }
        Ok(Self { path: path.to_path_buf(), _lock: file })
    }

    fn manifests(&self) -> PathBuf {
        self.path.join("manifests")
    }

    fn file(&self, hash: &str) -> PathBuf {
        self.path.join("files").join(hash)
    }

    /// The times of the backups, oldest first.
    pub fn times(&self) -> Result<Vec<u64>, StoreError> {
        manifest::times(&self.manifests())
    }

    /// Backs up a data folder. `now` is in milliseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError`] when something cannot be read or stored; earlier backups stay as they are.
    pub fn add(&self, data: &Path, now: u64) -> Result<BackedUp, StoreError> {
        if !DataFolder::exists(data) {
            return Err(StoreError::Backup(format!("{} is not a data folder", data.display())));
        }
        let last = match self.times()?.last() {
            Some(at) if *at >= now => {
                return Err(StoreError::Backup("the newest backup is later than this clock says".to_owned()));
            }
            Some(at) => manifest::read(&self.manifests(), *at)?,
            None => Manifest::default(),
        };
        let mut adding = Adding {
            backups: self,
            data,
            last,
            manifest: Manifest { at: now, ..Manifest::default() },
            done: BackedUp { at: now, ..BackedUp::default() },
        };
        for name in ["format", "secret", "secret.fingerprint", "development"] {
            if data.join(name).exists() {
                adding.add(name, None)?;
            }
        }
        let shards = names(&data.join("journal"))?;
        for shard in shards {
            adding.add_journal(&shard)?;
        }
        adding.add_folder("blobs")?;
        sync_folder(&self.path.join("files"))?;
        adding.manifest.write(&self.manifests())?;
        Ok(adding.done)
    }

    /// Reads a backup, by default the newest, and compares everything with its checksums. Returns its manifest.
    ///
    /// # Errors
    /// [`StoreError::Backup`] for the first file that is missing or damaged.
    pub fn verify(&self, at: Option<u64>) -> Result<Manifest, StoreError> {
        let none = || StoreError::Backup(format!("{} has no backup", self.path.display()));
        let at = at.or(self.times()?.last().copied()).ok_or_else(none)?;
        let manifest = manifest::read(&self.manifests(), at)?;
        let mut verified = BTreeSet::new();
        for (path, entry) in &manifest.files {
            if verified.insert(&entry.hash) {
                let mut file = self.read(entry, path)?;
                copy(&mut file, &mut std::io::sink(), u64::MAX)
                    .map_err(|source| StoreError::io("cannot read", &self.file(&entry.hash), source))
                    .and_then(|found| check(path, entry, &found))?;
            }
        }
        Ok(manifest)
    }

    fn read(&self, entry: &Entry, path: &str) -> Result<File, StoreError> {
        let missing = |error| StoreError::Backup(format!("the content of {path} cannot be read: {error}"));
        File::open(self.file(&entry.hash)).map_err(missing)
    }

    /// Removes backups from before a time, but never the newest one, and contents that none has. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when something cannot be read or removed.
    pub fn remove_before(&self, time: u64) -> Result<usize, StoreError> {
        let mut times = self.times()?;
        let newest = times.pop();
        let old: Vec<u64> = times.iter().copied().filter(|at| *at < time).collect();
        for at in &old {
            manifest::remove(&self.manifests(), *at)?;
        }
        let mut used = BTreeSet::new();
        for at in times.into_iter().filter(|at| *at >= time).chain(newest) {
            used.extend(manifest::read(&self.manifests(), at)?.files.into_values().map(|entry| entry.hash));
        }
        for name in names(&self.path.join("files"))?.into_iter().filter(|name| !used.contains(name)) {
            let path = self.file(&name);
            fs::remove_file(&path).map_err(|source| StoreError::io("cannot remove", &path, source))?;
        }
        Ok(old.len())
    }
}

/// A backup that is being made.
struct Adding<'b> {
    backups: &'b Backups,
    data: &'b Path,
    last: Manifest,
    manifest: Manifest,
    done: BackedUp,
}

impl Adding<'_> {
    /// Adds the segments of a shard that have groups. Only the newest one can still grow.
    fn add_journal(&mut self, shard: &str) -> Result<(), StoreError> {
        let folder = self.data.join("journal").join(shard);
        for number in log::segments_with_groups(&folder)? {
            if !self.add_part(shard, &folder, number)? {
                // It was removed, and with it everything before it.
                let prefix = format!("journal/{shard}/");
                self.manifest.files.retain(|path, _| !path.starts_with(&prefix));
            }
        }
        Ok(())
    }

    /// Adds a part of the journal: its archive, or its segment. False: it was removed meanwhile.
    fn add_part(&mut self, shard: &str, folder: &Path, number: u64) -> Result<bool, StoreError> {
        let [archive, segment] = log::part_names(number);
        // The archive once more, because it may take the place of the segment meanwhile.
        for name in [&archive, &segment, &archive] {
            let path = format!("journal/{shard}/{name}");
            if !folder.join(name).exists() {
                continue;
            }
            if self.keep(&path)? {
                return Ok(true);
            }
            let bytes = match log::whole_bytes(folder, number, name) {
                Err(LogError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => continue,
                found => found?,
            };
            self.add(&path, bytes)?;
            if self.manifest.files.contains_key(&path) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add_folder(&mut self, name: &str) -> Result<(), StoreError> {
        let folder = self.data.join(name);
        if !folder.exists() {
            return Ok(());
        }
        for entry in names(&folder)? {
            let path = format!("{name}/{entry}");
            if self.data.join(&path).is_dir() {
                self.add_folder(&path)?;
            } else if !self.keep(&path)? {
                self.add(&path, None)?;
            }
        }
        Ok(())
    }

    /// Takes a file from the last backup, if it did not change since then.
    fn keep(&mut self, path: &str) -> Result<bool, StoreError> {
        let Some(original) = original(&self.data.join(path))? else { return Ok(false) };
        let is_old = original.1.saturating_add(RECENT_NANOS) < self.last.at.saturating_mul(1_000_000);
        let Some(known) = self.last.files.get(path).filter(|known| known.original == original && is_old)
        else {
            return Ok(false);
        };
        if !self.backups.file(&known.hash).exists() {
            return Ok(false);
        }
        self.done.files += 1;
        self.done.bytes += known.bytes;
        self.manifest.files.insert(path.to_owned(), known.clone());
        Ok(true)
    }

    /// Stores a file, or its first bytes. A file that was removed meanwhile is left out: nothing names it any more.
    fn add(&mut self, path: &str, bytes: Option<u64>) -> Result<(), StoreError> {
        let source = self.data.join(path);
        let Some(original) = original(&source)? else { return Ok(()) };
        if path.contains('\n') {
            return Err(StoreError::Backup(format!("the name of {} has a line break", source.display())));
        }
        let mut from = match File::open(&source) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(|error| StoreError::io("cannot read", &source, error))?,
        };
        let unfinished = self.backups.file("unfinished");
        let mut store = || {
            let mut to =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
            let copied = copy(&mut from, &mut to, bytes.unwrap_or(u64::MAX))?;
            to.sync_all()?;
            let (hash, _) = &copied;
            let path = self.backups.file(hash);
            let is_new = !path.exists();
            if is_new {
                fs::rename(&unfinished, &path)?
            } else {
                fs::remove_file(&unfinished)?
            }
            Ok((copied, is_new))
        };
        let stored: std::io::Result<_> = store();
        let ((hash, bytes), is_new) =
            stored.map_err(|error| StoreError::io("cannot back up", &source, error))?;
        self.done.files += 1;
        self.done.bytes += bytes;
        self.done.new_files += usize::from(is_new);
        self.done.new_bytes += if is_new { bytes } else { 0 };
        self.manifest.files.insert(path.to_owned(), Entry { hash, bytes, original });
        Ok(())
    }
}

/// Whether a folder is missing, empty, or was left when it was being made.
fn is_unused(path: &Path) -> bool {
    names(path).map_or(true, |names| names.iter().all(|name| name.starts_with(MARK)))
}

/// Size and time of modification of a file; `None` if there is none.
fn original(path: &Path) -> Result<Option<(u64, u64)>, StoreError> {
    match fs::metadata(path) {
        Ok(found) => {
            let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            Ok(Some((found.size(), modified.map_or(u64::MAX, |time| time.as_nanos() as u64))))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io("cannot read", path, source)),
    }
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let error = |source| StoreError::io("cannot read", folder, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        names.push(entry.map_err(error)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Copies at most `bytes_max` bytes. Returns the SHA-256 and the number of them.
fn copy(from: &mut impl Read, to: &mut impl Write, bytes_max: u64) -> std::io::Result<(String, u64)> {
    let mut from = from.take(bytes_max);
    let (mut piece, mut hash, mut bytes) = (vec![0; PIECE_BYTES], Sha256::new(), 0);
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            return Ok((manifest::hex(&hash.finalize()), bytes));
        }
        hash.update(&piece[..count]);
        to.write_all(&piece[..count])?;
        bytes += count as u64;
    }
}

/// Compares what was read with the manifest.
fn check(path: &str, entry: &Entry, (hash, bytes): &(String, u64)) -> Result<(), StoreError> {
    if (hash, bytes) == (&entry.hash, &entry.bytes) {
        return Ok(());
    }
    Err(StoreError::Backup(format!("the content of {path} in the backup is damaged")))
}
