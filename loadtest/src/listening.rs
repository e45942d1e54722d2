//! Which process listens on an address, as `/proc` says. The figures of a process that was given for the server are only the
//! server's if it is the one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use crate::http::Target;

/// Processes named in an error.
const NAMED_MAX: usize = 4;
/// A process that is being started has the files of its parent for less than this.
const START_WAIT: Duration = Duration::from_millis(100);

/// Whether a process accepts connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listens {
    Yes,
    No,
    /// Its open files cannot be read.
    Unknown,
}

/// A TCP socket in the state LISTEN.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Socket {
    address: SocketAddr,
    /// As links to it are written.
    link: String,
}

impl Socket {
    /// Whether it gets connections to one of these addresses. Only a loopback address is certainly that of the socket: others may be
    /// forwarded.
    fn serves(&self, addresses: &[SocketAddr]) -> bool {
        let own = self.address.ip().to_canonical();
        addresses.iter().filter(|address| address.port() == self.address.port()).any(|address| {
            let asked = address.ip().to_canonical();
            let is_any = match own {
                IpAddr::V4(ip) => ip.is_unspecified() && asked.is_ipv4(),
                // Unless it is limited to IPv6, which the table does not say.
                IpAddr::V6(ip) => ip.is_unspecified(),
            };
            is_any || own == asked || !asked.is_loopback()
        })
    }
}

/// Whether a process accepts connections on any address.
pub fn anywhere(pid: u32) -> Listens {
    holds(pid, &sockets(&pid.to_string()).unwrap_or_default())
}

/// Checks that a process that was given for a server listens on the server's address. Fails if it does not, with what to pass;
/// returns a warning if that cannot be known, or if it is only one of several.
pub fn check_server(pid: u32, target: &Target) -> Result<Option<String>, String> {
    let unknown = |why: &str| {
        let host = &target.host;
        Ok(Some(format!(
            "whether process {pid} is the server at {host} is not known, {why}: make sure that it is"
        )))
    };
    let other_namespace = has_other_namespace(pid);
    if other_namespace == Some(true) {
        return unknown("because it has network interfaces of its own, as in a container");
    }
    let Some(mut serving) = sockets("self") else {
        return unknown("because this system does not say who listens");
    };
    serving.retain(|socket| socket.serves(target.addresses()));
    let listens = holds(pid, &serving);
    if listens == Listens::Yes {
        return Ok(warn_of_others(&sharing(pid, &serving), target));
    }
    let servers = holders(&serving);
    if is_possible(listens, other_namespace, &serving, &servers) {
        return unknown("because its open files cannot be read with the rights of this user");
    }
    let advice = advise(&serving, &servers, target);
    Err(format!("process {} does not listen on {}; {advice}", describe(pid), target.host))
}

/// Whether a process may listen on the server's address, although none is known to hold one of its sockets here: it may hold one of
/// these, or, if its network namespace is not known, one of another.
fn is_possible(listens: Listens, other_namespace: Option<bool>, serving: &[Socket], servers: &[u32]) -> bool {
    let has_socket = !serving.is_empty() || other_namespace.is_none();
    listens == Listens::Unknown && has_socket && servers.is_empty()
}

/// The other processes that hold a socket with the address of one of a process, as far as their files can be read: its workers, or
/// those of another server that shares the port.
fn sharing(pid: u32, serving: &[Socket]) -> Vec<u32> {
    let has = |pid: u32, socket: &Socket| holds(pid, std::slice::from_ref(socket)) == Listens::Yes;
    let own: Vec<SocketAddr> =
        serving.iter().filter(|socket| has(pid, socket)).map(|socket| socket.address).collect();
    let of_others = || {
        let sockets = serving.iter().filter(|socket| own.contains(&socket.address));
        let links: Vec<Socket> = sockets.cloned().collect();
        holders(&links).into_iter().filter(|other| *other != pid).collect::<Vec<u32>>()
    };
    let mut others = of_others();
    if !others.is_empty() {
        std::thread::sleep(START_WAIT);
        let still = of_others();
        others.retain(|other| still.contains(other));
    }
    others
}

/// A warning about processes that accept connections of a server beside the one that was given.
fn warn_of_others(others: &[u32], target: &Target) -> Option<String> {
    let named: Vec<String> = others.iter().take(NAMED_MAX).map(|pid| describe(*pid)).collect();
    let more = match others.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "other processes may accept connections at {}, too, and their CPU time and memory are not counted: {}{more}",
            target.host,
            named.join(", ")
        )
    })
}

