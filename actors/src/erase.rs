//! Erasing the contents of deleted messages from a data folder that no server uses.

use crate::error::DomainError;
use std::path::Path;
use storage::DataFolder;
pub use storage::erase::Erased;

/// Erases the contents of deleted messages from a data folder, which is locked meanwhile.
///
/// # Errors
/// `Storage` when there is no data folder, a server uses it, something in it is damaged, or the disk fails.
pub fn erase(data: &Path) -> Result<Erased, DomainError> {
    if !DataFolder::exists(data) {
        return Err(DomainError::Storage(format!("{} is not a data folder", data.display())));
    }
    // An existing folder keeps its own secret and shards.
    let folder = DataFolder::open(data, 1, [0; storage::folder::SECRET_BYTES])?;
    Ok(storage::erase::erase_folder(&folder)?)
}
