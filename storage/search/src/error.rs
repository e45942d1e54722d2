//! Errors of the index. Each of them ends with a new index, made from the journal.

use std::path::{Path, PathBuf};

/// Why the index could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A file operation failed.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// The failed operation, such as "cannot create".
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The library refused an operation.
    #[error("the search index: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// Files are missing, or differ from their checksums.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
}

impl SearchError {
    /// Adds the operation and the path to a system error.
    pub(crate) fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what, path: path.to_path_buf(), source }
    }
}

/// Runs code of the library; a panic, which damaged files can cause, is an error.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let why = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("for an unknown reason");
            Err(SearchError::Damaged(format!("reading it failed: {why}")))
        }
    }
}
