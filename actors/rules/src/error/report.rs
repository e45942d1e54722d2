//! Why a report of a message is refused (docs/api/messages.md#report-a-message).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// The organization has no channel for reports.
    #[error("Message reporting is not enabled in this organization.")]
    NotEnabled,
    /// The reason `other` without a text.
    #[error("An explanation is required.")]
    ExplanationRequired,
}
