//! How far the clock is from that of a time server, by SNTP (RFC 4330). Only done for a server that the operator names.

use super::finding::Finding;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::UdpSocket;

/// How long the server may take.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Seconds from 1900, where NTP begins, to 1970.
const EPOCH_SECS: u64 = 2_208_988_800;
/// An offset that people notice, and that makes tokens of other services invalid.
const OFFSET_BAD: f64 = 5.0;
/// An offset that a synchronized clock does not have.
const OFFSET_WARN: f64 = 0.5;

/// Compares the clock with a server, named by host and, if it is not 123, port.
pub async fn compare(server: &str) -> Finding {
    let what = "time server";
    let asked = tokio::time::timeout(TIME_MAX, offset(server)).await;
    let asked = asked.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()));
    match asked {
        Err(error) => Finding::problem(
            what,
            format!("{server} does not answer: {error}; check the name and the network"),
        ),
        Ok(offset) if offset.abs() >= OFFSET_BAD => {
            let text =
                format!("the clock is {offset:+.1} s from {server}; set it, and keep it right with NTP");
            Finding::problem(what, text)
        }
        Ok(offset) if offset.abs() >= OFFSET_WARN => Finding::warning(
            what,
            format!("the clock is {offset:+.1} s from {server}; is it synchronized by NTP?"),
        ),
        Ok(offset) => Finding::good(what, format!("the clock is {:+.0} ms from {server}", offset * 1000.0)),
    }
}

/// Seconds that the clock of this machine is ahead.
async fn offset(server: &str) -> std::io::Result<f64> {
    let address = if server.contains(':') { server.to_owned() } else { format!("{server}:123") };
    let target = tokio::net::lookup_host(address).await?.next();
    let target = target.ok_or_else(|| std::io::Error::other("the name has no address"))?;
    let local = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(target).await?;
    let mut packet = [0; 48];
    // Version 4, client.
    packet[0] = 0x23;
    let sent = seconds_now();
    socket.send(&packet).await?;
    let length = socket.recv(&mut packet).await?;
    let received = seconds_now();
    let invalid = || std::io::Error::other("the answer is not one of a time server");
    // Its mode, and a stratum that says that it has the time.
    if length < 48 || packet[0] & 7 != 4 || packet[1] == 0 {
        return Err(invalid());
    }
    let arrived =
        ntp_seconds(packet.get(32..40).and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)?);
    let left = ntp_seconds(packet.get(40..48).and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)?);
    Ok(((sent - arrived) + (received - left)) / 2.0)
}

fn seconds_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Seconds since 1970 of a timestamp of NTP.
fn ntp_seconds(bytes: [u8; 8]) -> f64 {
    let fixed = u64::from_be_bytes(bytes);
    let secs = (fixed >> 32).saturating_sub(EPOCH_SECS);
    secs as f64 + (fixed & 0xffff_ffff) as f64 / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    /// A time server whose clock is ahead; answers once.
    async fn server(ahead: f64) -> String {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap().to_string();
        actix_rt::spawn(async move {
            let mut packet = [0; 48];
            let (_, peer) = socket.recv_from(&mut packet).await.unwrap();
            let now = seconds_now() + ahead;
            let secs = (now as u64 + EPOCH_SECS) << 32;
            let time = (secs | ((now.fract() * f64::from(u32::MAX)) as u64)).to_be_bytes();
            (packet[0], packet[1]) = (0x24, 2);
            packet[32..40].copy_from_slice(&time);
            packet[40..48].copy_from_slice(&time);
            socket.send_to(&packet, peer).await.unwrap();
        });
        address
    }

    #[actix_web::test]
    async fn offset_is_found() {
        assert_eq!(compare(&server(0.0).await).await.state, State::Good);
        let found = compare(&server(60.0).await).await;
        assert_eq!(found.state, State::Problem);
        assert!(found.text.starts_with("the clock is -60.0 s from"), "{}", found.text);
    }
}
