//! Organizations that are being written and cannot be used yet: their ids, and how their frames are applied.

use super::Server;
use super::import_file::{IMPORT_REMEDY, UnfinishedImport, unfinished};
use crate::error::DomainError;
use model::{Frame, RealmId, Sequence};
use std::collections::BTreeSet;
use storage::{Applied, View};

impl Server {
    /// The id of a new organization on this machine: `wanted` if none here has it or had it, else the one after the greatest.
    ///
    /// # Errors
    /// `Storage` when the file of an unfinished import cannot be read.
    pub(super) fn free_id(&self, wanted: Option<RealmId>) -> Result<RealmId, DomainError> {
        let mut used: BTreeSet<RealmId> =
            self.shards.iter().flat_map(|shard| shard.log.realms()).map(RealmId).collect();
        used.extend(self.realms.read().by_id.keys());
        used.extend(unfinished(self.folder.path())?.map(|import| import.realm));
        used.extend(self.folder.relocations().keys());
        used.extend(self.folder.marks().all().into_keys());
        let is_free = |id: &RealmId| id.0 > 0 && !used.contains(id);
        Ok(wanted.filter(is_free).unwrap_or_else(|| used.last().copied().unwrap_or_default().next()))
    }

    /// The import into this data folder that is not finished. One that is being given up is none.
    ///
    /// # Errors
    /// `Storage` when its file cannot be read.
    pub fn unfinished_import(&self) -> Result<Option<UnfinishedImport>, DomainError> {
        let import = unfinished(self.folder.path())?;
        Ok(import.filter(|import| !self.folder.is_not_served(import.realm)))
    }

    /// Refuses the subdomain of an organization whose import is not finished.
    pub(super) fn check_not_imported(&self, subdomain: &str) -> Result<(), DomainError> {
        let import = self.unfinished_import()?;
        let is_for = |import: &UnfinishedImport| {
            import.origin.as_ref().is_some_and(|origin| origin.subdomain == subdomain)
        };
        match import.filter(is_for) {
            Some(import) => Err(DomainError::Storage(format!(
                "{import} is not finished, so an organization is to have this subdomain already; {IMPORT_REMEDY}"
            ))),
            None => Ok(()),
        }
    }

    /// Applies the next frame of an organization and sends its rows to the trees. The first frame creates the view.
    ///
    /// # Errors
    /// `Storage` when the frame does not fit the view, or the trees take no rows.
    pub(super) fn apply_unopened(&self, view: &mut Option<View>, frame: &Frame) -> Result<(), DomainError> {
        let (view, rows) = match view {
            Some(view) => {
                let rows = view.apply(view.progress.sequence.next(), frame)?;
                (view, rows)
            }
            None => {
                let (created, rows) = View::create(Sequence(1), frame)?;
                (view.insert(created), rows)
            }
        };
        if let Some(projection) = self.projection.lock().as_ref() {
            let (progress, stored) = (view.progress, view.recent.stored());
            projection.sender().send(Applied { realm: view.realm(), progress, rows, stored })?;
        }
        Ok(())
    }
}
