//! Backup repositories: a folder, or a service outside this package that stores files by name.

use crate::error::StoreError;
use crate::private_files::{create_private, sync_folder, write_synced};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What a process does with a backup repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Also makes a repository of a place that is empty or missing.
    Write,
    /// Also changes it, but it must be one of backups already.
    Repair,
}

/// Files by name, such as `manifests/000001732300000.manifest`: at most one folder deep, of letters, digits, `.` and `-`.
pub trait FileStore: Send {
    /// The name of the repository for people.
    fn title(&self) -> String;

    /// Keeps other processes from changing the repository until it is dropped; to read it, the right to read is enough. False: another
    /// one has it.
    ///
    /// # Errors
    /// Those of the disk or the service.
    fn lock(&mut self, access: Access) -> io::Result<bool>;

    /// The names of the files in a folder of the repository, or in the repository itself for "", in no order.
    ///
    /// # Errors
    /// Those of the disk or the service.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// `NotFound`, and those of the disk or the service.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>>;

    /// Stores a file, or replaces it. It has its name only once its content was read to the end without an error and stored
    /// completely.
    ///
    /// # Errors
    /// That of reading the content, and those of the disk or the service.
    fn store(&self, name: &str, content: &mut dyn Read) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the disk or the service.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Gives a file another name, in a folder of the repository that may be missing. A file that has this name is replaced.
    ///
    /// # Errors
    /// `NotFound`, and those of the disk or the service.
    fn rename(&self, name: &str, to: &str) -> io::Result<()>;

    /// Makes everything that was stored durable.
    ///
    /// # Errors
    /// Those of the disk or the service.
    fn sync(&self) -> io::Result<()>;
}

/// Backups in a folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lock: Option<File>,
}

impl Folder {
    /// The folder at a path, which may be missing.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), lock: None }
    }
}

impl FileStore for Folder {
    fn title(&self) -> String {
        self.path.display().to_string()
    }

    fn lock(&mut self, access: Access) -> io::Result<bool> {
        let path = self.path.join("lock");
        let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        if access == Access::Read {
            let Some(file) = lock_to_read(&path, opened)? else { return Ok(true) };
            // Some file systems have no locks.
            let is_free = !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
            self.lock = is_free.then_some(file);
            return Ok(is_free);
        }
        let file = opened?;
        let is_free = file.try_lock().is_ok();
        if is_free {
            for folder in ["files", "manifests"] {
                create_private(&self.path.join(folder)).map_err(io::Error::other)?;
            }
        }
        self.lock = is_free.then_some(file);
        Ok(is_free)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        match names(&self.path.join(folder)) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(io::Error::other),
        }
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn store(&self, name: &str, content: &mut dyn Read) -> io::Result<()> {
        let path = self.path.join(name);
        if !name.contains('/') {
            // The mark, which is written before the folder is locked, perhaps by two processes at once.
            create_private(&self.path).map_err(io::Error::other)?;
            let own =
                path.with_file_name(format!("{name}-{:016x}", RandomState::new().build_hasher().finish()));
            let written = write_synced(&own, content).and_then(|()| fs::rename(&own, &path));
            if written.is_err() {
                // What stays is not in the way of another attempt.
                let _ = fs::remove_file(&own);
            }
            written?;
            return sync_folder(&self.path).map_err(io::Error::other);
        }
        let unfinished = path.with_file_name("unfinished");
        write_synced(&unfinished, content)?;
        fs::rename(&unfinished, &path)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        rename_below(&self.path, name, to)
    }

    fn sync(&self) -> io::Result<()> {
        ["files", "manifests"].iter().try_for_each(|folder| File::open(self.path.join(folder))?.sync_all())
    }
}

/// The file to lock while a repository is read, given how opening it for writing ended. On a file system that is mounted for reading, or for
/// a user that may only read, it may be missing: then there is nothing to lock, and none is needed.
fn lock_to_read(path: &Path, opened: io::Result<File>) -> io::Result<Option<File>> {
    match opened {
        Err(error) if matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {
            match File::open(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                opened => opened.map(Some),
            }
        }
        opened => opened.map(Some),
    }
}

/// Gives a file below a folder another name, durably.
pub(crate) fn rename_below(path: &Path, name: &str, to: &str) -> io::Result<()> {
    let to = path.join(to);
    let folder = to.parent().unwrap_or(path);
    create_private(folder).map_err(io::Error::other)?;
    fs::rename(path.join(name), &to)?;
    sync_folder(folder).map_err(io::Error::other)
}

/// The names in a folder, in order.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let error = |source| StoreError::io("cannot read", folder, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        names.push(entry.map_err(error)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_cannot_be_written_are_read() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("lock");
        for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied] {
            assert!(lock_to_read(&path, Err(kind.into())).unwrap().is_none());
        }
        assert!(lock_to_read(&path, Err(ErrorKind::StorageFull.into())).is_err());
        fs::write(&path, "").unwrap();
        assert!(lock_to_read(&path, Err(ErrorKind::ReadOnlyFilesystem.into())).unwrap().is_some());
    }

    #[test]
    fn readers_share_a_place_and_writers_do_not() {
        let temp = tempfile::tempdir().unwrap();
        let lock = |access| {
            let mut folder = Folder::new(temp.path());
            let is_free = folder.lock(access).unwrap();
            is_free.then_some(folder)
        };
        let readers = [lock(Access::Read), lock(Access::Read)];
        assert!(readers.iter().all(Option::is_some) && lock(Access::Write).is_none());
        drop(readers);
        let writer = lock(Access::Write);
        assert!(writer.is_some() && lock(Access::Read).is_none());
    }
}
