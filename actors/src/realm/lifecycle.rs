//! Closing an organization, and opening it again.

use super::groups::actor;
use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use model::{Fact, Realm, UserId};
use rules::permissions::roles::check_owner;

/// Close the organization, or open it again. Everything in it stays as it is; nobody gets in while it is closed.
pub(crate) struct SetRealmActive {
    /// Who does it; none for whoever runs the server.
    pub by: Option<UserId>,
    /// Whether it is to be open.
    pub is_active: bool,
}

impl SettledCommand for SetRealmActive {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        if let Some(by) = self.by {
            check_owner(actor(directory, by)?)?;
        }
        let before = directory.realm();
        if before.is_active == self.is_active {
            return Ok(((), Vec::new()));
        }
        let after = Realm { is_active: self.is_active, ..Realm::clone(before) };
        Ok(((), vec![Fact::RealmChanged(Box::new(after))]))
    }
}
