//! Processes: reading `/proc`, and starting and stopping the server under test.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::time::{clock_getcpuclockid, clock_gettime};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use tokio::process::{Child, Command};

use crate::error::LoadError;
use crate::http::{Connection, HttpError, Target, bodiless_request};

const READY_WAIT: Duration = Duration::from_secs(60);
const STOP_WAIT: Duration = Duration::from_secs(30);
/// How long a server may take to end when a run is interrupted, before it is killed.
const DROP_WAIT: Duration = Duration::from_secs(10);
const DROP_POLL: Duration = Duration::from_millis(20);
/// Open files besides the connections of clients.
const OTHER_FILES: u64 = 512;
/// Interval of the requests that check whether a starting server answers.
const READY_POLL: Duration = Duration::from_millis(1);

/// Resident memory of a process in bytes (`VmRSS` of `/proc/PID/status`).
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    parse_resident(&status)
}

fn parse_resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Whether a process has a TCP socket that accepts connections; `None` if its files cannot be read.
pub fn listens(pid: u32) -> Option<bool> {
    let tables = ["tcp", "tcp6"].map(|name| std::fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let listening: Vec<String> = tables.iter().flatten().flat_map(|table| listening_sockets(table)).collect();
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut targets = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    Some(targets.any(|target| listening.iter().any(|socket| target.as_os_str() == socket.as_str())))
}

/// The sockets of a table of `/proc/PID/net` in the state LISTEN, as links to them are written.
fn listening_sockets(table: &str) -> Vec<String> {
    let socket = |line: &str| {
        let mut fields = line.split_whitespace();
        let inode = fields.nth(3).filter(|state| *state == "0A").and_then(|_| fields.nth(5))?;
        Some(format!("socket:[{inode}]"))
    };
    table.lines().filter_map(socket).collect()
}

/// CPU time of a process so far, user and system, with that of threads that have ended. From the scheduler, in nanoseconds:
/// `/proc/PID/stat` counts ticks of 10 ms, which is more than a short phase takes.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    // The clock of process 0 is that of this one.
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
    let pid = nix::unistd::Pid::from_raw(pid);
    let clock = clock_getcpuclockid(pid).ok()?;
    Some(clock_gettime(clock).ok()?.into())
}

/// A process id from the command line, if there is a process that can be read.
pub fn parse_pid(text: &str) -> Result<u32, String> {
    let pid = text.parse().map_err(|_| "not a process id".to_owned())?;
    match cpu_time(pid) {
        Some(_) => Ok(pid),
        None => Err(format!("there is no process {pid} on this machine")),
    }
}

/// Raises this process's limit of open files to the hard limit where it is less than needed for this many connections. Fails if the
/// hard limit is less, too.
pub fn raise_open_files(connections: u64) -> Result<(), LoadError> {
    let wanted = connections + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let target = limit.maximum.unwrap_or(wanted);
    let raised = Rlimit { current: Some(target), maximum: limit.maximum };
    let set = setrlimit(Resource::Nofile, raised);
    if set.is_err() || target < wanted {
        return Err(LoadError::Usage(format!(
            "this scenario needs {wanted} open files, and the limit is {target}: raise it \
             (`ulimit -n {wanted}`, or the hard limit in /etc/security/limits.conf) or lower the number of clients"
        )));
    }
    Ok(())
}

/// Whether this process was started with SIGHUP ignored, as by `nohup`.
pub fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_hangup_ignored(&status))
}

/// Whether the mask of ignored signals has the first one.
fn is_hangup_ignored(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

/// The data folder that a command of a server names.
pub fn data_folder(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    words
        .find_map(|word| match word.strip_prefix("--data")? {
            "" => Some(None),
            rest => rest.strip_prefix('=').map(Some),
        })?
        .or_else(|| words.next())
}

/// Whether a command starts a development server with temporary data, which does not sync its writes.
pub fn leaves_sync_out(command: &str) -> bool {
    command.split_whitespace().any(|word| word == "dev") && data_folder(command).is_none()
}

/// A server that this program started.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    pid: u32,
    pub started: Instant,
}

