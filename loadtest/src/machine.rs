//! Describes the machine of a result, without which figures have no meaning.

use std::time::Duration;

use crate::outcome::{Machine, MachineUse};

/// Reads `/proc`. Values that cannot be read stay empty.
pub fn describe(server_version: String) -> Machine {
    let cpuinfo = read("/proc/cpuinfo");
    let meminfo = read("/proc/meminfo");
    Machine {
        cpu: parse_field(&cpuinfo, "model name").unwrap_or_default().to_owned(),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        memory_mb: parse_field(&meminfo, "MemTotal")
            .and_then(|value| value.trim_end_matches("kB").trim().parse::<u64>().ok())
            .map_or(0, |kilobytes| kilobytes / 1024),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        load_average: load_average(),
        loadtest_version: env!("CARGO_PKG_VERSION").to_owned(),
        server_version,
    }
}

/// The one-minute load average.
pub fn load_average() -> f64 {
    read("/proc/loadavg").split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// CPU time of all cores since the machine started.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuTimes {
    pub all: Duration,
    /// Of processes and the kernel.
    pub busy: Duration,
    /// Of other machines on the same hardware.
    pub steal: Duration,
}

/// Reads `/proc/stat`.
pub fn cpu_times() -> CpuTimes {
    parse_cpu_times(&read("/proc/stat"), rustix::param::clock_ticks_per_second().max(1))
}

fn parse_cpu_times(stat: &str, per_sec: u64) -> CpuTimes {
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
    let [user, nice, system, idle, io_wait, interrupts, soft, steal] = ticks[..] else {
        return CpuTimes::default();
    };
    let time = |ticks: u64| Duration::from_micros(ticks * 1_000_000 / per_sec);
    let busy = user + nice + system + interrupts + soft;
    CpuTimes { all: time(busy + idle + io_wait + steal), busy: time(busy), steal: time(steal) }
}

/// Load average for each core from which a machine counts as busy before a run.
const LOAD_PER_CORE_MAX: f64 = 0.5;
const STEAL_PERCENT_MAX: f64 = 5.0;
const OTHER_PERCENT_MAX: f64 = 20.0;

/// Why rates and latencies of a run cannot be trusted, if so, before it began.
pub fn busy_before(machine: &Machine) -> Option<String> {
    let per_core = machine.load_average / crate::units::as_float(machine.cores.max(1) as u64);
    (per_core > LOAD_PER_CORE_MAX).then(|| {
        format!(
            "the machine is busy: load average {:.2} on {} cores; compare CPU times and ratios, not rates and latencies",
            machine.load_average, machine.cores
        )
    })
}

/// Why rates and latencies of a phase cannot be trusted, if so.
pub fn busy_during(used: &MachineUse) -> Option<String> {
    let other = used.other_percent.filter(|percent| *percent > OTHER_PERCENT_MAX);
    let steal = Some(used.steal_percent).filter(|percent| *percent > STEAL_PERCENT_MAX);
    let parts = [
        other.map(|percent| format!("other processes used {percent:.0} % of all cores")),
        steal.map(|percent| format!("the hypervisor took {percent:.0} %")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("the machine was busy: {}", parts.join(", ")))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn parse_field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2: GHz\nmodel name\t: other\n";
        assert_eq!(parse_field(text, "model name"), Some("Some CPU @ 2: GHz"));
        assert_eq!(parse_field(text, "model"), None);
    }

    #[test]
    fn cpu_times_are_read_and_warned_about() {
        let times = parse_cpu_times("cpu  100 20 30 400 50 6 4 10 7 0\ncpu0 1", 100);
        assert_eq!(times.busy, Duration::from_millis(1600));
        assert_eq!(times.all, Duration::from_millis(6200));
        assert_eq!(times.steal, Duration::from_millis(100));
        assert!(cpu_times().all > Duration::ZERO);
        let calm = MachineUse { load_average: 9.0, steal_percent: 1.0, other_percent: Some(3.0) };
        assert_eq!(busy_during(&calm), None);
        let busy = MachineUse { steal_percent: 9.0, other_percent: Some(40.0), ..calm };
        let text = busy_during(&busy).unwrap();
        assert!(text.contains("40 %") && text.contains("9 %"), "{text}");
        let machine = Machine { cores: 2, load_average: 3.0, ..Machine::default() };
        assert!(busy_before(&machine).unwrap().contains("3.00"));
        assert_eq!(busy_before(&Machine { load_average: 0.9, ..machine }), None);
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = describe("1".to_owned());
        assert!(machine.cores > 0 && machine.memory_mb > 0, "{machine:?}");
    }
}
