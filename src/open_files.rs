//! The limit of open files (RLIMIT_NOFILE): each connection needs one. Connections are limited to what leaves files for the
//! storage, for uploads and downloads, and for connections to other systems.

use crate::config::Config;
use crate::units::counted;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroUsize;

/// Files that the server needs besides its connections.
const OWN_FILES: u64 = 256;
/// One file for this many connections is for what they upload and download.
const CONNECTIONS_OF_A_FILE: u64 = 8;
/// With a very low limit, connections get this part of it in any case.
const CONNECTIONS_PART_MIN: u64 = 4;
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
    /// Files of a connection: a node of a cluster needs a second one to pass on its request.
    of_connection: u64,
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
        Self::new(config, getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX))
    }

    fn new(config: &Config, limit: u64) -> Self {
        let of_connection = if config.cluster.is_on() { 2 } else { 1 };
        let connections = config.http.connections_max.get() as u64;
        let connections = connections.saturating_mul(config.http_workers() as u64);
        let transfers = connections.div_ceil(CONNECTIONS_OF_A_FILE);
        let wanted = connections.saturating_mul(of_connection).saturating_add(transfers + OWN_FILES);
        Self { limit, wanted, of_connection }
    }

    /// Connections that the limit is enough for.
    pub fn connections(self) -> u64 {
        let left = self.limit.saturating_sub(OWN_FILES);
        let parts = self.of_connection * CONNECTIONS_OF_A_FILE + 1;
        let connections = (u128::from(left) * u128::from(CONNECTIONS_OF_A_FILE) / u128::from(parts)) as u64;
        connections.max(self.limit / CONNECTIONS_PART_MIN)
    }

    /// The connections that each of some threads may have.
    fn connections_of_thread(self, threads: usize) -> NonZeroUsize {
        let connections = self.connections() / threads.max(1) as u64;
        NonZeroUsize::new(usize::try_from(connections).unwrap_or(usize::MAX)).unwrap_or(NonZeroUsize::MIN)
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

/// Raises the limit of this process to what its connections need, as far as it may, and warns if that is too low. Lowers
/// `http.connections_max` to what the limit is enough for.
pub fn raise(config: &mut Config) {
    let found = getrlimit(Resource::Nofile);
    let mut files = OpenFiles::new(config, found.current.unwrap_or(u64::MAX));
    let possible = files.wanted.min(found.maximum.unwrap_or(u64::MAX));
    let raised = Rlimit { current: Some(possible), maximum: found.maximum };
    if possible > files.limit && setrlimit(Resource::Nofile, raised).is_ok() {
        files.limit = possible;
    }
    let limit = files.limit;
    match files.capacity() {
        Capacity::All | Capacity::Good => tracing::debug!(limit, "the limit of open files is high enough"),
        Capacity::Few | Capacity::No => {
            tracing::warn!(limit, "the limit of open files is low: {}", files.advice())
        }
    }
    limit_connections(config, files);
}

/// Lowers `http.connections_max` to what is possible.
fn limit_connections(config: &mut Config, files: OpenFiles) {
    let possible = files.connections_of_thread(config.http_workers());
    if possible < config.http.connections_max {
        tracing::info!(
            connections_max = possible,
            configured = config.http.connections_max,
            limit = files.limit,
            "http.connections_max is lowered to what the limit of open files is enough for"
        );
        config.http.connections_max = possible;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(limit: u64, of_connection: u64) -> OpenFiles {
        OpenFiles { limit, wanted: 112_756, of_connection }
    }

    #[test]
    fn limits_are_judged_by_connections() {
        for (limit, enough) in [
            (112_756, Capacity::All),
            (4_756, Capacity::Good),
            (4_755, Capacity::Few),
            (1_024, Capacity::Few),
            (256, Capacity::Few),
            (255, Capacity::No),
            (64, Capacity::No),
        ] {
            assert_eq!(files(limit, 1).capacity(), enough, "{limit}");
        }
        let advice = files(64, 1).advice();
        assert!(
            advice.starts_with("64 files may be open, enough for about 16 connections; run "),
            "{advice}"
        );
    }

    #[test]
    fn connections_leave_files_for_the_server() {
        for (limit, of_connection, connections) in [
            (65_536, 1, 58_026),
            (20_000, 1, 17_550),
            (1_024, 1, 682),
            (256, 1, 64),
            (20_256, 2, 9_411),
            (u64::MAX, 1, 16_397_105_843_297_378_985),
        ] {
            let files = files(limit, of_connection);
            assert_eq!(files.connections(), connections, "{limit}");
            assert!(files.connections() * of_connection < limit, "{limit}");
        }
        let of_thread = |threads| files(20_000, 1).connections_of_thread(threads).get();
        assert_eq!((of_thread(4), of_thread(100_000)), (4_387, 1));
    }

    #[test]
    fn low_limit_lowers_the_setting() {
        let mut config = Config::load(None, [], Default::default()).unwrap();
        config.http.workers = 2;
        for (limit, expected) in [(1_000_000, 100_000), (20_000, 8_775)] {
            let files = OpenFiles::new(&config, limit);
            limit_connections(&mut config, files);
            assert_eq!(config.http.connections_max.get(), expected, "{limit}");
        }
    }
}
