//! The data folders of development servers: temporary ones (private, deleted on exit; the next server deletes those
//! of a killed one), and the mark that distinguishes a kept one from the data folder of a production server.

use actors::DomainError;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Prefix of temporary folders; the process id and random characters follow.
const PREFIX: &str = "millstream-dev-";

/// Age from which a folder without a lock is abandoned, unless its process runs: until then it may be about to get one.
const UNLOCKED_MAX: Duration = Duration::from_secs(60);

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

/// The name of a private folder that is deleted on drop. What makes the data folder in it makes it, too: a process that ends
/// before leaves none.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        for _ in 0..REMOVALS_MAX {
            if fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
        }
    }
}

impl TemporaryFolder {
    /// The name of a new folder, after those that no process uses any more are deleted.
    ///
    /// # Errors
    /// `Storage` when the system has no randomness, or no folder for temporary files.
    pub fn choose() -> Result<Self, DomainError> {
        // Nothing is synced, so it is as fast as memory, without the size limit of a memory disk.
        Self::choose_in(&std::env::temp_dir())
    }

    fn choose_in(parent: &Path) -> Result<Self, DomainError> {
        // What makes the data folder would make this one, too, and it would stay.
        if !parent.is_dir() {
            let reason = format!(
                "the folder for temporary files, {}, does not exist: set TMPDIR to one that does, or give --data",
                parent.display()
            );
            return Err(DomainError::Storage(reason));
        }
        clear_leftovers(parent);
        let name = format!("{PREFIX}{}-{}", std::process::id(), actors::login::random_name()?);
        Ok(Self(parent.join(name)))
    }

    /// The data folder: a folder inside, so that it is new and empty.
    pub fn data(&self) -> PathBuf {
        self.0.join("data")
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

/// Whether no running server holds the lock of the data folder inside, or is about to make one.
fn is_abandoned(folder: &Path) -> bool {
    match fs::File::open(folder.join("data").join("lock")) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => !is_of_running_process(folder) && is_old(folder),
    }
}

/// Whether the process that is in its name runs, as far as this process can see.
fn is_of_running_process(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(PREFIX));
    let process = name.and_then(|name| name.split('-').next()).and_then(|id| id.parse::<u32>().ok());
    process.is_some_and(|id| Path::new("/proc").join(id.to_string()).exists())
}

fn is_old(folder: &Path) -> bool {
    let changed = fs::metadata(folder).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > UNLOCKED_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
        make("millstream-dev-3000000003-c", false);
        let own = format!("millstream-dev-{}-e", std::process::id());
        for name in ["millstream-dev-3000000004-d", &own] {
            make(name, false);
            let before = SystemTime::now() - UNLOCKED_MAX * 2;
            fs::File::open(parent.path().join(name)).unwrap().set_modified(before).unwrap();
        }
        make("other-dev-4", true);
        clear_leftovers(parent.path());
        let mut left: Vec<_> =
            fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut expected = ["millstream-dev-2-b", "millstream-dev-3000000003-c", &own, "other-dev-4"];
        expected.sort();
        assert_eq!(left, expected);
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
    fn folder_for_temporary_files_must_exist() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("none/a");
        let Err(DomainError::Storage(said)) = TemporaryFolder::choose_in(&missing) else { panic!() };
        assert!(said.contains("none/a, does not exist: set TMPDIR"), "{said}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn temporary_folder_is_private_and_deleted() {
        let folder = TemporaryFolder::choose().unwrap();
        let path = folder.0.clone();
        assert!(!path.exists());
        mark(&folder.data(), false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }
}
