//! The file `import` of a data folder, which names the organization of an unfinished import, and for people its archive:
//!
//! ```text
//! 2 8f3a…                      organization, what identifies the archive
//! subdomain acme               - without one
//! archive /root/full.tar.gz
//! ```
//!
//! Earlier versions wrote the first line only.

use crate::error::DomainError;
use model::RealmId;
use std::fmt;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use storage::folder::IMPORT;

/// What the operator can do about an unfinished import.
pub const IMPORT_REMEDY: &str =
    "repeat the same command to go on with it, or give it up with `millstream import abandon --yes`";

/// What an import was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOrigin {
    /// Where the archive is.
    pub archive: String,
    /// The subdomain that the organization is to have.
    pub subdomain: String,
}

/// An import that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedImport {
    pub realm: RealmId,
    /// Identifies the archive.
    pub source: String,
    /// Unknown if an earlier version began it.
    pub origin: Option<ImportOrigin>,
}

impl fmt::Display for UnfinishedImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            None => write!(f, "the import of an archive as organization number {}", self.realm),
            Some(ImportOrigin { archive, subdomain }) if subdomain.is_empty() => {
                write!(f, "the import of {archive} without a subdomain")
            }
            Some(ImportOrigin { archive, subdomain }) => {
                write!(f, "the import of {archive} for the subdomain {subdomain}")
            }
        }
    }
}

impl UnfinishedImport {
    fn text(&self) -> String {
        let mut text = format!("{} {}\n", self.realm, self.source);
        if let Some(ImportOrigin { archive, subdomain }) = &self.origin {
            let subdomain = if subdomain.is_empty() { "-" } else { subdomain };
            // On one line, whatever the name of the file is.
            let archive = archive.replace(char::is_control, "?");
            text.push_str(&format!("subdomain {subdomain}\narchive {archive}\n"));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (realm, source) = lines.next()?.trim().split_once(' ')?;
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        let origin = match (field("subdomain"), field("archive")) {
            (Some(subdomain), Some(archive)) => Some(ImportOrigin {
                archive,
                subdomain: if subdomain == "-" { String::new() } else { subdomain },
            }),
            _ => None,
        };
        Some(Self { realm: RealmId(realm.parse().ok()?), source: source.to_owned(), origin })
    }
}

/// The organization of a data folder whose import is not finished.
///
/// # Errors
/// `Storage` when the file cannot be read or is not valid.
pub(super) fn unfinished(folder: &Path) -> Result<Option<UnfinishedImport>, DomainError> {
    let path = folder.join(IMPORT);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path, &error)),
    };
    match UnfinishedImport::parse(&text) {
        Some(found) => Ok(Some(found)),
        None => Err(DomainError::Storage(format!("{} is not valid", path.display()))),
    }
}

/// An error of the file system.
fn failed(path: &Path, error: &std::io::Error) -> DomainError {
    DomainError::Storage(format!("{}: {error}", path.display()))
}

/// Writes the file, which is complete as soon as it exists.
pub(super) fn note(folder: &Path, unfinished: &UnfinishedImport) -> Result<(), DomainError> {
    let (path, new) = (folder.join(IMPORT), folder.join("import.new"));
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(unfinished.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| failed(&path, &error))
}

/// Removes the file. Durable when this returns.
pub(super) fn remove(folder: &Path) -> Result<(), DomainError> {
    let path = folder.join(IMPORT);
    let removed = fs::remove_file(&path).and_then(|()| File::open(folder)?.sync_all());
    removed.map_err(|error| failed(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_archive_and_subdomain() {
        for subdomain in ["", "acme"] {
            let origin =
                ImportOrigin { archive: "/srv/a b.tar.gz".to_owned(), subdomain: subdomain.to_owned() };
            let import =
                UnfinishedImport { realm: RealmId(7), source: "8f3a".to_owned(), origin: Some(origin) };
            assert_eq!(UnfinishedImport::parse(&import.text()), Some(import.clone()));
            assert!(import.to_string().starts_with("the import of /srv/a b.tar.gz "), "{import}");
        }
        let origin = ImportOrigin { archive: "a\nb".to_owned(), subdomain: "x".to_owned() };
        let import = UnfinishedImport { realm: RealmId(7), source: "8f3a".to_owned(), origin: Some(origin) };
        assert_eq!(import.text(), "7 8f3a\nsubdomain x\narchive a?b\n");
    }

    #[test]
    fn file_of_an_earlier_version_is_read() {
        let import = UnfinishedImport::parse("7 8f3a\n").unwrap();
        assert_eq!((import.realm, import.source.as_str(), &import.origin), (RealmId(7), "8f3a", &None));
        assert_eq!(import.to_string(), "the import of an archive as organization number 7");
        for text in ["", "7", "x 8f3a"] {
            assert_eq!(UnfinishedImport::parse(text), None, "{text}");
        }
    }
}
