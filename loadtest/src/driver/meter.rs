//! What a phase costs: CPU time of server and client, memory over time, and what else the machine did meanwhile.

use std::time::{Duration, Instant};

use crate::machine::{self, CpuTimes};
use crate::outcome::{MachineUse, PhaseResult, ServerUse, StageUse, Unmeasured};
use crate::process;
use crate::units::{as_float, megabytes, micros_each};

/// At one a second more than the longest phase.
const SAMPLES_MAX: usize = 20_000;
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// A growth is computed from at least this many points.
const POINTS_MIN: usize = 8;

/// CPU time and memory at the start of a phase, and memory since.
#[derive(Debug)]
pub struct Meter {
    server_pid: Option<u32>,
    server_cpu: Option<Duration>,
    server_rss: Option<u64>,
    client_cpu: Duration,
    machine: CpuTimes,
    load_average: f64,
    begun: Instant,
    memory: Vec<(f64, f64)>,
    /// At the end of each stage so far.
    stages: Vec<Mark>,
    end: Option<End>,
}

/// What the meter reads at the end of a phase.
#[derive(Debug)]
struct End {
    mark: Mark,
    server_rss: Option<u64>,
    machine: CpuTimes,
}

impl End {
    fn now(server_pid: Option<u32>, requests: u64) -> Self {
        let mark = Mark::now(server_pid, requests);
        Self { mark, server_rss: server_pid.and_then(process::resident_bytes), machine: machine::cpu_times() }
    }
}

/// CPU times at a moment, and the requests until then.
#[derive(Debug, Clone, Copy)]
struct Mark {
    server: Option<Duration>,
    client: Duration,
    requests: u64,
}

impl Mark {
    fn now(server_pid: Option<u32>, requests: u64) -> Self {
        let client = process::cpu_time(std::process::id()).unwrap_or_default();
        Self { server: server_pid.and_then(process::cpu_time), client, requests }
    }

    /// The usage since an earlier mark.
    fn since(&self, before: &Self) -> StageUse {
        let requests = self.requests.saturating_sub(before.requests);
        let server = self.server.zip(before.server).map(|(now, before)| now.saturating_sub(before));
        StageUse {
            server_cpu_us_per_request: server.and_then(|time| micros_each(time, requests)),
            client_cpu_us_per_request: micros_each(self.client.saturating_sub(before.client), requests),
            baseline: None,
        }
    }
}

impl Meter {
    /// Reads both processes and the machine.
    pub fn start(server_pid: Option<u32>) -> Self {
        Self {
            server_pid,
            server_cpu: server_pid.and_then(process::cpu_time),
            server_rss: server_pid.and_then(process::resident_bytes),
            client_cpu: process::cpu_time(std::process::id()).unwrap_or_default(),
            machine: machine::cpu_times(),
            load_average: machine::load_average(),
            begun: Instant::now(),
            memory: Vec::new(),
            stages: Vec::new(),
            end: None,
        }
    }

    /// Ends the measurement, with all requests of the phase; what is done from then on is not counted.
    pub fn end(&mut self, requests: u64) {
        self.end.get_or_insert_with(|| End::now(self.server_pid, requests));
    }

    /// Adds a point to the memory over time, if the last one is old enough.
    pub fn sample(&mut self) {
        let secs = self.begun.elapsed().as_secs_f64();
        let is_due = self.memory.last().is_none_or(|last| secs - last.0 >= SAMPLE_EVERY.as_secs_f64());
        if is_due && self.memory.len() < SAMPLES_MAX {
            let bytes = self.server_pid.and_then(process::resident_bytes);
            self.memory.extend(bytes.map(|bytes| (secs, megabytes(bytes))));
        }
    }

    /// Notes the end of a stage, with all requests of the phase so far.
    pub fn end_stage(&mut self, requests: u64) {
        self.stages.push(Mark::now(self.server_pid, requests));
    }

    /// The usage of each stage that has ended.
    fn of_stages(&self) -> Vec<StageUse> {
        let mut before = Mark { server: self.server_cpu, client: self.client_cpu, requests: 0 };
        let usage = |mark: &Mark| mark.since(&std::mem::replace(&mut before, *mark));
        self.stages.iter().map(usage).collect()
    }

    /// Adds the usage since the start, until the measurement ended or now, to a result of this many requests.
    pub fn finish(mut self, requests: u64, result: PhaseResult) -> PhaseResult {
        let end = self.end.take().unwrap_or_else(|| End::now(self.server_pid, requests));
        let requests = end.mark.requests;
        let client = end.mark.client.saturating_sub(self.client_cpu);
        let server_cpu = end.mark.server.and_then(|now| {
            let cpu = now.saturating_sub(self.server_cpu?);
            Some((cpu, megabytes(self.server_rss?), megabytes(end.server_rss?)))
        });
        let peak = self.memory.iter().map(|point| point.1).fold(0.0, f64::max);
        let server = server_cpu.map(|(cpu, before, after)| {
            let mut used =
                ServerUse { cpu_us_per_request: micros_each(cpu, requests), ..ServerUse::default() };
            used.set_memory(before, after, peak);
            used
        });
        let own = server_cpu.map(|(cpu, ..)| cpu + client);
        let has_ended = self.server_pid.is_some() && server.is_none();
        PhaseResult {
            server,
            server_unmeasured: has_ended.then_some(Unmeasured::Ended),
            client_cpu_us_per_request: micros_each(client, requests),
            stages: self.of_stages(),
            rss_mb_per_min: growth_per_min(&self.memory),
            machine_use: Some(machine_use(self.load_average, &self.machine, &end.machine, own)),
            memory: self.memory,
            ..result
        }
    }
}