/// The processes that hold one of the sockets, as far as their files can be read.
fn holders(sockets: &[Socket]) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let mut holders: Vec<u32> = pids.filter(|pid| holds(*pid, sockets) == Listens::Yes).collect();
    holders.sort_unstable();
    holders
}

/// What to pass instead.
fn advise(serving: &[Socket], servers: &[u32], target: &Target) -> String {
    if serving.is_empty() {
        return "nothing on this machine does: start the server there, or give its own address (not that of a proxy) as the URL"
            .to_owned();
    }
    let named: Vec<String> = servers.iter().take(NAMED_MAX).map(|pid| describe(*pid)).collect();
    match &named[..] {
        [] => format!(
            "pass the process that does, as `sudo ss -ltnp 'sport = :{}'` shows it, or leave --server-pid out",
            target.port()
        ),
        [one] => format!(
            "pass the process that does: {one}; if that is a proxy, give the server's own address as the URL"
        ),
        several => format!("pass the one of these that answers: {}", several.join(", ")),
    }
}

/// The number of a process, and its name in brackets.
fn describe(pid: u32) -> String {
    match std::fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("{pid} ({})", name.trim_end()),
        Err(_) => pid.to_string(),
    }
}

/// Whether a process has another network namespace than this one, in which ports have other numbers; unknown for a process of another
/// user.
fn has_other_namespace(pid: u32) -> Option<bool> {
    let namespace = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
    namespace(&pid.to_string()).zip(namespace("self")).map(|(its, own)| its != own)
}

/// Whether a process has one of these sockets open.
fn holds(pid: u32, sockets: &[Socket]) -> Listens {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Listens::Unknown };
    let mut listens = Listens::No;
    for file in files.flatten() {
        match std::fs::read_link(file.path()) {
            Ok(link) if sockets.iter().any(|socket| link == Path::new(&socket.link)) => return Listens::Yes,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => listens = Listens::Unknown,
            // It was closed meanwhile.
            Err(_) => {}
        }
    }
    listens
}

/// The listening sockets that a process can have: those of its network namespace; none if they cannot be read.
fn sockets(process: &str) -> Option<Vec<Socket>> {
    let table = |name: &str| std::fs::read_to_string(format!("/proc/{process}/net/{name}"));
    // A system without IPv6 has no second one.
    let tables = [table("tcp").ok()?, table("tcp6").unwrap_or_default()];
    Some(tables.iter().flat_map(|table| table.lines().filter_map(parse_socket)).collect())
}

/// A line of `/proc/PID/net/tcp` or `tcp6`, if its state is LISTEN.
fn parse_socket(line: &str) -> Option<Socket> {
    let mut fields = line.split_whitespace();
    let address = parse_address(fields.nth(1)?)?;
    let inode = fields.nth(1).filter(|state| *state == "0A").and_then(|_| fields.nth(5))?;
    Some(Socket { address, link: format!("socket:[{inode}]") })
}

