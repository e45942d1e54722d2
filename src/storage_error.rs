//! Errors of the storage as operators read them.

use actors::DomainError;

/// An error of the storage, for operators.
pub fn storage_error_text(error: &DomainError) -> String {
    match error {
        // The reason names the folder and the remedy.
        DomainError::Storage(reason) => reason.clone(),
        other => other.to_string(),
    }
}
