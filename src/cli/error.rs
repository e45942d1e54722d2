//! Why a command was not carried out, in words for whoever typed it.

use crate::config::ConfigError;
use crate::http::ApiError;
use crate::server::{ServeError, data_words};
use actors::DomainError;
use thiserror::Error;

/// A command that failed. The display text is what is printed.
#[derive(Debug, Error)]
pub enum CliError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A log filter that is none.
    #[error("log.filter: {0}")]
    LogFilter(#[from] tracing_subscriber::filter::ParseError),
    /// The server did not start.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The data.
    #[error("{}", data_words(.0))]
    Data(#[from] DomainError),
    /// The system refused something.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        reason: std::io::Error,
    },
    /// What was asked for cannot be done.
    #[error("{0}")]
    Refused(String),
}

/// A name or an address that no account can have, in the words of the API.
impl From<ApiError> for CliError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error.msg().to_owned())
    }
}
