//! Backups of a data folder, also of one in use: files named by their content, and a manifest for each backup. What did
//! not change since the last one is neither read nor stored again.
//!
//! ```text
//! backup                     "millstream backup 1"
//! lock                       held while a backup is made or removed
//! files/<SHA-256>            the contents of files
//! manifests/<time>.manifest  one for each backup, written last
//! damaged/                   what `backup verify --repair` set aside
//! ```
//!
//! A repository has the backups of one data folder. The newest manifest says which: it names the secret and its fingerprint by their
//! content, and a folder with another secret is refused.
//!
//! A backup has the journal up to its last whole group, uploaded files, the secret, which organizations are in a cluster, and the
//! newest checkpoint of each organization, with which a restored folder starts fast. Checkpoints are read before the journal, which has the frames that they stand for; the
//! journal is read before the uploaded files, which are stored before a frame names them. Everything else is derived from these.

mod add;
mod file_store;
mod identity;
mod manifest;
mod paced;
mod restore;
mod verify;

#[cfg(test)]
mod tests;

pub use add::BackedUp;
pub(crate) use file_store::rename_below;
pub use file_store::{Access, FileStore, Folder};
pub use manifest::{Entry, Manifest};
pub use restore::{OnDamage, Restored, restore};
pub use verify::{Damage, DamagedFile, Verified};

use crate::error::StoreError;
use identity::Identity;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

const MARK: &str = "backup";
const MARK_TEXT: &str = "millstream backup 1\n";

/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// The backups in a repository, locked by this process.
pub struct Backups {
    repository: Box<dyn FileStore>,
}

impl fmt::Debug for Backups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backups").field(&self.repository.title()).finish()
    }
}

impl Backups {
    /// Opens a backup repository; to write, a missing one is made.
    ///
    /// # Errors
    /// [`StoreError::Backup`] for something else than a repository, while another process uses it, or when it cannot be read or written.
    pub fn open(repository: Box<dyn FileStore>, access: Access) -> Result<Self, StoreError> {
        let mut backups = Self { repository };
        let mut mark = backups.mark()?;
        if mark.is_none() && access == Access::Write {
            if backups.is_unused()? {
                backups
                    .repository
                    .store(MARK, &mut MARK_TEXT.as_bytes())
                    .map_err(|error| backups.failed("write", MARK, &error))?;
            }
            // Another process may have made it meanwhile.
            mark = backups.mark()?;
        }
        let title = backups.repository.title();
        if mark.as_deref() != Some(MARK_TEXT.as_bytes()) {
            return Err(StoreError::Backup(format!("{title} is not a backup repository")));
        }
        match backups.repository.lock(access) {
            Ok(true) => Ok(backups),
            Ok(false) => Err(StoreError::Backup(format!("{title} is used by another process"))),
            Err(error) => Err(backups.failed("lock", "", &error)),
        }
    }

    fn mark(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut bytes = Vec::new();
        let read = self.repository.open(MARK).and_then(|mark| mark.take(64).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(self.failed("read", MARK, &error)),
        }
    }

    /// Whether the repository is missing, empty, or was left when it was being made.
    fn is_unused(&self) -> Result<bool, StoreError> {
        Ok(self.list("")?.iter().all(|name| name.starts_with(MARK)))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.repository.list(folder).map_err(|error| self.failed("list", folder, &error))
    }

    fn failed(&self, what: &str, name: &str, error: &io::Error) -> StoreError {
        let name = if name.is_empty() { String::new() } else { format!("{name} in ") };
        StoreError::Backup(format!("cannot {what} {name}{}: {error}", self.repository.title()))
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

    /// Removes backups of the newest one's data folder from before a time, but never the newest, and contents that none has. Returns
    /// how many.
    ///
    /// # Errors
    /// [`StoreError`] when something cannot be read or removed.
    pub fn remove_before(&self, time: u64) -> Result<usize, StoreError> {
        let times = self.times()?;
        let Some((newest, older)) = times.split_last() else { return Ok(0) };
        let newest = manifest::read(&*self.repository, *newest)?;
        let own = Identity::of_backup(&newest);
        let hashes = |manifest: Manifest| manifest.files.into_values().map(|entry| entry.hash);
        let mut used: BTreeSet<String> = hashes(newest).collect();
        let mut old = Vec::new();
        for at in older {
            // An old one that is damaged is of no use to anyone.
            let found = match *at < time {
                true => manifest::find(&*self.repository, *at)?,
                false => Some(manifest::read(&*self.repository, *at)?),
            };
            match found.filter(|found| *at >= time || own.is_other(&Identity::of_backup(found))) {
                Some(kept) => used.extend(hashes(kept)),
                None => old.push(*at),
            }
        }
        for at in &old {
            self.remove(&manifest::name(*at))?;
        }
        for name in self.list("files")?.into_iter().filter(|name| !used.contains(name)) {
            self.remove(&manifest::file(&name))?;
        }
        Ok(old.len())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.repository.remove(name).map_err(|error| self.failed("remove", name, &error))
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
