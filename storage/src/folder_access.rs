//! Who may use a data folder. Files that root makes in the folder of another user cannot be read by that user's server.

use crate::error::StoreError;
use crate::owner::{self, Owner};
use crate::restoring::check_restored;
use rustix::fs::Access;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that shows which owner new files get.
pub(crate) const TRIAL: &str = "owner.new";

/// Refuses a folder that this user may not enter, and one into which a restore is not finished: neither seems to have data.
///
/// # Errors
/// [`StoreError::NotAllowed`], [`StoreError::Closed`], [`StoreError::NotADataFolder`], [`StoreError::Restoring`].
pub fn check_access(folder: &Path) -> Result<(), StoreError> {
    check_entry(folder)?;
    check_restored(folder)
}

/// Refuses a folder that this user may not enter, and a file.
fn check_entry(folder: &Path) -> Result<(), StoreError> {
    if folder.is_file() {
        return Err(StoreError::NotADataFolder {
            path: folder.to_path_buf(),
            why: "it is a file; choose a folder with --data".to_owned(),
        });
    }
    let is_denied =
        |path: &Path| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    match is_denied(folder) || is_denied(&folder.join("format")) {
        true => Err(not_allowed(folder)),
        false => Ok(()),
    }
}

/// Says that only its owner, and root, may use a folder, or what its owner must change to enter it.
pub fn not_allowed(folder: &Path) -> StoreError {
    let (path, own) = (folder.to_path_buf(), Owner::own());
    // If the folder cannot be examined, the one above it is what refuses.
    let found = folder.ancestors().find_map(|at| Some((at, Owner::of(at).ok()?)));
    match found {
        Some((at, owner)) if owner == own && is_closed(at) => StoreError::Closed { path: at.to_path_buf() },
        // Something in it is what refuses.
        Some((_, owner)) if owner == own => {
            let inner = owner::foreign_entry(folder, own).and_then(|entry| Owner::of(&entry).ok());
            StoreError::NotAllowed { path, owner: inner.unwrap_or(Owner(0)) }
        }
        Some((_, owner)) => StoreError::NotAllowed { path, owner },
        None => StoreError::NotAllowed { path, owner: Owner(0) },
    }
}

/// Whether this user may not enter a folder.
fn is_closed(folder: &Path) -> bool {
    rustix::fs::access(folder, Access::EXEC_OK).is_err()
}

/// The first entry of a folder that does not belong to the user of this number; none if all do, or the folder cannot be read.
pub fn foreign_entry(folder: &Path, user: u32) -> Option<PathBuf> {
    owner::foreign_entry(folder, Owner(user))
}

/// A folder of this user that this user may not write: the folder itself or the first one of the data in it, with the reason; none
/// if all can be written, or it is missing.
pub fn unwritable_folder(folder: &Path) -> Option<(PathBuf, io::Error)> {
    let inner = ["journal", "state", "blobs"].map(|name| folder.join(name));
    let all = std::iter::once(folder.to_path_buf()).chain(inner);
    let own = Owner::own();
    let is_own = |path: &PathBuf| path.is_dir() && Owner::of(path).is_ok_and(|owner| owner == own);
    all.filter(is_own).find_map(|path| {
        let refused: io::Error = rustix::fs::access(&path, Access::WRITE_OK | Access::EXEC_OK).err()?.into();
        let is_refused =
            matches!(refused.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
        is_refused.then_some((path, refused))
    })
}

/// Refuses a folder that this user may not enter, and to root one whose data belongs to another user. A folder without data belongs
/// to its own owner; a missing one is allowed.
///
/// # Errors
/// [`StoreError::NotAllowed`], [`StoreError::Closed`], [`StoreError::NotADataFolder`], [`StoreError::OtherOwner`].
pub fn check_owner(folder: &Path) -> Result<(), StoreError> {
    check_entry(folder)?;
    if !Owner::own().is_root() {
        return Ok(());
    }
    let Ok(owner) = Owner::of(&folder.join("format")).or_else(|_| Owner::of(folder)) else { return Ok(()) };
    // Some file systems give every file the same owner.
    if owner.is_root() || owner_of_new_file(folder) == Some(owner) {
        return Ok(());
    }
    Err(StoreError::OtherOwner { path: folder.to_path_buf(), owner })
}

/// The owner of a file that this process makes in a folder, and removes again.
fn owner_of_new_file(folder: &Path) -> Option<Owner> {
    let path = folder.join(TRIAL);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
    let owner = file.metadata().map(|found| Owner(found.uid()));
    fs::remove_file(&path).ok()?;
    owner.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn own_and_missing_folders_are_allowed() {
        let temp = tempfile::tempdir().unwrap();
        check_owner(temp.path()).unwrap();
        check_owner(&temp.path().join("missing")).unwrap();
        symlink("nowhere", temp.path().join("link")).unwrap();
        check_owner(&temp.path().join("link")).unwrap();
    }

    #[test]
    fn file_is_no_folder_that_cannot_be_written() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("settings.toml");
        fs::write(&file, "").unwrap();
        assert!(unwritable_folder(&file).is_none());
        let refused = check_owner(&file).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "{} is not a millstream data folder: it is a file; choose a folder with --data",
                file.display()
            )
        );
    }
}
