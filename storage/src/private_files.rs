//! Folders and files that only their owner can read, and syncing them.

use crate::error::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a file that are written before they are synced.
const SYNC_BYTES: u64 = 1 << 20;

/// Creates a folder and those above it.
pub(crate) fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).map_err(|source| StoreError::io("cannot create", path, source))
}

/// Replaces a file: written under another name, synced and renamed.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|source| StoreError::io("cannot write", path, source))
}

/// Writes all of `content` to a file, which is created or replaced, and syncs it; its name is not synced. Large contents are synced
/// by the megabyte: the system would write them at once, and a running server's commits would wait for that.
///
/// # Errors
/// That of reading the content, and those of the disk.
pub(crate) fn write_synced(path: &Path, content: &mut dyn Read) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    while io::copy(&mut content.take(SYNC_BYTES), &mut to)? == SYNC_BYTES {
        to.sync_data()?;
    }
    to.sync_all()
}

/// Syncs the entries of a folder.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| StoreError::io("cannot sync", path, source))
}
