//! Errors that prevent a run. A missed expectation is not an error but a verdict (`expect`).

use crate::http::HttpError;

/// The reason why a run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The command line or a scenario asks for something impossible.
    #[error("{0}")]
    Usage(String),
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("{call}: {source}")]
    Http { call: String, source: HttpError },
    /// A reply other than success during the preparation.
    #[error("{call}: the server answered {status}: {body}")]
    Refused {
        call: String,
        status: u16,
        body: String,
        /// How long the server asks to wait before the next request.
        retry_after: Option<std::time::Duration>,
    },
    /// A redirect, which is not followed: then every request would be another one than the measured.
    #[error("{call}: the server answered {status}, a redirect to {location}: {advice}")]
    Redirected { call: String, status: u16, location: String, advice: String },
    /// The server under test or the bare server did not start or stop as required.
    #[error("{0}")]
    Server(String),
    /// A signal ended the run; its name, and where the run was.
    #[error("interrupted by {0}")]
    Interrupted(String),
}

impl LoadError {
    /// Adds the scenario that it ended.
    pub fn of_scenario(self, name: &str) -> Self {
        match self {
            interrupted @ LoadError::Interrupted(_) => interrupted,
            error @ (LoadError::Usage(_)
            | LoadError::File { .. }
            | LoadError::Http { .. }
            | LoadError::Refused { .. }
            | LoadError::Redirected { .. }
            | LoadError::Server(_)) => LoadError::Server(format!("{name}: {error}")),
        }
    }

    /// Adds the file to an I/O error.
    pub fn file(path: &std::path::Path, source: std::io::Error) -> Self {
        LoadError::File { path: path.display().to_string(), source }
    }
}
