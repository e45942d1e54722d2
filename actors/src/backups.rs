//! Backups of a data folder, which a server may use meanwhile.

use crate::error::DomainError;
use std::path::Path;
use storage::backup::{BackedUp, Backups, Restored};

pub use storage::backup::{Access, FileStore, Folder};

/// Adds a backup of `data` to the place `to`, which is made one of backups if it is missing or empty, and removes
/// backups from before `keep_from`. Times are in milliseconds since 1970. Returns also how many were removed.
///
/// # Errors
/// `Storage` with what failed; earlier backups stay as they are.
pub fn back_up(
    data: &Path,
    to: Box<dyn FileStore>,
    now: u64,
    keep_from: Option<u64>,
) -> Result<(BackedUp, usize), DomainError> {
    let backups = Backups::open(to, Access::Write)?;
    let done = backups.add(data, now)?;
    let removed = keep_from.map(|from| backups.remove_before(from)).transpose()?.unwrap_or_default();
    Ok((done, removed))
}

/// Compares all contents of the backups in a place with their checksums. Returns the times of the backups, and the files and
/// bytes of the newest.
///
/// # Errors
/// `Storage` with the first file that is missing or damaged.
pub fn verify(from: Box<dyn FileStore>) -> Result<(Vec<u64>, usize, u64), DomainError> {
    let backups = Backups::open(from, Access::Read)?;
    let times = backups.times()?;
    let mut newest = backups.verify(None)?;
    for at in times.iter().rev().skip(1) {
        backups.verify(Some(*at))?;
    }
    let bytes = newest.files.values().map(|entry| entry.bytes).sum();
    Ok((times, std::mem::take(&mut newest.files).len(), bytes))
}

/// Restores the newest backup, or the state at `time`, into the new folder `data`.
///
/// # Errors
/// `Storage` with what failed.
pub fn restore(from: Box<dyn FileStore>, data: &Path, time: Option<u64>) -> Result<Restored, DomainError> {
    Ok(storage::backup::restore(&Backups::open(from, Access::Read)?, data, time)?)
}
