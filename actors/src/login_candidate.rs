//! The account that a login names, without the server: passwords are checked on a thread that may be slow.

use crate::error::DomainError;
use crate::login::PasswordHasher;
use model::User;
use std::sync::Arc;

/// The account of an address, if there is one, as it was when the login began.
pub struct LoginCandidate {
    pub(crate) user: Option<Arc<User>>,
    pub(crate) is_realm_active: bool,
}

impl LoginCandidate {
    /// The account, if this is its password. Takes about 13 ms of a thread, also without an account: call it from a blocking one.
    ///
    /// # Errors
    /// `WrongPassword`, `UserDeactivated` (only with the right password), `RealmDeactivated`.
    pub fn check(&self, password: &str, hasher: &mut PasswordHasher) -> Result<Arc<User>, DomainError> {
        let stored = self.user.as_ref().and_then(|user| user.password_hash.as_deref());
        let matches = hasher.check(stored, password);
        let user = self.user.as_ref().filter(|_| matches).ok_or(DomainError::WrongPassword)?;
        if !self.is_realm_active {
            return Err(DomainError::RealmDeactivated);
        }
        if !user.is_active {
            return Err(DomainError::UserDeactivated);
        }
        Ok(user.clone())
    }
}
