//! How a running server recognizes the request of `millstream doctor`, and says what arrived with it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// The header of a probe, which has the token.
pub const PROBE_HEADER: &str = "x-millstream-probe";
/// The token by which a server recognizes the request of its own operator; new with each start.
pub struct Probe(String);

/// What arrived with a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeReport {
    /// The other end of the connection: the proxy, if there is one.
    pub peer: Option<IpAddr>,
    /// The address that counts as the client's.
    pub client: Option<IpAddr>,
    /// Whether `X-Forwarded-For` or `Forwarded` is there.
    pub is_forwarded: bool,
    pub host: Option<String>,
}

impl Probe {
    /// A random token.
    pub fn new() -> Self {
        // Without randomness no token is valid.
        Self(actors::login::random_name().unwrap_or_default())
    }

    /// The token of this start.
    pub fn token(&self) -> &str {
        &self.0
    }

    /// Whether a header has the token.
    pub fn is_valid(&self, given: &[u8]) -> bool {
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
    fn only_the_own_token_is_valid() {
        let probe = Probe::new();
        assert!(probe.is_valid(probe.token().as_bytes()));
        assert!(!probe.is_valid(b"") && !probe.is_valid(Probe::new().token().as_bytes()));
        assert!(!Probe(String::new()).is_valid(b""));
    }
}
