//! Backups of a data folder, which a server may use meanwhile.

use crate::error::DomainError;
use std::path::Path;
use storage::StoreError;
use storage::backup::{BackedUp, Backups};

pub use storage::backup::{Access, Damage, DamagedFile, FileStore, Folder, OnDamage, Restored, Verified};

/// Adds a backup of `data` to the repository `to`, which is made if it is missing or empty, and removes
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

/// Compares all contents of the backups in a repository with their checksums. With `repairs`, sets aside what is damaged.
///
/// # Errors
/// `Storage` if there is no backup, or the repository cannot be read or changed.
pub fn verify(from: Box<dyn FileStore>, repairs: bool) -> Result<Verified, DomainError> {
    let access = if repairs { Access::Repair } else { Access::Read };
    Ok(Backups::open(from, access)?.verify(repairs)?)
}

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The time is before the first change.
    #[error("nothing had changed yet at that time")]
    TooEarly {
        /// The time of the oldest change, in milliseconds since 1970.
        oldest: u64,
    },
    #[error(transparent)]
    Failed(#[from] DomainError),
}

/// Restores the newest backup, or the state at `time`, into the new folder `data`.
///
/// # Errors
/// `TooEarly` for a time before the first change, `Failed` with what failed.
pub fn restore(
    from: Box<dyn FileStore>,
    data: &Path,
    time: Option<u64>,
    on_damage: OnDamage,
) -> Result<Restored, RestoreError> {
    let backups = Backups::open(from, Access::Read).map_err(DomainError::from)?;
    storage::backup::restore(&backups, data, time, on_damage).map_err(|error| match error {
        StoreError::TooEarly { oldest } => RestoreError::TooEarly { oldest },
        other => RestoreError::Failed(other.into()),
    })
}
