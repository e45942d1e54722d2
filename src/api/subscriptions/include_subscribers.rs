//! Which lists of subscribers a client asks for.

use crate::http::{ApiError, Fields, FromFields};

/// The parameter `include_subscribers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IncludeSubscribers {
    #[default]
    No,
    All,
    /// Of large channels only subscribers whom clients need at once.
    Partial,
}

/// Absent for no lists. Error: not a boolean and not `partial`.
impl FromFields for IncludeSubscribers {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        if matches!(fields.optional_str("include_subscribers"), Some("partial" | "\"partial\"")) {
            return Ok(Self::Partial);
        }
        Ok(if fields.bool_or("include_subscribers", false)? { Self::All } else { Self::No })
    }
}
