//! The file `import` of a data folder, which names the organization of an unfinished import.

use crate::error::DomainError;
use model::RealmId;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Name of the file that names the organization of an unfinished import.
pub(super) const IMPORT_FILE: &str = "import";

/// An import that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub realm: RealmId,
    /// Identifies the archive.
    pub source: String,
}

/// The organization of a data folder whose import is not finished.
///
/// # Errors
/// `Storage` when the file cannot be read or is not valid.
pub(super) fn unfinished(folder: &Path) -> Result<Option<Unfinished>, DomainError> {
    let path = folder.join(IMPORT_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path, &error)),
    };
    let found = text.trim().split_once(' ').and_then(|(realm, source)| {
        Some(Unfinished { realm: RealmId(realm.parse().ok()?), source: source.to_owned() })
    });
    match found {
        Some(found) => Ok(Some(found)),
        None => Err(DomainError::Storage(format!("{} is not valid", path.display()))),
    }
}

/// An error of the file system.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> DomainError {
    DomainError::Storage(format!("{}: {error}", path.display()))
}

/// Writes the file, which is complete as soon as it exists.
pub(super) fn note(folder: &Path, unfinished: &Unfinished) -> Result<(), DomainError> {
    let (path, new) = (folder.join(IMPORT_FILE), folder.join("import.new"));
    let write = || {
        let mut file = File::create(&new)?;
        writeln!(file, "{} {}", unfinished.realm, unfinished.source)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| failed(&path, &error))
}