/// An address as the kernel writes it: words of 32 bits in hexadecimal digits, each in the byte order of the machine, and the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = address.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(at)?);
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::{Child, Command};

    use super::*;

    /// A process that does not listen; ends with the test.
    struct Other(Child);

    impl Other {
        fn start() -> Self {
            Self(Command::new("sleep").arg("60").spawn().unwrap())
        }
    }

    impl Drop for Other {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    fn target(listener: &TcpListener) -> Target {
        Target::local(&format!("http://{}", listener.local_addr().unwrap())).unwrap()
    }

    #[test]
    fn only_some_processes_listen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(anywhere(std::process::id()), Listens::Yes);
        drop(listener);
        assert_eq!(anywhere(Other::start().0.id()), Listens::No);
        assert_eq!(anywhere(u32::MAX), Listens::Unknown);
    }

    #[test]
    fn process_that_does_not_listen_on_the_address_is_refused_and_the_server_is_named() {
        let (listener, own) = (TcpListener::bind("127.0.0.1:0").unwrap(), std::process::id());
        let target = target(&listener);
        assert_eq!(check_server(own, &target).unwrap(), None);
        let other = Other::start();
        let pid = other.0.id();
        let error = check_server(pid, &target).unwrap_err();
        let begin = format!("process {pid} (sleep) does not listen on {}; ", target.host);
        assert!(error.starts_with(&begin) && error.contains(&format!("{own} (")), "{error}");
        let closed = Target::local("http://127.0.0.1:9").unwrap();
        let error = check_server(own, &closed).unwrap_err();
        assert!(error.contains("start the server there"), "{error}");
    }

    #[test]
    fn process_whose_files_cannot_be_read_is_warned_about_unless_another_one_listens() {
        let socket = Socket { address: "127.0.0.1:80".parse().unwrap(), link: String::new() };
        let serving = std::slice::from_ref(&socket);
        let here = Some(false);
        assert!(is_possible(Listens::Unknown, here, serving, &[]));
        assert!(!is_possible(Listens::Unknown, here, serving, &[7]));
        assert!(!is_possible(Listens::No, here, serving, &[]));
        assert!(!is_possible(Listens::Unknown, here, &[], &[]), "nothing listens there");
        assert!(!is_possible(Listens::Unknown, None, serving, &[7]), "it is another one");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = check_server(u32::MAX, &target(&listener)).unwrap_err();
        assert!(error.contains(&format!("{} (", std::process::id())), "{error}");
    }

    #[test]
    fn process_whose_network_is_not_known_is_warned_about_where_nothing_listens() {
        let closed = Target::local("http://127.0.0.1:9").unwrap();
        let pid = u32::MAX;
        assert_eq!((has_other_namespace(pid), has_other_namespace(std::process::id())), (None, Some(false)));
        let warning = check_server(pid, &closed).unwrap().unwrap();
        assert!(warning.contains("is not known, because its open files cannot be read"), "{warning}");
    }

    #[test]
    fn processes_that_share_the_socket_are_warned_about() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = target(&listener);
        let inherited = listener.try_clone().unwrap();
        let worker = Command::new("sleep").arg("60").stdin(std::os::fd::OwnedFd::from(inherited)).spawn();
        let worker = Other(worker.unwrap());
        let own = std::process::id();
        let warning = check_server(own, &target).unwrap().unwrap();
        let pid = worker.0.id();
        assert!(warning.ends_with(&format!("memory are not counted: {pid} (sleep)")), "{warning}");
        let other = check_server(pid, &target).unwrap().unwrap();
        assert!(other.contains(&format!("{own} (")) && !other.contains("(sleep)"), "{other}");
        drop(worker);
        assert_eq!(check_server(own, &target), Ok(None));
        let many = warn_of_others(&[u32::MAX; 7], &target).unwrap();
        assert!(many.ends_with(" and 3 more"), "{many}");
    }

    #[test]
    fn sockets_are_parsed_with_their_addresses() {
        let little = cfg!(target_endian = "little");
        let loopback = if little { "0100007F" } else { "7F000001" };
        let line = |state: &str| {
            format!(
                "   0: {loopback}:2707 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0"
            )
        };
        let address = "127.0.0.1:9991".parse().unwrap();
        assert_eq!(parse_socket(&line("0A")), Some(Socket { address, link: "socket:[4711]".to_owned() }));
        assert_eq!(parse_socket(&line("01")), None, "a connection");
        assert_eq!(parse_socket("  sl  local_address rem_address   st tx_queue"), None);
        let mapped =
            format!("0000000000000000{}{loopback}:0050", if little { "FFFF0000" } else { "0000FFFF" });
        assert_eq!(parse_address(&mapped), Some("[::ffff:127.0.0.1]:80".parse().unwrap()));
    }

    #[test]
    fn addresses_are_compared_as_the_kernel_does() {
        let serves = |own: &str, asked: &str| {
            let socket = Socket { address: own.parse().unwrap(), link: String::new() };
            socket.serves(&[asked.parse().unwrap()])
        };
        for (own, asked) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("10.0.0.1:80", "203.0.113.1:80"),
        ] {
            assert!(serves(own, asked), "{own} {asked}");
        }
        for (own, asked) in [
            ("127.0.0.1:80", "127.0.0.1:81"),
            ("127.0.0.1:80", "127.0.0.2:80"),
            ("0.0.0.0:80", "[::1]:80"),
            ("10.0.0.1:80", "127.0.0.1:80"),
        ] {
            assert!(!serves(own, asked), "{own} {asked}");
        }
    }
}
