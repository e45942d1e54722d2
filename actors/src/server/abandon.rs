//! Giving up an import that cannot or should not go on. What it has written stays in the journal, which is never rewritten, and is not
//! served: first that is recorded, then the import is forgotten, so that a part of an organization is never opened.

use super::Server;
use super::import_file::{UnfinishedImport, remove, unfinished};
use crate::error::DomainError;
use std::path::Path;
use storage::folder::SECRET_BYTES;
use storage::{DataFolder, Relocation, RelocationState};

/// In the record of an organization that no cluster has.
const NO_CLUSTER: &str = "-";

impl Server {
    /// Gives up the unfinished import of a data folder that no server uses; none if there is none. Can be repeated.
    ///
    /// # Errors
    /// `Storage` when there is no data folder, a server uses it, or the disk fails.
    pub fn abandon_import(data: &Path) -> Result<Option<UnfinishedImport>, DomainError> {
        if !DataFolder::exists(data) {
            crate::folder_access::check_access(data)?;
            return Err(DomainError::Storage(format!("{} is not a data folder", data.display())));
        }
        // An existing folder keeps its own secret and shards.
        let mut folder = DataFolder::open(data, 1, [0; SECRET_BYTES])?;
        let Some(import) = unfinished(data)? else { return Ok(None) };
        let relocation = Relocation {
            state: RelocationState::Abandoned,
            cluster: NO_CLUSTER.to_owned(),
            token: NO_CLUSTER.to_owned(),
            subdomain: import.origin.clone().unwrap_or_default().subdomain,
            secret: None,
        };
        folder.relocate(import.realm, Some(relocation))?;
        remove(data)?;
        Ok(Some(import))
    }
}
