//! Looking at an index on disk that no server uses, for `millstream check`.

use crate::error::{SearchError, guarded};
use crate::files::Files;
use crate::index::{CommitPayload, Identity};
use model::Sequence;
use std::path::Path;

/// What an index on disk says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    pub identity: Identity,
    /// The newest frame that it reflects.
    pub sequence: Sequence,
    pub messages: u64,
}

/// Reads what an index states, and checks the checksums of its files; none if there is no index.
///
/// # Errors
/// When it is damaged or cannot be read.
pub fn inspect(folder: &Path) -> Result<Option<Inspected>, SearchError> {
    if !folder.join("meta.json").exists() {
        return Ok(None);
    }
    guarded(|| {
        let index = tantivy::Index::open(Files::new(folder))?;
        let metas = index.load_metas()?;
        let payload: CommitPayload = serde_json::from_str(&metas.payload.unwrap_or_default())
            .map_err(|_| SearchError::Damaged("it does not state its sequence".to_owned()))?;
        if let Some(file) = index.validate_checksum()?.iter().next() {
            return Err(SearchError::Damaged(format!("the checksum of {} differs", file.display())));
        }
        let messages = metas.segments.iter().map(|segment| u64::from(segment.num_docs())).sum();
        Ok(Some(Inspected { identity: payload.identity, sequence: Sequence(payload.sequence), messages }))
    })
}
