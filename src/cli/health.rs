//! `millstream health`: whether the server answers, for health checks of containers.

use super::data::DataArgs;
use super::error::CliError;
use crate::admin::Answer;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// How long the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Check whether the server answers and accepts changes
///
/// Asks the configured address for `/health`. The exit code is 0 if the server accepts changes, otherwise 1.
#[derive(Debug, clap::Args)]
pub struct HealthArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Address and port of the server, instead of the configured ones
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<SocketAddr>,
}

/// Asks, and prints the answer.
pub fn run(args: &HealthArgs) -> Result<(), CliError> {
    let address = match args.address {
        Some(address) => address,
        None => reachable(args.data.load()?.listen),
    };
    let refused = |reason: std::io::Error| {
        CliError::Refused(format!("the server on {address} does not answer: {reason}"))
    };
    let (status, body) = fetch(address).map_err(refused)?;
    let storage = body["storage"]["status"].as_str().unwrap_or("unknown").to_owned();
    if status != 200 {
        let code = body["code"].as_str().unwrap_or("unknown").to_owned();
        return Err(CliError::Refused(format!(
            "the server on {address} answers {status} {code}, storage: {storage}"
        )));
    }
    args.data.print(&Answer::of(format!("The server on {address} is healthy; storage: {storage}."), body));
    Ok(())
}

/// The address to connect to: a server that listens on all addresses is asked on the local one.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn fetch(address: SocketAddr) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("the answer is not HTTP"))?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok((status, serde_json::from_str(body).unwrap_or_default()))
}
