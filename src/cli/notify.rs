//! Messages to systemd: that the server is ready, alive, and stopping. Nothing happens where it was not started by systemd.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The server accepts requests. From here on the thread that waits for signals reports to systemd's watchdog.
pub fn ready() {
    send("READY=1");
    if let Some(interval) = watchdog_interval(std::env::var("WATCHDOG_USEC").ok().as_deref()) {
        actix_rt::spawn(async move {
            let mut tick = tokio::time::interval(interval);
            loop {
                tick.tick().await;
                send("WATCHDOG=1");
            }
        });
    }
}

/// The server stops.
pub fn stopping() {
    send("STOPPING=1");
}

/// Half of the time after which systemd restarts the server.
fn watchdog_interval(micros: Option<&str>) -> Option<Duration> {
    let micros: u64 = micros?.parse().ok().filter(|micros| *micros > 1)?;
    Some(Duration::from_micros(micros / 2))
}

fn send(message: &str) {
    let Ok(path) = std::env::var("NOTIFY_SOCKET") else { return };
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    let sent =
        address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::debug!(%error, "systemd could not be notified");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchdog_is_notified_twice_in_its_interval() {
        assert_eq!(watchdog_interval(Some("60000000")), Some(Duration::from_secs(30)));
        for none in [None, Some(""), Some("0"), Some("soon")] {
            assert_eq!(watchdog_interval(none), None);
        }
    }
}
