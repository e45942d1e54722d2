//! How a running server recognizes the request of `millstream doctor`, and says what arrived with it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// The header of a request with the word.
pub const PROBE_HEADER: &str = "x-millstream-probe";
/// The word by which a server recognizes the request of its own operator; new with each start.
pub struct Probe(String);

/// What arrived with such a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probed {
    /// The other end of the connection: the proxy, if there is one.
    pub peer: Option<IpAddr>,
    /// The address that counts as the client's.
    pub client: Option<IpAddr>,
    /// Whether `X-Forwarded-For` or `Forwarded` is there.
    pub is_forwarded: bool,
    pub host: Option<String>,
}

impl Probe {
    /// A random word.
    pub fn new() -> Self {
        // Without randomness no word is right.
        Self(actors::login::random_name().unwrap_or_default())
    }

    /// The word of this start.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Whether a header has the word.
    pub fn is_right(&self, given: &[u8]) -> bool {
        !self.0.is_empty() && given.ct_eq(self.0.as_bytes()).into()
    }
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_is_right() {
        let probe = Probe::new();
        assert!(probe.is_right(probe.word().as_bytes()));
        assert!(!probe.is_right(b"") && !probe.is_right(Probe::new().word().as_bytes()));
        assert!(!Probe(String::new()).is_right(b""));
    }
}
