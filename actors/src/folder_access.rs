//! Who may use a data folder, for commands before they open it.

use crate::error::DomainError;
use std::io;
use std::path::{Path, PathBuf};
use storage::folder_access;

/// Refuses a folder that this user may not enter, which otherwise seems to be missing, and one into which a restore is not finished.
///
/// # Errors
/// `Storage` with what to do.
pub fn check_access(folder: &Path) -> Result<(), DomainError> {
    Ok(folder_access::check_access(folder)?)
}

/// Refuses a folder that this user may not enter, and to root the data of another user, whose server could not read root's files.
///
/// # Errors
/// `Storage` with the owner and what to do.
pub fn check_owner(folder: &Path) -> Result<(), DomainError> {
    Ok(folder_access::check_owner(folder)?)
}

/// Says that only its owner, and root, may use a folder.
pub fn not_allowed(folder: &Path) -> DomainError {
    folder_access::not_allowed(folder).into()
}

/// A folder of this user that this user may not write: the folder itself or the first one of the data in it, with the reason; none
/// if all can be written, or it is missing.
pub fn unwritable_folder(folder: &Path) -> Option<(PathBuf, io::Error)> {
    folder_access::unwritable_folder(folder)
}

/// The first entry of a folder that does not belong to the user of this number; none if all do, or the folder cannot be read.
pub fn foreign_entry(folder: &Path, user: u32) -> Option<PathBuf> {
    folder_access::foreign_entry(folder, user)
}
