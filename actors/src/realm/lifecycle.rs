//! Deactivating and reactivating an organization.

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use model::{Fact, Realm, RealmFact, UserId};
use rules::permissions::roles::check_owner;

/// Deactivates or reactivates the organization. Its data stays; no one can log in while it is deactivated.
pub struct SetRealmActive {
    /// The acting user; none for the server's operator.
    pub by: Option<UserId>,
    pub is_active: bool,
}

impl SerializedChange for SetRealmActive {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        if let Some(by) = self.by {
            check_owner(requester(directory, by)?)?;
        }
        let before = directory.realm();
        if before.is_active == self.is_active {
            return Ok(Vec::new());
        }
        let after = Realm { is_active: self.is_active, ..Realm::clone(before) };
        Ok(vec![Fact::Realm(RealmFact::Changed(Box::new(after)))])
    }
}
