//! Checking a data folder that no server uses.

use crate::error::DomainError;
use std::path::Path;
use storage::DataFolder;
use storage::check::{CheckProgress, CheckReport, check_folder};

/// Checks a data folder, which is locked during the check. With `rebuild`, trees that differ from their
/// journal are rebuilt. `progress` receives the current step.
///
/// # Errors
/// `Storage` when there is no data folder, a server uses it, the disk fails, or a newer server wrote it.
pub fn check(
    data: &Path,
    rebuild: bool,
    progress: impl FnMut(CheckProgress),
) -> Result<CheckReport, DomainError> {
    if !DataFolder::exists(data) {
        return Err(DomainError::Storage(format!("{} is not a data folder", data.display())));
    }
    // An existing folder keeps its own secret and shards.
    let folder = DataFolder::open(data, 1, [0; storage::folder::SECRET_BYTES])?;
    Ok(check_folder(&folder, rebuild, progress)?)
}
