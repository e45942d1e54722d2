//! Why an organization cannot be imported or exported. The texts are for operators, and say what to do.

use crate::foreign_text::one_line;
use crate::integrations::blobs::BlobError;
use crate::storage_error::storage_error_text;
use actors::DomainError;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why an import or export ended.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The archive is damaged, incomplete, or none.
    #[error("{} cannot be read as an archive ({reason}); nothing was imported", path.display())]
    Archive { path: PathBuf, reason: String },
    /// A path in the archive leads out of it.
    #[error("the archive has the path {0:?}, which leads out of it; nothing was imported")]
    Outside(String),
    /// The archive has something that no export has.
    #[error("the archive has {0}, which no export has; nothing was imported")]
    Unusual(String),
    /// The archive exceeds a limit.
    #[error("{0}; nothing was imported")]
    TooLarge(String),
    /// A file that every export has is missing.
    #[error("this is not an export of an organization: {0}")]
    NotAnExport(String),
    /// A file is not the JSON that it should be.
    #[error("{file} is not valid: {reason}; nothing was imported")]
    Invalid { file: String, reason: String },
    /// A file or folder cannot be read or written.
    #[error("{}: {reason}{}", path.display(), remedy(reason))]
    System { path: PathBuf, reason: std::io::Error },
    /// The storage failed, or refused the import.
    #[error("{}", storage_error_text(.0))]
    Data(#[from] DomainError),
    #[error("{0}")]
    Files(#[from] BlobError),
    /// The thread that reads the messages ended early.
    #[error("the import was interrupted; repeat the command to go on")]
    Interrupted,
    /// The export was ended early.
    #[error("the export was stopped before it was complete")]
    Stopped,
    /// The operator's last export is not finished.
    #[error("another export is running; wait until it is complete")]
    Busy,
}

impl TransferError {
    /// What is wrong with an archive, perhaps in a library's words.
    pub fn archive(path: &Path, reason: impl Display) -> Self {
        Self::Archive { path: path.to_owned(), reason: one_line(reason) }
    }

    /// What is wrong with a file of an archive, in the words of the library that reads it.
    pub fn invalid(file: impl Into<String>, reason: impl Display) -> Self {
        Self::Invalid { file: file.into(), reason: one_line(reason) }
    }

    /// An error of the file system.
    pub fn system(path: &Path, reason: std::io::Error) -> Self {
        Self::System { path: path.to_owned(), reason }
    }
}

/// What to do about an error of the file system, if that is known.
fn remedy(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room there, and repeat the command",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_says_what_to_do() {
        let said = |kind: ErrorKind| TransferError::system(Path::new("/srv/a"), kind.into()).to_string();
        assert!(said(ErrorKind::StorageFull).ends_with("; make room there, and repeat the command"));
        assert_eq!(said(ErrorKind::PermissionDenied), "/srv/a: permission denied");
    }
}
