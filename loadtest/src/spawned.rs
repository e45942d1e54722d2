//! The server under test as a process group: its start, and its end.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};

use crate::error::LoadError;
use crate::http::{Connection, HttpError, Target, bodiless_request, is_redirect, refuse_redirect};

const READY_WAIT: Duration = Duration::from_secs(60);
/// Interval of the requests that check whether a starting server answers.
const READY_POLL: Duration = Duration::from_millis(1);
/// How long a server may take to end before it is killed, and how long that may take.
const STOP_WAIT: Duration = Duration::from_secs(30);
const KILL_WAIT: Duration = Duration::from_secs(10);
const STOP_POLL: Duration = Duration::from_millis(10);

/// A server that this program started.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    pid: u32,
    pub started: Instant,
}

impl Spawned {
    /// Starts `command` (program and arguments, split at white space) with its output appended to `log`, which has that of
    /// all servers of a run.
    pub fn start(command: &str, log: &Path) -> Result<Self, LoadError> {
        let mut words = command.split_whitespace();
        let Some(program) = words.next() else {
            return Err(LoadError::Usage(
                "--spawn needs a command, as 'millstream dev --data /tmp/load'".to_owned(),
            ));
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
            prepared.spawn().map_err(|error| LoadError::Usage(format!("--spawn: cannot start {program} ({error}): give the path of the server's program, or a name that is in PATH")))?;
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
                    match tokio::time::timeout(left, connection.exchange(&request)).await {
                        Ok(Ok(reply)) if reply.status == 200 => return Ok(self.started.elapsed()),
                        // It does not become a 200 by waiting, either.
                        Ok(Ok(reply)) if is_redirect(reply.status) => {
                            let (call, location) = (format!("GET {path}"), reply.location.as_deref());
                            return Err(refuse_redirect(call, reply.status, location, target));
                        }
                        Ok(Ok(_) | Err(_)) | Err(_) => {}
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
            if self.ended().is_some() {
                return Err(LoadError::Server("it ended before its first response".to_owned()));
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

    /// Sends a signal to all processes of the group, also if the one that was started has ended.
    fn signal(&self, signal: Signal) {
        if let Some(group) = group_of(self.pid) {
            // An error says that none is left.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Whether all processes of the group have ended.
    fn is_gone(&mut self) -> bool {
        // Reaps the one that was started.
        self.ended().is_some() && !has_members(self.pid)
    }

    async fn is_gone_within(&mut self, wait: Duration) -> bool {
        let asked = Instant::now();
        while !self.is_gone() {
            if asked.elapsed() > wait {
                return false;
            }
            tokio::time::sleep(STOP_POLL).await;
        }
        true
    }

    /// Asks it, and what it has started, to end (SIGTERM), and waits until all have; kills those that have not in time. If this is not
    /// awaited until its end, it can be called again.
    pub async fn stop(&mut self) -> Result<(), LoadError> {
        self.stop_within(STOP_WAIT).await
    }

    async fn stop_within(&mut self, wait: Duration) -> Result<(), LoadError> {
        if self.is_gone() {
            // Its number may be that of another group soon.
            return Ok(());
        }
        self.signal(Signal::TERM);
        if self.is_gone_within(wait).await {
            return Ok(());
        }
        self.signal(Signal::KILL);
        match self.is_gone_within(KILL_WAIT).await {
            true => Ok(()),
            false => {
                Err(LoadError::Server(format!("the server cannot be stopped (process group {})", self.pid)))
            }
        }
    }
}

/// A server whose end is not waited for any more, as after a second signal, is killed at once, with what it has started.
impl Drop for Spawned {
    fn drop(&mut self) {
        if !self.is_gone() {
            self.signal(Signal::KILL);
        }
    }
}

fn group_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether a process group has a process that has not ended. One that has, and that its parent does not reap, is none.
fn has_members(group: u32) -> bool {
    if group_of(group).is_none_or(|group| test_kill_process_group(group) == Err(Errno::SRCH)) {
        return false;
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .map(|process| process.path().join("stat"))
        .any(|path| std::fs::read_to_string(path).is_ok_and(|stat| group_if_running(&stat) == Some(group)))
}

/// The group of a process that has not ended, from its `/proc/PID/stat`.
fn group_if_running(stat: &str) -> Option<u32> {
    // The name before may have anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    fields.nth(1)?.parse().ok()
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
mod tests;
