//! Refusals of uploaded files (docs/api/uploads.md).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The user has no file with the id.
    #[error("Invalid attachment")]
    Missing,
    /// The files of the organization would take more than its quota.
    #[error("Upload would exceed your organization's upload quota.")]
    OverQuota,
    /// More files than an account or an organization may have.
    #[error("Too many uploaded files (maximum {limit}).")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
}
