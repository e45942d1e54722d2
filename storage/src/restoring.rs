//! The mark of a folder that is being restored: the file `restoring`, which becomes `format` in one step at the end.
//!
//! ```text
//! from /srv/backups            where the backups are
//! ```
//!
//! It is empty if an earlier version wrote it.

use crate::error::StoreError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// In a folder that is being restored.
pub(crate) const RESTORING: &str = "restoring";

/// The mark of a folder, locked by this process until the value is dropped.
#[derive(Debug)]
pub(crate) struct Mark {
    path: PathBuf,
    file: File,
}

impl Mark {
    /// Marks a folder that is empty or was left by a restore.
    ///
    /// # Errors
    /// [`StoreError::Backup`] while another process restores into the folder, [`StoreError::Io`].
    pub(crate) fn make(data: &Path) -> Result<Self, StoreError> {
        let path = data.join(RESTORING);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(|source| StoreError::io("cannot write", &path, source))?;
        // Some file systems have no locks.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(StoreError::Backup(format!(
                "another command restores into {}; wait until it is complete",
                data.display()
            ))),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { path, file }),
        }
    }

    /// Notes where the backups are. Durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(crate) fn note_origin(&mut self, place: &str) -> Result<(), StoreError> {
        let is_folder = !place.contains("://");
        let absolute = std::path::absolute(place).ok().filter(|_| is_folder);
        let place = absolute.map_or_else(|| place.to_owned(), |path| path.display().to_string());
        // On one line, whatever the name of the folder is.
        self.write(format!("from {}\n", place.replace(char::is_control, "?")).as_bytes())
    }

    /// Replaces the content. Durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(crate) fn write(&mut self, content: &[u8]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let written = rewrite(&mut self.file, content);
        written.map_err(|source| StoreError::io("cannot write", &path, source))
    }

    /// Removes everything else from the folder.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(crate) fn clear(&self, data: &Path) -> Result<(), StoreError> {
        let entries = fs::read_dir(data).map_err(|source| StoreError::io("cannot read", data, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| StoreError::io("cannot read", data, source))?;
            let path = entry.path();
            if path == self.path {
                continue;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|source| StoreError::io("cannot remove", &path, source))?;
        }
        Ok(())
    }

    /// Removes everything from the folder, the mark last: without it, what is left would seem to be something else.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(crate) fn undo(self, data: &Path) -> Result<(), StoreError> {
        self.clear(data)?;
        fs::remove_file(&self.path).map_err(|source| StoreError::io("cannot remove", &self.path, source))
    }
}

fn rewrite(file: &mut File, content: &[u8]) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(content)?;
    file.sync_all()
}

/// Whether a restore into a folder is not finished. What has a `format` is a data folder, whatever else is in it.
pub(crate) fn is_restoring(folder: &Path) -> bool {
    folder.join(RESTORING).exists() && !folder.join("format").exists()
}

/// Refuses a folder into which a restore is not finished.
///
/// # Errors
/// [`StoreError::Restoring`].
pub(crate) fn check_restored(folder: &Path) -> Result<(), StoreError> {
    if !is_restoring(folder) {
        return Ok(());
    }
    let text = fs::read_to_string(folder.join(RESTORING)).unwrap_or_default();
    let from = text.lines().next().and_then(|line| line.strip_prefix("from ")).map(str::to_owned);
    Err(StoreError::Restoring { path: folder.to_path_buf(), from })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_restore_is_named_with_its_command() {
        let temp = tempfile::tempdir().unwrap();
        let shown = temp.path().display();
        check_restored(temp.path()).unwrap();
        let mut mark = Mark::make(temp.path()).unwrap();
        let refused = check_restored(temp.path()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("`millstream restore --from BACKUPS --data {shown}`")),
            "{refused}"
        );
        for (place, written) in [("/srv/backups", "/srv/backups"), ("s3://bucket/a", "s3://bucket/a")] {
            mark.note_origin(place).unwrap();
            let refused = check_restored(temp.path()).unwrap_err().to_string();
            let command = format!("`millstream restore --from {written} --data {shown}`");
            assert!(refused.contains(&command), "{refused}");
        }
    }

    #[test]
    fn undoing_leaves_an_empty_folder() {
        let temp = tempfile::tempdir().unwrap();
        let mark = Mark::make(temp.path()).unwrap();
        assert!(Mark::make(temp.path()).is_err(), "it is locked");
        fs::create_dir_all(temp.path().join("journal/shard-000")).unwrap();
        fs::write(temp.path().join("secret"), "x").unwrap();
        mark.undo(temp.path()).unwrap();
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}
