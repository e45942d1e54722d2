//! Limits of the process, memory, and the clock.

use super::finding::Finding;
use crate::clock_check::journal_ahead;
use crate::config::Config;
use crate::open_files::{Capacity, OpenFiles};
use crate::units::{duration, size};
use std::time::{Duration, Instant, SystemTime};

/// The oldest plausible date, in seconds since 1970: 2026-01-01.
const OLDEST_SECS: u64 = 1_767_225_600;
/// How long the two clocks are compared.
const COMPARED_FOR: Duration = Duration::from_millis(300);
/// How far the clocks may drift apart meanwhile.
const DRIFT_MAX: Duration = Duration::from_millis(200);
/// Memory that a server needs besides the budgets of the configuration, in bytes.
const OWN_BYTES: u64 = 128 << 20;

/// Whether enough files may be open: each connection needs one. A server raises its limit as far as it may.
pub fn descriptors(config: &Config) -> Finding {
    let what = "file descriptors";
    let files = OpenFiles::of_server(config);
    match files.capacity() {
        Capacity::All => {
            Finding::good(what, format!("{} are allowed, enough for http.connections_max", files.limit))
        }
        Capacity::Good => Finding::good(
            what,
            format!(
                "{} are allowed: enough for about {} connections, to which http.connections_max is lowered",
                files.limit,
                files.connections()
            ),
        ),
        Capacity::Few => Finding::warning(what, files.advice()),
        Capacity::No => Finding::problem(what, files.advice()),
    }
}

/// Whether the memory is enough for the budgets of the configuration, and can be given.
pub fn memory(config: &Config) -> Finding {
    let what = "memory";
    let Some(total) = memory_bytes() else {
        return Finding::warning(what, "/proc/meminfo cannot be read, so the memory is unknown");
    };
    let budget = config.memory.in_flight_bytes_max.get() + config.storage.cache_bytes;
    let needed = budget.saturating_add(OWN_BYTES);
    let (there, wanted) = (size(total), size(needed));
    if needed > total {
        let text = format!(
            "there are {there}, and the configuration may use {wanted}; lower memory.in_flight_bytes_max or \
             storage.cache_bytes"
        );
        return Finding::problem(what, text);
    }
    let overcommit = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    match overcommit.trim() {
        "2" => {
            let text = format!(
                "{there}, but vm.overcommit_memory is 2, and the server reserves more than it uses; run \
                 `sysctl vm.overcommit_memory=0`"
            );
            Finding::warning(what, text)
        }
        _ => Finding::good(what, format!("{there}, and the configuration may use {wanted}")),
    }
}

/// The memory of this machine, or of the control group that limits it.
fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = group.and_then(|text| text.trim().parse::<u64>().ok());
    Some((kib << 10).min(limit.unwrap_or(u64::MAX)))
}

/// Whether the date is plausible, and the wall clock runs as fast as time passes.
pub async fn clock(config: &Config) -> Finding {
    let what = "clock";
    let (wall, monotonic) = (SystemTime::now(), Instant::now());
    tokio::time::sleep(COMPARED_FOR).await;
    let now = SystemTime::now();
    let (walked, passed) = (now.duration_since(wall).unwrap_or_default(), monotonic.elapsed());
    let secs = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if secs < OLDEST_SECS {
        return Finding::problem(what, "the date is in the past; set the clock, and keep it right with NTP");
    }
    if walked.abs_diff(passed) > DRIFT_MAX {
        let text = format!(
            "the wall clock moved {} ms while {} ms passed: something sets it in steps; let NTP slew it",
            walked.as_millis(),
            passed.as_millis()
        );
        return Finding::warning(what, text);
    }
    match journal_ahead(&config.data, now) {
        Some(ahead) => {
            let text = format!(
                "the journal is {} newer than now: the clock was set back; check it before you start the server",
                duration(ahead.as_secs())
            );
            Finding::problem(what, text)
        }
        None => Finding::good(what, "the date is plausible, and the clock runs steadily"),
    }
}
