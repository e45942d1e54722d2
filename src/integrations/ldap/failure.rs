//! Why a query of the directory has no result, in words for the log.

use crate::foreign_text::one_line;
use crate::integrations::certificate_problem::certificate_problem;
use ldap3::{LdapError, LdapResult};
use std::io;
use thiserror::Error;
use tokio::task::JoinError;

// Result codes (RFC 4511, appendix A).
pub const OPERATIONS_ERROR: u32 = 1;
pub const TIME_LIMIT_EXCEEDED: u32 = 3;
pub const SIZE_LIMIT_EXCEEDED: u32 = 4;
pub const STRONGER_AUTH_REQUIRED: u32 = 8;
pub const CONFIDENTIALITY_REQUIRED: u32 = 13;
pub const CONSTRAINT_VIOLATION: u32 = 19;
pub const NO_SUCH_OBJECT: u32 = 32;
pub const INVALID_DN_SYNTAX: u32 = 34;
pub const INAPPROPRIATE_AUTHENTICATION: u32 = 48;
pub const INVALID_CREDENTIALS: u32 = 49;
pub const INSUFFICIENT_ACCESS_RIGHTS: u32 = 50;
pub const BUSY: u32 = 51;
pub const UNAVAILABLE: u32 = 52;
pub const UNWILLING_TO_PERFORM: u32 = 53;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LdapFailure {
    #[error("too many queries are waiting for the directory")]
    Busy,
    /// The directory cannot be reached. For the log; contains no password.
    #[error("{0}")]
    Unavailable(String),
    /// The directory answered a query with an error. For the log; contains no password.
    #[error("{0}")]
    Refused(String),
}

impl From<LdapError> for LdapFailure {
    fn from(error: LdapError) -> Self {
        Self::Unavailable(one_line(error))
    }
}

impl From<io::Error> for LdapFailure {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(certificate_problem(&error).unwrap_or_else(|| one_line(error)))
    }
}

impl From<JoinError> for LdapFailure {
    fn from(_: JoinError) -> Self {
        Self::Unavailable("the directory answers with something else than was asked for".into())
    }
}

/// Whether the directory did what was asked; otherwise an error that says what it was.
pub fn check_result(what: &str, result: &LdapResult) -> Result<(), LdapFailure> {
    match result.rc {
        0 => Ok(()),
        code => Err(LdapFailure::Refused(failure_text(what, code, &result.text))),
    }
}

/// An error of the directory in words; `own_text` is what the directory says about it, or empty.
pub fn failure_text(what: &str, code: u32, own_text: &str) -> String {
    let meaning = match code {
        OPERATIONS_ERROR => "the directory may want ldap.bind_dn first",
        TIME_LIMIT_EXCEEDED => "it takes the directory too long",
        STRONGER_AUTH_REQUIRED | CONFIDENTIALITY_REQUIRED => {
            "the directory wants an encrypted connection (ldaps:// in ldap.url, or ldap.starttls)"
        }
        NO_SUCH_OBJECT => "the directory has no such entry",
        INVALID_DN_SYNTAX => "it is no distinguished name",
        INAPPROPRIATE_AUTHENTICATION => "the entry has no password",
        INVALID_CREDENTIALS => "the name or the password is wrong",
        INSUFFICIENT_ACCESS_RIGHTS => "the directory does not allow it",
        BUSY | UNAVAILABLE => "the directory is busy or stopping",
        UNWILLING_TO_PERFORM => "the directory refuses it",
        _ => "the directory answers with an error",
    };
    let own_text = one_line(own_text);
    let separator = if own_text.is_empty() { "" } else { ": " };
    format!("{what}: {meaning} (result code {code}){separator}{own_text}")
}
