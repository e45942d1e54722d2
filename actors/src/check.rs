//! Checking a data folder that no server uses.

use crate::error::DomainError;
use crate::folder_access::check_access;
use model::RealmId;
use search::{Inspected, inspect};
use std::fmt;
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
        check_access(data)?;
        return Err(DomainError::Storage(format!("{} is not a data folder", data.display())));
    }
    // An existing folder keeps its own secret and shards.
    let folder = DataFolder::open(data, 1, [0; storage::folder::SECRET_BYTES])?;
    Ok(check_folder(&folder, rebuild, progress)?)
}

/// What a search index states. It is made again when it is missing or damaged, so its state is no damage of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexReport {
    pub realm: RealmId,
    /// The newest frame in the journal.
    pub frames: u64,
    /// None if there is no index; the error is its damage.
    pub found: Result<Option<Inspected>, String>,
}

/// Checks the search indexes of the organizations of a report.
pub fn check_indexes(data: &Path, report: &CheckReport) -> Vec<IndexReport> {
    let inspected = report.realms.iter().filter(|realm| !realm.is_surplus).map(|realm| {
        let found = inspect(&data.join("search").join(realm.realm.to_string()));
        let found = found.map_err(|error| error.to_string());
        IndexReport { realm: realm.realm, frames: realm.frames, found }
    });
    inspected.collect()
}

impl fmt::Display for IndexReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "search index of organization {}: ", self.realm)?;
        match &self.found {
            Ok(None) => write!(out, "none; the server makes it when it starts"),
            Err(why) => write!(out, "{why}\n  the server makes it again when it starts"),
            Ok(Some(index)) if index.sequence.0 > self.frames => {
                write!(out, "it is ahead of the journal; the server makes it again when it starts")
            }
            Ok(Some(index)) => {
                let Inspected { sequence, messages, .. } = index;
                write!(out, "{messages} messages, as of frame {sequence} of {}", self.frames)
            }
        }
    }
}
