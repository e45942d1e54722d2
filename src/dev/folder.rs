//! A folder for data that nobody keeps: private, removed at the end, and what a killed server left is
//! cleared away by the next one.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How the folders begin; behind it come the process and random characters.
const PREFIX: &str = "millstream-dev-";

/// A private folder that is removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Makes one where this machine keeps temporary files, after removing those that no process uses any
    /// more.
    ///
    /// # Errors
    /// What the system says.
    pub fn create() -> io::Result<Self> {
        // Nothing waits for this disk, so it is as fast as memory, without the limits of a memory disk.
        let parent = std::env::temp_dir();
        clear_leftovers(&parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let only_owner = fs::Permissions::from_mode(0o700);
        Ok(Self(tempfile::Builder::new().prefix(&prefix).permissions(only_owner).tempdir_in(parent)?))
    }

    /// Where the data goes: a folder inside, so that it is new and empty.
    pub fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }
}

fn clear_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && is_abandoned(&entry.path()) {
            // Somebody else's, or gone already: not worth a word.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether no running server holds the lock of the data inside. A folder without a lock may just be on
/// its way to getting one.
fn is_abandoned(folder: &Path) -> bool {
    let Ok(lock) = fs::File::open(folder.join("data").join("lock")) else { return false };
    lock.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_without_a_holder_are_cleared() {
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
    fn nobody_else_can_read_it_and_it_goes_away() {
        let folder = TemporaryFolder::create().unwrap();
        let path = folder.0.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }
}
