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

/// Reads what an index states, and checks the checksums of its files; none if there is no index, or only the beginning of one: the
/// server ended before its first commit.
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
        if metas.payload.is_none() && metas.segments.is_empty() {
            return Ok(None);
        }
        let payload: CommitPayload = serde_json::from_str(&metas.payload.unwrap_or_default())
            .map_err(|_| SearchError::Damaged("it does not state its sequence".to_owned()))?;
        if let Some(file) = index.validate_checksum()?.iter().next() {
            return Err(SearchError::Damaged(format!("the checksum of {} differs", file.display())));
        }
        let messages = metas.segments.iter().map(|segment| u64::from(segment.num_docs())).sum();
        Ok(Some(Inspected { identity: payload.identity, sequence: Sequence(payload.sequence), messages }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::language::Language;

    #[test]
    fn index_without_a_commit_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("1");
        assert_eq!(inspect(&folder).unwrap(), None);
        drop(Index::create(&folder, &Identity::new(1, 2, Language::of("en"))).unwrap());
        assert!(folder.join("meta.json").exists());
        assert_eq!(inspect(&folder).unwrap(), None);
        // A payload that cannot be read is damage.
        let meta = std::fs::read_to_string(folder.join("meta.json")).unwrap();
        let mut meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
        meta["payload"] = "?".into();
        std::fs::write(folder.join("meta.json"), meta.to_string()).unwrap();
        assert!(inspect(&folder).unwrap_err().to_string().contains("does not state its sequence"));
    }
}
