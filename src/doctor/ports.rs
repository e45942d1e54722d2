//! The ports that the server listens on: free, used by the server, or by another program.

use super::finding::Finding;
use super::running::RunningServer;
use crate::config::Config;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// The state of a listening socket in /proc/net/tcp.
const LISTENING: &str = "0A";

/// One finding for each port of the configuration.
pub fn listeners(config: &Config, running: RunningServer) -> Vec<Finding> {
    let optional = [
        ("port for metrics", config.metrics.address(), "metrics.listen"),
        ("port for mail", config.mail.incoming.address(), "mail.incoming.listen"),
    ];
    let further = optional.into_iter().filter_map(|(what, address, option)| Some((what, address?, option)));
    std::iter::once(("port", config.listen, "listen"))
        .chain(further)
        .map(|(what, address, option)| port(what, address, option, running))
        .collect()
}

fn port(what: &'static str, address: SocketAddr, option: &str, running: RunningServer) -> Finding {
    let is_running = running != RunningServer::None;
    let error = match TcpListener::bind(address) {
        Ok(_) if is_running && address.port() != 0 => {
            let text =
                format!("{address} is free although the server runs; it was started with another `{option}`");
            return Finding::warning(what, text);
        }
        Ok(_) => return Finding::good(what, format!("{address} is free")),
        Err(error) => error,
    };
    let holder = holder(address);
    let name = holder.clone().unwrap_or_else(|| "another program".to_owned());
    match error.kind() {
        std::io::ErrorKind::AddrInUse
            if is_running && holder.as_deref().is_none_or(|name| name.contains("millstream")) =>
        {
            match running {
                RunningServer::Answering(_) => {
                    Finding::good(what, format!("the server is running on {address}"))
                }
                RunningServer::Silent | RunningServer::None => {
                    Finding::warning(what, format!("{address} is used by the server, which does not answer"))
                }
            }
        }
        std::io::ErrorKind::AddrInUse => {
            Finding::problem(what, format!("{address} is used by {name}; stop it, or change `{option}`"))
        }
        std::io::ErrorKind::PermissionDenied => {
            let text = format!(
                "{address} may only be used with a permission: add AmbientCapabilities=CAP_NET_BIND_SERVICE to the systemd \
                 unit, or choose a port from 1024 on in `{option}`"
            );
            Finding::problem(what, text)
        }
        _ => Finding::problem(what, format!("cannot listen on {address}: {error}; change `{option}`")),
    }
}

/// The program that listens on an address, such as `nginx (process 812)`; none if it belongs to another user.
fn holder(address: SocketAddr) -> Option<String> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = std::fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| inode_of(line, address))
    })?;
    let target = format!("socket:[{inode}]");
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let name = process.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let sockets = std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let mut links = sockets.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        if links.any(|link| link.as_os_str() == target.as_str()) {
            let program = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {name})", program.trim()));
        }
    }
    None
}

/// The inode of a socket that listens on an address or on all addresses, from a line of /proc/net/tcp.
fn inode_of(line: &str, wanted: SocketAddr) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
    let (ip, port) = local.split_once(':')?;
    let is_port = u16::from_str_radix(port, 16).ok()? == wanted.port();
    let ip = parse_ip(ip)?;
    let is_address = ip.is_unspecified() || wanted.ip().is_unspecified() || ip == wanted.ip();
    (*state == LISTENING && is_port && is_address).then(|| inode.parse().ok())?
}

/// An address as the kernel writes it: words of 32 bits in the order of this machine.
fn parse_ip(text: &str) -> Option<IpAddr> {
    let words: Option<Vec<u32>> = text
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok())
        .collect();
    match words?.as_slice() {
        [word] => Some(Ipv4Addr::from(word.to_ne_bytes()).into()),
        [a, b, c, d] => {
            let bytes = [a, b, c, d].map(|word| word.to_ne_bytes()).concat();
            let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?);
            Some(IpAddr::from(address).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_found() {
        let line =
            "   0: 0100007F:270F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 4711 1 0";
        assert_eq!(inode_of(line, "127.0.0.1:9999".parse().unwrap()), Some(4711));
        assert_eq!(inode_of(line, "0.0.0.0:9999".parse().unwrap()), Some(4711));
        assert_eq!(inode_of(line, "127.0.0.1:9998".parse().unwrap()), None);
        assert_eq!(inode_of(line, "10.0.0.1:9999".parse().unwrap()), None);
        assert_eq!(inode_of(&line.replace(" 0A ", " 01 "), "127.0.0.1:9999".parse().unwrap()), None);
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let found = holder(taken.local_addr().unwrap()).unwrap();
        assert!(found.ends_with(&format!("(process {})", std::process::id())), "{found}");
        assert_eq!(parse_ip("00000000000000000000000001000000"), Some(Ipv6Addr::LOCALHOST.into()));
    }
}
