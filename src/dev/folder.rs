//! The data folders of development servers: temporary ones (private, deleted on exit; the next server deletes those
//! of a killed one), and the mark that distinguishes a kept one from the data folder of a production server.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of temporary folders; the process id and random characters follow.
const PREFIX: &str = "millstream-dev-";

/// Maximum number of attempts to delete a folder, while threads that a second Ctrl-C does not wait for still write
/// into it.
const REMOVALS_MAX: usize = 20;

/// The empty file that marks the data folder of a development server.
const MARK: &str = "development";

/// Whether a data folder belongs to a development server.
pub fn is_marked(data: &Path) -> bool {
    data.join(MARK).exists()
}

/// Marks a folder that is about to become the data folder of a development server, or has just become it. A folder
/// with other content is not marked before.
pub fn mark(data: &Path, is_data_folder: bool) -> io::Result<()> {
    if !is_data_folder {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(data)?;
        if fs::read_dir(data)?.next().is_some() {
            return Ok(());
        }
    }
    if is_marked(data) {
        return Ok(());
    }
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(data.join(MARK))?;
    file.sync_all()
}

/// A private folder that is deleted on drop.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        for _ in 0..REMOVALS_MAX {
            if fs::remove_dir_all(self.0.path()).is_ok() || !self.0.path().exists() {
                return;
            }
        }
    }
}

impl TemporaryFolder {
    /// Creates a folder for temporary files, after deleting those that no process uses any more.
    pub fn create() -> io::Result<Self> {
        // Nothing is synced, so it is as fast as memory, without the size limit of a memory disk.
        let parent = std::env::temp_dir();
        clear_leftovers(&parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let only_owner = fs::Permissions::from_mode(0o700);
        Ok(Self(tempfile::Builder::new().prefix(&prefix).permissions(only_owner).tempdir_in(parent)?))
    }

    /// The data folder: a folder inside, so that it is new and empty.
    pub fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }
}

fn clear_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && is_abandoned(&entry.path()) {
            // It belongs to another user, or is gone already.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether no running server holds the lock of the data folder inside. A folder without a lock may be about to get
/// one.
fn is_abandoned(folder: &Path) -> bool {
    let Ok(lock) = fs::File::open(folder.join("data").join("lock")) else { return false };
    lock.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unlocked_folders_are_cleared() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, has_lock: bool| {
            let folder = parent.path().join(name);
            fs::create_dir_all(folder.join("data")).unwrap();
            has_lock.then(|| fs::File::create(folder.join("data").join("lock")).unwrap())
        };
        make("millstream-dev-1-a", true);
        let held = make("millstream-dev-2-b", true).unwrap();
        held.lock().unwrap();
        make("millstream-dev-3-c", false);
        make("other-dev-4", true);
        clear_leftovers(parent.path());
        let mut left: Vec<_> =
            fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["millstream-dev-2-b", "millstream-dev-3-c", "other-dev-4"]);
    }

    #[test]
    fn only_new_folders_and_data_folders_are_marked() {
        let parent = tempfile::tempdir().unwrap();
        let new = parent.path().join("new");
        mark(&new, false).unwrap();
        assert!(is_marked(&new));
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(parent.path().join("notes.txt"), "mine").unwrap();
        mark(parent.path(), false).unwrap();
        assert!(!is_marked(parent.path()));
        mark(parent.path(), true).unwrap();
        assert!(is_marked(parent.path()));
    }

    #[test]
    fn temporary_folder_is_private_and_deleted() {
        let folder = TemporaryFolder::create().unwrap();
        let path = folder.0.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }
}
