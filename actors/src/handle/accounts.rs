//! Commands about accounts: changed by others, taken out of use and back, and their API keys.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{DeactivateAccount, ReactivateAccount, RegenerateKey, UpdateAccount};
use model::{User, UserId};
use rules::accounts::AccountUpdate;
use std::sync::Arc;

impl RealmHandle {
    /// Changes somebody's account: all of it or nothing.
    ///
    /// # Errors
    /// As `rules::accounts::check_account_update`.
    pub async fn update_account(
        &self,
        by: UserId,
        user: UserId,
        update: AccountUpdate,
    ) -> Result<(), DomainError> {
        self.settle(UpdateAccount { by, user, update }).await
    }

    /// Takes somebody's account out of use, with its bots, queues and open invitations. With a comment its owner is told
    /// by mail.
    ///
    /// # Errors
    /// As `rules::accounts::check_deactivation`.
    pub async fn deactivate_account(
        &self,
        by: UserId,
        user: UserId,
        comment: Option<String>,
    ) -> Result<(), DomainError> {
        self.settle(DeactivateAccount { by, user: Some(user), comment }).await
    }

    /// Takes one's own account out of use.
    ///
    /// # Errors
    /// As `rules::accounts::check_own_deactivation`.
    pub async fn deactivate_own_account(&self, user: UserId) -> Result<(), DomainError> {
        self.settle(DeactivateAccount { by: user, user: None, comment: None }).await
    }

    /// Takes an account back into use. Its bots stay out of use.
    ///
    /// # Errors
    /// As `rules::accounts::check_reactivation`.
    pub async fn reactivate_account(&self, by: UserId, user: UserId) -> Result<(), DomainError> {
        self.settle(ReactivateAccount { by, user }).await
    }

    /// Gives an account a new API key, and gives its record as it is then. The old key stops at once.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn regenerate_api_key(&self, user: UserId) -> Result<Arc<User>, DomainError> {
        self.settle(RegenerateKey { user }).await
    }
}
