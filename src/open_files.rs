//! The limit of open files (RLIMIT_NOFILE): each connection needs one.

use crate::config::Config;
use crate::units::counted;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that the server needs besides its connections.
const OWN_FILES: u64 = 256;
/// Connections that a server should be able to have.
const CONNECTIONS_GOOD: u64 = 4_000;
/// With fewer connections it serves hardly anyone.
const CONNECTIONS_MIN: u64 = 64;

/// How many files a process may have open, and what that is enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFiles {
    /// The limit that is in force.
    pub limit: u64,
    /// Files for all connections of the configuration.
    wanted: u64,
}

/// How many connections a limit of open files is enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// All connections that the configuration allows.
    All,
    /// Fewer, but many connections.
    Good,
    Few,
    /// Hardly any connection.
    No,
}

impl OpenFiles {
    /// The limit that a server has after [`raise`].
    pub fn of_server(config: &Config) -> Self {
        Self { limit: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX), wanted: wanted(config) }
    }

    /// Connections that the limit is enough for.
    pub fn connections(self) -> u64 {
        self.limit.saturating_sub(OWN_FILES)
    }

    /// What the limit is enough for.
    pub fn capacity(self) -> Capacity {
        match self.connections() {
            _ if self.limit >= self.wanted => Capacity::All,
            CONNECTIONS_GOOD.. => Capacity::Good,
            CONNECTIONS_MIN.. => Capacity::Few,
            0.. => Capacity::No,
        }
    }

    /// The limit, and what to do about one that is too low.
    pub fn advice(self) -> String {
        format!(
            "{} may be open, enough for about {}; run `ulimit -n 100000` before the start, or set LimitNOFILE=100000 in the \
             systemd unit",
            counted(self.limit, "file"),
            counted(self.connections(), "connection")
        )
    }
}

/// Files for all connections that the configuration allows.
fn wanted(config: &Config) -> u64 {
    let connections = config.http.connections_max.get() as u64;
    connections.saturating_mul(config.http_workers() as u64).saturating_add(OWN_FILES)
}

/// Raises the limit of this process to what its connections need, as far as it may, and warns if that is too low.
pub fn raise(config: &Config) {
    let (found, wanted) = (getrlimit(Resource::Nofile), wanted(config));
    let limit = found.current.unwrap_or(u64::MAX);
    let possible = wanted.min(found.maximum.unwrap_or(u64::MAX));
    let raised = Rlimit { current: Some(possible), maximum: found.maximum };
    let limit = match possible > limit && setrlimit(Resource::Nofile, raised).is_ok() {
        true => possible,
        false => limit,
    };
    let files = OpenFiles { limit, wanted };
    match files.capacity() {
        Capacity::All | Capacity::Good => tracing::debug!(limit, "the limit of open files is high enough"),
        Capacity::Few | Capacity::No => {
            tracing::warn!(limit, "the limit of open files is low: {}", files.advice())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_judged_by_connections() {
        for (limit, enough) in [
            (100_256, Capacity::All),
            (4_256, Capacity::Good),
            (4_255, Capacity::Few),
            (1_024, Capacity::Few),
            (256, Capacity::No),
            (64, Capacity::No),
        ] {
            let files = OpenFiles { limit, wanted: 100_256 };
            assert_eq!(files.capacity(), enough, "{limit}");
        }
        let advice = OpenFiles { limit: 64, wanted: 100_256 }.advice();
        assert!(advice.starts_with("64 files may be open, enough for about 0 connections; run "), "{advice}");
    }
}