fn machine_use(load_average: f64, before: &CpuTimes, after: &CpuTimes, own: Option<Duration>) -> MachineUse {
    let all = after.all.saturating_sub(before.all).as_secs_f64().max(1e-9);
    let percent = |time: Duration| 100.0 * time.as_secs_f64() / all;
    let busy = after.busy.saturating_sub(before.busy);
    MachineUse {
        load_average,
        steal_percent: percent(after.steal.saturating_sub(before.steal)),
        other_percent: own.map(|own| percent(busy.saturating_sub(own))),
    }
}

/// The slope of the second half of the points (seconds and MB) by least squares, in MB a minute.
fn growth_per_min(points: &[(f64, f64)]) -> Option<f64> {
    let points = &points[points.len() / 2..];
    if points.len() < POINTS_MIN {
        return None;
    }
    let count = as_float(points.len() as u64);
    let (secs, megabytes) =
        points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
    let (above, below) = points.iter().fold((0.0, 0.0), |sum, point| {
        let distance = point.0 - secs;
        (sum.0 + distance * (point.1 - megabytes), sum.1 + distance * distance)
    });
    (below > 0.0).then(|| 60.0 * above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_the_second_half() {
        let plateau: Vec<(f64, f64)> =
            (0..100).map(|second| (f64::from(second), f64::from(second.min(50)))).collect();
        assert!(growth_per_min(&plateau).unwrap().abs() < 0.1);
        let growing: Vec<(f64, f64)> =
            (0..100).map(|second| (f64::from(second), f64::from(second) / 10.0)).collect();
        assert!((growth_per_min(&growing).unwrap() - 6.0).abs() < 1e-6);
        assert_eq!(growth_per_min(&growing[..10]), None);
    }

    #[test]
    fn stages_have_the_cpu_time_and_the_requests_since_the_one_before() {
        let mark = |server: Option<u64>, client, requests| Mark {
            server: server.map(Duration::from_micros),
            client: Duration::from_micros(client),
            requests,
        };
        let mut meter = Meter::start(None);
        (meter.server_cpu, meter.client_cpu) = (Some(Duration::from_micros(100)), Duration::from_micros(50));
        meter.stages = vec![mark(Some(300), 150, 10), mark(Some(400), 150, 10), mark(None, 250, 30)];
        let stage = |server, client| StageUse {
            server_cpu_us_per_request: server,
            client_cpu_us_per_request: client,
            baseline: None,
        };
        assert_eq!(
            meter.of_stages(),
            [stage(Some(20.0), Some(10.0)), stage(None, None), stage(None, Some(5.0))]
        );
    }

    #[test]
    fn process_that_ended_is_not_one_that_was_not_given() {
        let unmeasured = |pid| Meter::start(pid).finish(1, PhaseResult::default()).server_unmeasured;
        assert_eq!(unmeasured(Some(u32::MAX)), Some(Unmeasured::Ended));
        assert_eq!((unmeasured(None), unmeasured(Some(std::process::id()))), (None, None));
    }

    #[test]
    fn what_is_done_after_the_end_is_not_counted() {
        let mut meter = Meter::start(Some(std::process::id()));
        meter.end(4);
        let mark = meter.end.as_ref().unwrap().mark;
        let used = [mark.server.zip(meter.server_cpu), Some((mark.client, meter.client_cpu))]
            .map(|times| micros_each(times.unwrap().0 - times.unwrap().1, 4));
        while process::cpu_time(std::process::id()).unwrap() - mark.client < Duration::from_millis(5) {}
        meter.end(5);
        let result = meter.finish(6, PhaseResult::default());
        assert_eq!([result.server.unwrap().cpu_us_per_request, result.client_cpu_us_per_request], used);
    }

    #[test]
    fn what_others_use_is_what_is_left() {
        let secs = Duration::from_secs;
        let before = CpuTimes { all: secs(100), busy: secs(10), steal: secs(1) };
        let after = CpuTimes { all: secs(120), busy: secs(22), steal: secs(2) };
        let used = machine_use(0.5, &before, &after, Some(secs(8)));
        assert!((used.steal_percent - 5.0).abs() < 1e-9);
        assert!((used.other_percent.unwrap() - 20.0).abs() < 1e-9);
        assert_eq!(machine_use(0.5, &before, &after, None).other_percent, None);
    }
}
