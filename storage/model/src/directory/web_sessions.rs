//! Browsers that are logged in.

use super::Directory;
use crate::ids::UserId;
use crate::web_session::{WebSession, WebSessionKey};
use std::sync::Arc;

/// Less than or equal to every key.
const FIRST: WebSessionKey = WebSessionKey([0; 32]);

impl Directory {
    /// The web session with a key, and its user.
    pub fn web_session(&self, key: &WebSessionKey) -> Option<(UserId, &Arc<WebSession>)> {
        let user = *self.personal.web_session_users.get(key)?;
        Some((user, self.personal.web_sessions.get(&(user, *key))?))
    }

    /// The web sessions of a user.
    pub fn web_sessions_of(&self, user: UserId) -> impl Iterator<Item = (WebSessionKey, &Arc<WebSession>)> {
        let own = self.personal.web_sessions.range((user, FIRST)..);
        own.take_while(move |((owner, _), _)| *owner == user).map(|((_, key), session)| (*key, session))
    }

    /// The web sessions of all users, by user.
    pub fn web_sessions(&self) -> impl Iterator<Item = (UserId, WebSessionKey, &Arc<WebSession>)> {
        self.personal.web_sessions.iter().map(|((user, key), session)| (*user, *key, session))
    }

    /// Sets a web session; `None` removes it.
    pub fn put_web_session(&mut self, user: UserId, key: WebSessionKey, session: Option<WebSession>) {
        let personal = &mut self.personal;
        match session {
            Some(session) => {
                personal.web_session_users.insert(key, user);
                personal.web_sessions.insert((user, key), Arc::new(session));
            }
            None => {
                personal.web_session_users.remove(&key);
                personal.web_sessions.remove(&(user, key));
            }
        }
    }
}
