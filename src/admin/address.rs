//! Where a running server listens, as it says over its control socket.

use super::request::AdminRequest;
use super::socket::ask_within;
use serde::Deserialize;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// The listening address of a server, and whether clients use HTTPS there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerAddress {
    pub address: SocketAddr,
    pub is_encrypted: bool,
}

/// The address of the server that runs on a data folder; none if no server does. Blocks, at most for `time_max`.
///
/// # Errors
/// Those of the connection. The inner error is the refusal of the server, or that its answer is another one.
pub fn ask_address(data: &Path, time_max: Duration) -> io::Result<Option<Result<ServerAddress, String>>> {
    let asked = ask_within(data, &AdminRequest::Address, time_max)?;
    let parse = |value| serde_json::from_value(value).map_err(|error| error.to_string());
    Ok(asked.map(|answer| answer.and_then(|answer| parse(answer.value))))
}

/// The address to connect to: a server that listens on all addresses is asked on the local one.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
