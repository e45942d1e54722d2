//! Refusals about what administrators list for an organization: domains, linkifiers, playgrounds.

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrganizationError {
    /// The name of no domain.
    #[error("Invalid domain: {why}")]
    DomainInvalid {
        /// What is wrong with it.
        why: &'static str,
    },
    /// Listed before.
    #[error("The domain {name} is already a part of your organization.")]
    DomainExists {
        /// In lower case.
        name: String,
    },
    /// Not listed.
    #[error("No entry found for domain {name}.")]
    DomainMissing {
        /// As given.
        name: String,
    },
    /// More than an organization may have of something.
    #[error("Too many {what} (maximum {limit}).")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// No such linkifier.
    #[error("Linkifier not found.")]
    LinkifierMissing,
    /// An order that does not name every linkifier once.
    #[error("The ordered list must enumerate all existing linkifiers exactly once")]
    LinkifierOrderInvalid,
    /// No such playground.
    #[error("Invalid playground")]
    PlaygroundMissing,
    /// A field that does not have what it must. The edge repeats the text in `errors`, by field.
    #[error("{why}")]
    FieldInvalid {
        /// The parameter; `__all__` where several do not go together.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl OrganizationError {
    /// What is wrong with a field.
    pub fn field(field: &'static str, why: impl Into<String>) -> Self {
        Self::FieldInvalid { field, why: why.into() }
    }
}
