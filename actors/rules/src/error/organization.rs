//! Why a new organization, or a domain, linkifier or playground of one is refused.

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrganizationError {
    /// Another organization of the server has the subdomain.
    #[error("The subdomain {subdomain} is in use")]
    SubdomainInUse { subdomain: String },
    #[error("Invalid domain: {why}")]
    DomainInvalid { why: &'static str },
    /// `name` is in lower case.
    #[error("The domain {name} is already a part of your organization.")]
    DomainExists { name: String },
    #[error("No entry found for domain {name}.")]
    DomainMissing { name: String },
    #[error("Too many {what} (maximum {limit}).")]
    TooMany { what: &'static str, limit: usize },
    #[error("Linkifier not found.")]
    LinkifierMissing,
    #[error("The ordered list must enumerate all existing linkifiers exactly once")]
    LinkifierOrderInvalid,
    #[error("Invalid playground")]
    PlaygroundMissing,
    /// An invalid parameter, or `__all__` for a combination of several. The edge repeats the text in `errors`, by field.
    #[error("{why}")]
    FieldInvalid { field: &'static str, why: String },
}

impl OrganizationError {
    /// The refusal of a subdomain that another organization has.
    pub fn subdomain_in_use(subdomain: &str) -> Self {
        Self::SubdomainInUse { subdomain: subdomain.to_owned() }
    }

    /// The refusal of one parameter.
    pub fn field(field: &'static str, why: impl Into<String>) -> Self {
        Self::FieldInvalid { field, why: why.into() }
    }
}
