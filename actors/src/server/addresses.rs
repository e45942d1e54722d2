//! Finding an organization by the e-mail address of an account.

use super::Server;
use crate::handle::RealmHandle;
use model::RealmId;

impl Server {
    /// Another organization than `own` that has an account with an e-mail address, which is not an artificial one. The cost does
    /// not depend on the number of organizations.
    pub fn other_realm_of(&self, address: &str, own: RealmId) -> Option<RealmHandle> {
        let realms = self.addresses.realms_of(address).into_iter().filter(|id| *id != own);
        let mut handles = realms.filter_map(|id| self.realm(id));
        handles.find(|realm| realm.user_by_email(address).is_some())
    }
}
