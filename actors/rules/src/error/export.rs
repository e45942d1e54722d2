//! Why a request about exports is refused (docs/api/organization.md#exports).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// Too many exports within a week.
    #[error("Exceeded rate limit.")]
    TooMany,
    /// The organization is too large for an export by request.
    #[error("Please request a manual export from {contact}.")]
    TooLarge { contact: String },
    /// The export would have no owner who can log in.
    #[error(
        "Make sure at least one Organization Owner is consenting to the export or contact {contact} for help."
    )]
    NoOwner { contact: String },
    /// As many exports with files are kept as can be.
    #[error("Delete an older export first.")]
    TooManyKept,
    #[error("Invalid data export ID")]
    UnknownExport,
    #[error("Export already deleted")]
    AlreadyDeleted,
    #[error("Export failed, nothing to delete")]
    Failed,
    #[error("Export still in progress")]
    InProgress,
}
