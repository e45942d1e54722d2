//! Who is logged in with a web session.

use super::RealmHandle;
use crate::error::DomainError;
use crate::login::web_session_key;
use model::{User, WebSessionKey};
use rules::web_sessions::is_use_due;
use std::sync::Arc;

/// A web session in use.
#[derive(Clone, Debug)]
pub struct FoundSession {
    pub key: WebSessionKey,
    pub user: Arc<User>,
    /// Whether its use is to be recorded: see `UseWebSession`.
    pub is_use_due: bool,
}

impl RealmHandle {
    /// The web session of a secret; none if it has ended or expired.
    ///
    /// # Errors
    /// `RealmDeactivated`, `UserDeactivated`.
    pub fn web_session(&self, secret: &str) -> Result<Option<FoundSession>, DomainError> {
        let key = web_session_key(secret);
        let now = self.now();
        let view = self.shared.view.read();
        let directory = &view.directory;
        let found = directory.web_session(&key);
        let found = found.filter(|(_, session)| !self.shared.web_session_limits.has_expired(session, now));
        let Some((user, session)) = found.and_then(|(user, session)| Some((directory.user(user)?, session)))
        else {
            return Ok(None);
        };
        if !directory.realm().is_active {
            return Err(DomainError::RealmDeactivated);
        }
        if !user.is_active {
            return Err(DomainError::UserDeactivated);
        }
        Ok(Some(FoundSession { key, user: user.clone(), is_use_due: is_use_due(session, now) }))
    }
}