impl Spawned {
    /// Starts `command` (program and arguments, split at white space) with its output appended to `log`.
    pub fn start(command: &str, log: &Path) -> Result<Self, LoadError> {
        let mut words = command.split_whitespace();
        let Some(program) = words.next() else {
            return Err(LoadError::Usage("--spawn needs a command".to_owned()));
        };
        let output = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(|source| LoadError::file(log, source))?;
        let errors = output.try_clone().map_err(|source| LoadError::file(log, source))?;
        let mut prepared = Command::new(program);
        prepared.args(words).stdin(Stdio::null()).stdout(output).stderr(errors).kill_on_drop(true);
        // In a group of its own, so that what a wrapper has started ends with it.
        prepared.process_group(0);
        let started = Instant::now();
        let child =
            prepared.spawn().map_err(|error| LoadError::Usage(format!("cannot start {program}: {error}")))?;
        let pid = child.id().unwrap_or_default();
        Ok(Self { child, pid, started })
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until `path` answers 200; returns the time since the start.
    pub async fn wait_ready(&mut self, target: &Target, path: &str) -> Result<Duration, LoadError> {
        let request = bodiless_request("GET", &target.host, path, None);
        while self.started.elapsed() < READY_WAIT {
            match Connection::open(target).await {
                Ok(mut connection) => {
                    let left = READY_WAIT.saturating_sub(self.started.elapsed());
                    let exchanged = tokio::time::timeout(left, connection.exchange(&request)).await;
                    if exchanged.is_ok_and(|reply| reply.is_ok_and(|reply| reply.status == 200)) {
                        return Ok(self.started.elapsed());
                    }
                }
                // It does not become another one by waiting.
                Err(source @ HttpError::Tls(_)) => {
                    return Err(LoadError::Http { call: format!("connect to {}", target.host), source });
                }
                Err(
                    HttpError::Io(_)
                    | HttpError::Closed
                    | HttpError::NoReply(_)
                    | HttpError::Malformed(_)
                    | HttpError::TooLarge(_),
                ) => {}
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(LoadError::Server(format!(
                    "the server ended before its first response: {status}"
                )));
            }
            tokio::time::sleep(READY_POLL).await;
        }
        Err(LoadError::Server(format!(
            "no 200 from {path} at {} within {} s: let the server listen there, or name its address with --url",
            target.host,
            READY_WAIT.as_secs()
        )))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends SIGTERM to a process that has not ended, and to those that it started; whether there was one.
    fn ask_to_end(&mut self) -> bool {
        self.ended().is_none() && self.signal(Signal::TERM)
    }

    fn signal(&self, signal: Signal) -> bool {
        let group = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        group.is_some_and(|group| kill_process_group(group, signal).is_ok())
    }

    /// Asks it to end (SIGTERM) and waits; kills it on a timeout.
    pub async fn stop(mut self) -> Result<(), LoadError> {
        if self.ended().is_some() {
            return Ok(());
        }
        let asked = self.ask_to_end();
        if asked && tokio::time::timeout(STOP_WAIT, self.child.wait()).await.is_ok() {
            return Ok(());
        }
        self.signal(Signal::KILL);
        self.child
            .kill()
            .await
            .map_err(|error| LoadError::Server(format!("the server cannot be stopped: {error}")))
    }
}

/// A run that is interrupted, or fails, leaves no server behind.
impl Drop for Spawned {
    fn drop(&mut self) {
        if !self.ask_to_end() {
            return;
        }
        let asked = Instant::now();
        while asked.elapsed() < DROP_WAIT && self.ended().is_none() {
            std::thread::sleep(DROP_POLL);
        }
    }
}

/// Fails if the address of a server to be started is in use already.
pub async fn check_address_free(target: &Target) -> Result<(), LoadError> {
    for address in target.addresses() {
        if tokio::net::TcpStream::connect(address).await.is_ok() {
            return Err(LoadError::Usage(format!(
                "something already listens on {address}: stop it, or leave --spawn out"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read() {
        assert_eq!(parse_resident("Name:\tx\nVmRSS:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(parse_resident("Name:\tx\n"), None);
        let own = std::process::id();
        assert!(resident_bytes(own).unwrap() > 100_000);
        assert_eq!(resident_bytes(u32::MAX), None);
    }

    #[test]
    fn only_some_processes_listen() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(listens(std::process::id()), Some(true));
        drop(listener);
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(listens(other.id()), Some(false));
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(listens(u32::MAX), None);
    }

    #[test]
    fn ignored_hangup_is_read() {
        assert!(is_hangup_ignored("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!is_hangup_ignored("Name:\tx\nSigIgn:\t0000000000001000\n"));
        assert!(!is_hangup_ignored("Name:\tx\n"));
    }

    #[test]
    fn cpu_time_is_finer_than_a_tick() {
        let tick = Duration::from_micros(1_000_000 / rustix::param::clock_ticks_per_second().max(1));
        let own = std::process::id();
        let times: Vec<Duration> = (0..100).filter_map(|_| cpu_time(own)).collect();
        assert!(times.is_sorted() && times.len() == 100, "{times:?}");
        assert!(times.iter().any(|time| time.as_nanos() % tick.as_nanos() != 0), "{times:?}");
        assert_eq!([cpu_time(u32::MAX), cpu_time(0)], [None, None]);
    }

    #[test]
    fn only_development_servers_with_temporary_data_do_not_sync() {
        assert!(leaves_sync_out("target/release/millstream dev --listen 127.0.0.1:9001"));
        for synced in
            ["millstream dev --data /tmp/load", "millstream dev --data=/tmp/load", "millstream serve"]
        {
            assert!(!leaves_sync_out(synced), "{synced}");
        }
    }

    #[tokio::test]
    async fn a_server_that_ends_at_once_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::local("http://127.0.0.1:9").unwrap();
        let mut spawned = Spawned::start("false", &folder.path().join("log")).unwrap();
        let error = spawned.wait_ready(&target, "/").await.unwrap_err();
        assert!(error.to_string().contains("ended before"), "{error}");
        assert!(Spawned::start("no-such-program-here", &folder.path().join("log")).is_err());
    }

    #[tokio::test]
    async fn what_a_wrapper_has_started_is_stopped_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("wrapper");
        let file = folder.path().join("pid");
        std::fs::write(
            &script,
            format!("sleep 120 &\necho $! > {}.new\nmv {0}.new {0}\nwait\n", file.display()),
        )
        .unwrap();
        let spawned =
            Spawned::start(&format!("sh {}", script.display()), &folder.path().join("log")).unwrap();
        while !file.exists() {
            tokio::task::yield_now().await;
        }
        let started: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        assert!(resident_bytes(started).is_some());
        spawned.stop().await.unwrap();
        // Another process reaps it, if any does; what has ended has no memory.
        let stopped = Instant::now();
        while resident_bytes(started).is_some() {
            assert!(stopped.elapsed() < Duration::from_secs(20), "process {started} goes on");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_started_server_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let spawned = Spawned::start("sleep 60", &folder.path().join("log")).unwrap();
        let pid = spawned.pid();
        assert!(resident_bytes(pid).is_some());
        spawned.stop().await.unwrap();
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        let left = Spawned::start("sleep 60", &folder.path().join("log")).unwrap();
        let pid = left.pid();
        drop(left);
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "a run that ends early leaves no server");
    }
}
