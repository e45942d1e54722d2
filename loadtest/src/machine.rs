//! Describes the machine of a result, without which figures have no meaning.

use crate::outcome::Machine;

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
    fn this_machine_has_cores_and_memory() {
        let machine = describe("1".to_owned());
        assert!(machine.cores > 0 && machine.memory_mb > 0, "{machine:?}");
    }
}
