//! The errors of commands, as printed for the operator.

use super::signal::StopSignal;
use crate::config::{ConfigError, LogFilterError};
use crate::http::ApiError;
use crate::server::ServeError;
use crate::storage_error::storage_error_text;
use crate::transfer::problem::TransferError;
use crate::web_app::WebAppError;
use actors::DomainError;
use thiserror::Error;

/// A command that failed. The display text is what is printed.
#[derive(Debug, Error)]
pub enum CliError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("log.filter: {0}")]
    LogFilter(#[from] LogFilterError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
    #[error(transparent)]
    WebApp(#[from] WebAppError),
    /// The storage failed, or refused the command.
    #[error("{}", storage_error_text(.0))]
    Data(#[from] DomainError),
    /// The operating system refused something.
    #[error("{what}: {reason}")]
    System { what: &'static str, reason: std::io::Error },
    /// A signal ended the command before it was done.
    #[error("stopped by {}", .0.name())]
    Interrupted(StopSignal),
    #[error("{0}")]
    Refused(String),
}

/// An invalid name or e-mail address, with the text of the API.
impl From<ApiError> for CliError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error.msg().to_owned())
    }
}
