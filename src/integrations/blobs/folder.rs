//! The folder of files, as far as this server writes to it itself: large files, which arrive in pieces.

use crate::integrations::block_writer::Durability;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A folder with files, below it by their names.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    pub durability: Durability,
}

impl Folder {
    /// Where a file is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates the folder of a file, with those above it.
    pub fn create_parents(&self, file: &Path) -> Result<(), Error> {
        let Some(parent) = file.parent() else { return Ok(()) };
        let missing: Vec<&Path> = parent.ancestors().take_while(|folder| !folder.exists()).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        for folder in missing {
            folder.parent().map_or(Ok(()), |above| self.sync(above))?;
        }
        Ok(())
    }

    /// Makes a file or a folder durable.
    fn sync(&self, path: &Path) -> Result<(), Error> {
        match self.durability {
            Durability::Durable => File::open(path)?.sync_all(),
            Durability::Volatile => Ok(()),
        }
    }

    /// Gives a durable file its name.
    pub fn publish(&self, written: &Path, name: &str) -> Result<(), Error> {
        let file = self.file(name);
        std::fs::rename(written, &file)?;
        file.parent().map_or(Ok(()), |parent| self.sync(parent))
    }

    /// Copies a file of another file system, which has its name when it is durable.
    pub fn copy(&self, file: &Path, name: &str) -> Result<(), Error> {
        let written = unfinished(self.file(name));
        let copied = std::fs::copy(file, &written).and_then(|_| {
            std::fs::set_permissions(&written, Permissions::from_mode(0o600))?;
            self.sync(&written)?;
            self.publish(&written, name)
        });
        copied.inspect_err(|_| drop(std::fs::remove_file(&written)))
    }

    /// Gives a file of the data folder, which is durable, a name here, too.
    pub fn link(&self, file: &Path, name: &str) -> Result<(), Error> {
        let own = self.file(name);
        self.create_parents(&own)?;
        match std::fs::remove_file(&own) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // The folder may be on another file system, or on one without links.
        if std::fs::hard_link(file, &own).is_err() {
            return self.copy(file, name);
        }
        std::fs::set_permissions(&own, Permissions::from_mode(0o600))?;
        own.parent().map_or(Ok(()), |parent| self.sync(parent))
    }
}

/// Where a file is until it is complete.
pub fn unfinished(file: PathBuf) -> PathBuf {
    let mut path = file.into_os_string();
    path.push("#1");
    path.into()
}
