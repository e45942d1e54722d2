//! Web sessions: browsers that are logged in, found by the hash of a secret that only the browser has
//! (docs/api/sessions.md). Not the sessions of event queues, which are clients that poll.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The SHA-256 hash of a web session's secret, by which it is stored and found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebSessionKey(pub [u8; 32]);

impl WebSessionKey {
    /// The name of the session in the API: half of the hash in hexadecimal digits, which reveals nothing of the secret.
    pub fn name(&self) -> String {
        self.0.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for WebSessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebSessionKey({})", self.name())
    }
}

/// A change of a user's web sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebSessionFact {
    /// A browser was logged in.
    Started { key: WebSessionKey, session: WebSession },
    /// A session was used; recorded once an hour.
    Used { key: WebSessionKey, at: Timestamp },
    /// These sessions ended.
    Ended(Vec<WebSessionKey>),
}

/// A browser that is logged in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSession {
    /// When the user logged in.
    pub created: Timestamp,
    /// When it was last used, recorded at most once an hour.
    pub used: Timestamp,
    /// The browser, as its `User-Agent` says.
    pub device: String,
}
