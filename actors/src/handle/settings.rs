//! Commands about settings, of the organization and of oneself.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{OwnChanges, UpdateOwnUser, UpdateRealm, UpdateUserDefaults};
use model::{SettingValue, UserId};
use rules::settings::{RealmUpdate, Setting};

impl RealmHandle {
    /// Changes settings of the organization.
    ///
    /// # Errors
    /// As `rules::settings::check_realm_update`.
    pub async fn update_realm(&self, by: UserId, update: RealmUpdate) -> Result<(), DomainError> {
        self.settle(UpdateRealm { by, update }).await
    }

    /// Changes the personal settings that new people start with.
    ///
    /// # Errors
    /// As `rules::settings::check_user_settings`; only administrators may.
    pub async fn update_user_defaults(
        &self,
        by: UserId,
        settings: Vec<(&'static Setting, SettingValue)>,
    ) -> Result<(), DomainError> {
        self.settle(UpdateUserDefaults { by, settings }).await
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
