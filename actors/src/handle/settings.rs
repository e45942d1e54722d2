//! Commands about settings, of the organization and of oneself.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{OwnChanges, UpdateOwnUser, UpdateRealm};
use model::UserId;
use rules::settings::RealmUpdate;

impl RealmHandle {
    /// Changes settings of the organization.
    ///
    /// # Errors
    /// As `rules::settings::check_realm_update`.
    pub async fn update_realm(&self, by: UserId, update: RealmUpdate) -> Result<(), DomainError> {
        self.settle(UpdateRealm { by, update }).await
    }

    /// Changes a user's own settings, name and password: all of it or nothing.
    ///
    /// # Errors
    /// As `rules::settings::check_user_settings` and `rules::names`; `WrongPassword` if the password that was
    /// checked is no longer the one stored.
    pub async fn update_own_user(&self, user: UserId, changes: OwnChanges) -> Result<(), DomainError> {
        self.settle_own(user, UpdateOwnUser { user, changes }).await
    }
}
