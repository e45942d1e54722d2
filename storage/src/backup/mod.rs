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
//! A backup has the journal up to its last whole group, uploaded files, the secret, which organizations are in a cluster, and the
//! newest checkpoint of each organization, with which a restored folder starts fast. Checkpoints are read before the journal, which has the frames that they stand for; the
//! journal is read before the uploaded files, which are stored before a frame names them. Everything else is derived from these.

mod add;
mod file_store;
mod manifest;
mod paced;
mod restore;

#[cfg(test)]
mod tests;

pub use add::BackedUp;
pub use file_store::{Access, FileStore, Folder};
pub use manifest::{Entry, Manifest};
pub use restore::{Restored, restore};

use crate::error::StoreError;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

const MARK: &str = "backup";
const MARK_TEXT: &str = "millstream backup 1\n";

/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// The backups in a place, locked by this process.
pub struct Backups {
    place: Box<dyn FileStore>,
}

impl fmt::Debug for Backups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backups").field(&self.place.title()).finish()
    }
}

impl Backups {
    /// Opens a place of backups; to write, an empty or missing one becomes one.
    ///
    /// # Errors
    /// [`StoreError::Backup`] for another place, while another process uses it, or when it cannot be read or written.
    pub fn open(place: Box<dyn FileStore>, access: Access) -> Result<Self, StoreError> {
        let mut backups = Self { place };
        let mut mark = backups.mark()?;
        if mark.is_none() && access == Access::Write && backups.is_unused()? {
            backups
                .place
                .store(MARK, &mut MARK_TEXT.as_bytes())
                .map_err(|error| backups.failed("write", MARK, &error))?;
            mark = backups.mark()?;
        }
        let title = backups.place.title();
        if mark.as_deref() != Some(MARK_TEXT.as_bytes()) {
            return Err(StoreError::Backup(format!("{title} is not a folder of backups")));
        }
        match backups.place.lock(access) {
            Ok(true) => Ok(backups),
            Ok(false) => Err(StoreError::Backup(format!("{title} is used by another process"))),
            Err(error) => Err(backups.failed("lock", "", &error)),
        }
    }

    fn mark(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut bytes = Vec::new();
        let read = self.place.open(MARK).and_then(|mark| mark.take(64).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(self.failed("read", MARK, &error)),
        }
    }

    /// Whether the place is missing, empty, or was left when it was being made.
    fn is_unused(&self) -> Result<bool, StoreError> {
        Ok(self.list("")?.iter().all(|name| name.starts_with(MARK)))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.place.list(folder).map_err(|error| self.failed("list", folder, &error))
    }

    fn failed(&self, what: &str, name: &str, error: &io::Error) -> StoreError {
        StoreError::Backup(format!("cannot {what} {name} in {}: {error}", self.place.title()))
    }

    /// The times of the backups, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Backup`] when they cannot be listed.
    pub fn times(&self) -> Result<Vec<u64>, StoreError> {
        let mut times: Vec<u64> =
            self.list("manifests")?.iter().filter_map(|name| manifest::time_of(name)).collect();
        times.sort_unstable();
        Ok(times)
    }

    /// Reads a backup, by default the newest, and compares everything with its checksums. Returns its manifest.
    ///
    /// # Errors
    /// [`StoreError::Backup`] for the first file that is missing or damaged.
    pub fn verify(&self, at: Option<u64>) -> Result<Manifest, StoreError> {
        let none = || StoreError::Backup(format!("{} has no backup", self.place.title()));
        let at = at.or(self.times()?.last().copied()).ok_or_else(none)?;
        let manifest = manifest::read(&*self.place, at)?;
        let mut verified = BTreeSet::new();
        for (path, entry) in &manifest.files {
            if verified.insert(&entry.hash) {
                self.copy_file(entry, path, &mut io::sink())?;
            }
        }
        Ok(manifest)
    }

    /// Copies a file of a backup, and compares it with its checksum.
    fn copy_file(&self, entry: &Entry, path: &str, to: &mut dyn Write) -> Result<(), StoreError> {
        let mut to = Target { to, failure: None };
        let copied =
            self.place.open(&manifest::file(&entry.hash)).and_then(|mut from| copy(&mut from, &mut to));
        match copied {
            Ok((hash, bytes)) if (&hash, &bytes) == (&entry.hash, &entry.bytes) => Ok(()),
            Ok(_) => Err(StoreError::Backup(format!("the content of {path} in the backup is damaged"))),
            Err(error) => Err(match to.failure {
                Some(failure) => StoreError::io("cannot write", Path::new(path), failure),
                None => StoreError::Backup(format!("the content of {path} cannot be read: {error}")),
            }),
        }
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
            self.remove(&manifest::name(*at))?;
        }
        let mut used = BTreeSet::new();
        for at in times.into_iter().filter(|at| *at >= time).chain(newest) {
            let files = manifest::read(&*self.place, at)?.files;
            used.extend(files.into_values().map(|entry| entry.hash));
        }
        for name in self.list("files")?.into_iter().filter(|name| !used.contains(name)) {
            self.remove(&manifest::file(&name))?;
        }
        Ok(old.len())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.place.remove(name).map_err(|error| self.failed("remove", name, &error))
    }
}

/// Tells errors of writing from those of reading.
struct Target<'t> {
    to: &'t mut dyn Write,
    failure: Option<io::Error>,
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes).map_err(|error| {
            let kind = error.kind();
            self.failure = Some(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Copies everything. Returns the SHA-256 and the number of bytes.
fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(String, u64)> {
    let (mut piece, mut hash, mut bytes) = (vec![0; PIECE_BYTES], Sha256::new(), 0);
    loop {
        let count = match from.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if count == 0 {
            return Ok((manifest::hex(&hash.finalize()), bytes));
        }
        hash.update(&piece[..count]);
        to.write_all(&piece[..count])?;
        bytes += count as u64;
    }
}
