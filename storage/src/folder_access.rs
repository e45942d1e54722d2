//! Who may use a data folder. Files that root makes in the folder of another user cannot be read by that user's server.

use crate::error::StoreError;
use crate::owner::{self, Owner};
use crate::restoring::check_restored;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that shows which owner new files get.
pub(crate) const TRIAL: &str = "owner.new";

/// Refuses a folder that this user may not enter, and one into which a restore is not finished: neither seems to have data.
///
/// # Errors
/// [`StoreError::NotAllowed`], [`StoreError::Restoring`].
pub fn check_access(folder: &Path) -> Result<(), StoreError> {
    check_entry(folder)?;
    check_restored(folder)
}

/// Refuses a folder that this user may not enter.
fn check_entry(folder: &Path) -> Result<(), StoreError> {
    let is_denied =
        |path: &Path| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    match is_denied(folder) || is_denied(&folder.join("format")) {
        true => Err(not_allowed(folder)),
        false => Ok(()),
    }
}

/// Says that only its owner, and root, may use a folder.
pub fn not_allowed(folder: &Path) -> StoreError {
    // If the folder cannot be examined, the one above it is what refuses.
    let owner = folder.ancestors().find_map(|at| Owner::of(at).ok()).unwrap_or(Owner(0));
    StoreError::NotAllowed { path: folder.to_path_buf(), owner }
}

/// The first entry of a folder that does not belong to the user of this number; none if all do, or the folder cannot be read.
pub fn foreign_entry(folder: &Path, user: u32) -> Option<PathBuf> {
    owner::foreign_entry(folder, Owner(user))
}

/// Refuses a folder that this user may not enter, and to root one whose data belongs to another user. A folder without data belongs
/// to its own owner; a missing one is allowed.
///
/// # Errors
/// [`StoreError::NotAllowed`], [`StoreError::OtherOwner`].
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
}
