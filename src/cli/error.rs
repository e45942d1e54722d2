//! The errors of commands, as printed for the operator.

use super::signal::StopSignal;
use crate::config::ConfigError;
use crate::http::ApiError;
use crate::server::{ServeError, describe_error};
use actors::DomainError;
use thiserror::Error;

/// A command that failed. The display text is what is printed.
#[derive(Debug, Error)]
pub enum CliError {
    /// The configuration has problems.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The log filter is invalid.
    #[error("log.filter: {0}")]
    LogFilter(#[from] tracing_subscriber::filter::ParseError),
    /// The server cannot run.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The storage failed, or refused the command.
    #[error("{}", describe_error(.0))]
    Data(#[from] DomainError),
    /// The operating system refused something.
    #[error("{what}: {reason}")]
    System {
        /// The failed operation.
        what: &'static str,
        /// The error of the operating system.
        reason: std::io::Error,
    },
    /// A signal ended the command before it was done.
    #[error("stopped by {}", .0.name())]
    Interrupted(StopSignal),
    /// The command was refused.
    #[error("{0}")]
    Refused(String),
}

/// An invalid name or e-mail address, with the text of the API.
impl From<ApiError> for CliError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error.msg().to_owned())
    }
}
