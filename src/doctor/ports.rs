//! The ports that the server listens on: free, used by the server, or by another program.

use super::finding::Finding;
use super::running::RunningServer;
use crate::config::Config;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state of a listening socket in /proc/net/tcp.
const LISTENING: &str = "0A";

/// The option with the address that a running server says.
const LISTEN: &str = "listen";

/// One finding for each port of the configuration.
pub fn listeners(config: &Config, running: RunningServer) -> Vec<Finding> {
    let optional = [
        ("port for metrics", config.metrics.address(), "metrics.listen"),
        ("port for mail", config.mail.incoming.address(), "mail.incoming.listen"),
    ];
    let further = optional.into_iter().filter_map(|(what, address, option)| {
        let address = address?;
        Some(Port { what, address, option })
    });
    std::iter::once(Port { what: "port", address: config.listen, option: LISTEN })
        .chain(further)
        .map(|port| check(port, &config.data, running))
        .collect()
}

/// An address that the server is configured to listen on.
#[derive(Clone, Copy)]
struct Port {
    /// What it is, as the finding names it.
    what: &'static str,
    address: SocketAddr,
    /// The option that has the address.
    option: &'static str,
}

fn check(port: Port, data: &Path, running: RunningServer) -> Finding {
    let Port { what, address, option } = port;
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
    match error.kind() {
        ErrorKind::AddrInUse => taken(port, holder(address).as_ref(), data, running),
        ErrorKind::PermissionDenied => {
            let text = format!(
                "{address} may only be used with a permission: add AmbientCapabilities=CAP_NET_BIND_SERVICE to the systemd \
                 unit, or choose a port from 1024 on in `{option}`"
            );
            Finding::problem(what, text)
        }
        _ => Finding::problem(what, format!("cannot listen on {address}: {error}; change `{option}`")),
    }
}

/// What is said of an address that a process listens on: the server of the data folder, or another one.
fn taken(port: Port, holder: Option<&Holder>, data: &Path, running: RunningServer) -> Finding {
    let Port { what, address, option } = port;
    let is_server = match (running, holder) {
        (RunningServer::None, None) => false,
        // Also that of a server without a control socket.
        (RunningServer::None | RunningServer::Silent | RunningServer::Answering(_), Some(holder)) => {
            holder.uses(data)
        }
        // A process of another user cannot be examined; the server may say that it listens at another address.
        (RunningServer::Answering(Some(at)), None) if option == LISTEN => at.address.port() == address.port(),
        (RunningServer::Silent | RunningServer::Answering(_), None) => true,
    };
    if !is_server {
        let name = holder.map_or_else(|| "another program".to_owned(), Holder::name);
        return Finding::problem(what, format!("{address} is used by {name}; stop it, or change `{option}`"));
    }
    match running {
        RunningServer::Answering(_) => Finding::good(what, format!("the server is running on {address}")),
        RunningServer::Silent => {
            Finding::warning(what, format!("{address} is used by the server, which does not answer"))
        }
        RunningServer::None => {
            let text = format!(
                "{address} is used by the server of the data folder, which has no control socket, or one that this user may not use"
            );
            Finding::warning(what, text)
        }
    }
}

/// A process that listens.
struct Holder {
    id: String,
    /// Its folder in /proc.
    process: PathBuf,
}

impl Holder {
    /// Its program, such as `nginx (process 812)`.
    fn name(&self) -> String {
        let program = std::fs::read_to_string(self.process.join("comm")).unwrap_or_default();
        format!("{} (process {})", program.trim(), self.id)
    }

    /// Whether it is the server of a data folder, which keeps the lock file open. Numbers of processes do not show it: those of a
    /// container are others outside.
    fn uses(&self, data: &Path) -> bool {
        let file = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        let lock = file(&data.join("lock"));
        lock.is_some() && open_files(&self.process).any(|open| file(&open) == lock)
    }
}

/// What a process has open, as links.
fn open_files(process: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The process that listens on an address; none if it belongs to another user.
fn holder(address: SocketAddr) -> Option<Holder> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = std::fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| inode_of(line, address))
    })?;
    let target = format!("socket:[{inode}]");
    let has_socket = |process: &Path| {
        open_files(process)
            .filter_map(|open| std::fs::read_link(open).ok())
            .any(|link| link.as_os_str() == target.as_str())
    };
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let (id, process) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let is_process = id.bytes().all(|byte| byte.is_ascii_digit());
        (is_process && has_socket(&process)).then_some(Holder { id, process })
    })
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
    use super::super::State;
    use super::*;
    use crate::admin::ServerAddress;

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
        assert_eq!(found.id, std::process::id().to_string());
        assert_eq!(parse_ip("00000000000000000000000001000000"), Some(Ipv6Addr::LOCALHOST.into()));
    }

    #[test]
    fn port_of_another_process_is_not_the_servers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let port = Port { what: "port", address, option: LISTEN };
        let data = tempfile::tempdir().unwrap();
        let lock = std::fs::File::create(data.path().join("lock")).unwrap();
        for running in [RunningServer::None, RunningServer::Silent, RunningServer::Answering(None)] {
            let found = check(port, data.path(), running);
            assert!(found.text.contains("the server") && found.state != State::Problem, "{found:?}");
        }
        let at = |port| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            RunningServer::Answering(Some(ServerAddress { address, is_encrypted: false }))
        };
        for (running, state) in [(at(address.port()), State::Good), (at(1), State::Problem)] {
            assert_eq!(taken(port, None, data.path(), running).state, state);
        }
        // Now this process does not use the folder any more.
        drop(lock);
        for running in [RunningServer::Silent, RunningServer::Answering(None), RunningServer::None] {
            let found = check(port, data.path(), running);
            let name = format!("(process {}); stop it, or change `listen`", std::process::id());
            assert!(found.text.ends_with(&name) && found.state == State::Problem, "{found:?}");
        }
    }
}
