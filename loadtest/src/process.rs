//! Processes: what `/proc` and the command line of a server say about them, and the limit of open files.

use std::time::Duration;

use nix::time::{clock_getcpuclockid, clock_gettime};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LoadError;

/// Open files besides the connections of clients.
const OTHER_FILES: u64 = 512;

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
}
