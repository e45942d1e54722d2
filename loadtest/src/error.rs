//! What can keep a load test from running. A figure that is missed is not an error: it is a verdict (`expect`).

use crate::http::HttpError;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The command line or a scenario asks for something that cannot be done.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// No reply.
    #[error("{call}: {source}")]
    Http {
        /// Method and path.
        call: String,
        /// What went wrong.
        source: HttpError,
    },
    /// A reply other than success while preparing.
    #[error("{call}: the server answered {status}: {body}")]
    Refused {
        /// Method and path.
        call: String,
        /// HTTP status.
        status: u16,
        /// The start of the body.
        body: String,
    },
    /// The server under test, or the bare one, did not do what a run needs.
    #[error("{0}")]
    Server(String),
}

impl LoadError {
    /// Names the file that an input or output error belongs to.
    pub fn file(path: &std::path::Path, source: std::io::Error) -> Self {
        LoadError::File { path: path.display().to_string(), source }
    }
}
