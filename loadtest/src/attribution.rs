//! Whether the process whose CPU time and memory were read is the one that answered the requests. The figures of another one, as
//! of a wrapper that starts the server and waits, are not the server's, so they count as not measured.

use crate::outcome::{PhaseResult, Unmeasured};

/// CPU time for each request, in µs, below which a process has answered none: the system calls for one take longer.
const CPU_MICROS_MIN: f64 = 1.0;
/// The same for each request or delivery where there are deliveries: many of these may share an answer.
const DELIVERY_MICROS_MIN: f64 = 0.1;

/// Removes the figures of a process that used as good as no CPU time while requests were answered.
pub fn drop_other_process(phase: &mut PhaseResult) {
    let micros = phase.server.and_then(|server| server.cpu_us_per_request);
    let least = if phase.delivery.is_some() { DELIVERY_MICROS_MIN } else { CPU_MICROS_MIN };
    let is_idle = micros.is_some_and(|micros| micros < least);
    if !is_idle || phase.operations.iter().all(|operation| operation.completed == 0) {
        return;
    }
    (phase.server, phase.server_unmeasured) = (None, Some(Unmeasured::OtherProcess));
    (phase.memory, phase.rss_mb_per_min) = (Vec::new(), None);
    for stage in &mut phase.stages {
        stage.server_cpu_us_per_request = None;
        stage.baseline.iter_mut().for_each(|share| share.cpu_ratio = None);
    }
    phase.baseline.iter_mut().for_each(|share| share.cpu_ratio = None);
    phase.idle.iter_mut().for_each(|idle| {
        (idle.server_bytes_per_connection, idle.bytes_per_poll) = (None, None);
    });
    // The server itself was among the others.
    phase.machine_use.iter_mut().for_each(|used| used.other_percent = None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::Expect;
    use crate::outcome::{Baselines, Delivery};
    use crate::report::sample;

    /// The sample's phase with this CPU time for each request, and this many of them.
    fn phase_of(micros: Option<f64>, completed: u64, delivery: Option<Delivery>) -> PhaseResult {
        let mut phase = sample::run_result().scenarios.swap_remove(0).phases.swap_remove(0);
        phase.operations[0].completed = completed;
        phase.server.as_mut().unwrap().cpu_us_per_request = micros;
        phase.rss_mb_per_min = Some(1.0);
        phase.delivery = delivery;
        drop_other_process(&mut phase);
        phase
    }

    fn phase(micros: Option<f64>, completed: u64) -> PhaseResult {
        phase_of(micros, completed, None)
    }

    #[test]
    fn deliveries_share_answers() {
        let is_other = |micros| phase_of(Some(micros), 9, Some(Delivery::default())).server.is_none();
        assert_eq!([0.0, 0.05, 0.2].map(is_other), [true, true, false]);
    }

    #[test]
    fn process_that_used_no_cpu_time_has_no_figures() {
        let is_other = |micros, completed| phase(micros, completed).server_unmeasured.is_some();
        assert!(is_other(Some(0.0), 9) && is_other(Some(0.2), 9));
        assert!(!is_other(Some(1.5), 9) && !is_other(None, 9) && !is_other(Some(0.0), 0));
        let json = serde_json::to_value(phase(Some(0.0), 9)).unwrap();
        for field in [
            "/server",
            "/rss_mb_per_min",
            "/baseline/cpu_ratio",
            "/stages/0/server_cpu_us_per_request",
            "/stages/1/baseline/cpu_ratio",
            "/idle/bytes_per_poll",
            "/machine_use/other_percent",
        ] {
            assert!(json.pointer(field).unwrap().is_null(), "{field} in {json}");
        }
        assert_eq!(
            (&json["server_unmeasured"], &json["memory"]),
            (&"other_process".into(), &serde_json::json!([]))
        );
    }

    #[test]
    fn expectations_on_the_figures_of_another_process_are_missed() {
        let expect = Expect {
            cpu_ratio_max: Some(100.0),
            rss_mb_max: Some(1_000.0),
            rss_growth_mb_max: Some(1_000.0),
            rss_mb_per_min_max: Some(1_000.0),
            cpu_spread_max: Some(100.0),
            bytes_per_poll_max: Some(1e9),
            errors_max: 9,
            ..Expect::default()
        };
        let judge = |phase: PhaseResult| {
            let phase = PhaseResult { start: None, ..phase };
            let verdicts = expect.judge(&[phase], &Baselines::default());
            verdicts
                .into_iter()
                .filter(|verdict| !verdict.met)
                .map(|verdict| verdict.measured)
                .collect::<Vec<_>>()
        };
        assert_eq!(judge(phase(Some(31.0), 9)), []);
        assert_eq!(judge(phase(Some(0.0), 9)), [None; 6]);
    }
}
