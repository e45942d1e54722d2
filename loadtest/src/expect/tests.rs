//! Limits, and the verdicts about measurements.

use super::*;
use crate::outcome::{BaselineShare, CounterChange, Delivery, DiskBaseline, Latency, ServerUse};

fn phase(rate: f64, p50_ms: f64) -> PhaseResult {
    let latency = Latency { p50_ms, p99_ms: p50_ms * 3.0, ..Latency::default() };
    let send = Operation {
        name: "send".to_owned(),
        completed: 10,
        requests_per_sec: rate,
        latency: Some(latency),
        ..Operation::default()
    };
    PhaseResult { name: "one".to_owned(), operations: vec![send], ..PhaseResult::default() }
}

fn verdict<'a>(verdicts: &'a [Verdict], name: &str) -> &'a Verdict {
    verdicts.iter().find(|verdict| verdict.expectation.starts_with(name)).unwrap()
}

#[test]
fn minimum_and_maximum_limits() {
    let expect = Expect {
        requests_per_sec_min: Some(100.0),
        p99_ms_max: Some(10.0),
        p50_ms_max_over_fdatasync: Some(0.3),
        ratio_to_baseline_min: Some(0.35),
        ..Expect::default()
    };
    let baselines = Baselines {
        overwrite: Some(DiskBaseline { p50_ms: 0.2, ..DiskBaseline::default() }),
        ..Baselines::default()
    };
    let phase = |rate: f64, p50_ms| {
        let share = BaselineShare { rate_ratio: Some(rate / 200.0), ..BaselineShare::default() };
        PhaseResult { baseline: Some(share), ..phase(rate, p50_ms) }
    };
    let good = expect.judge(&[phase(100.0, 0.5)], &baselines);
    assert!(good.iter().all(|verdict| verdict.met), "{good:?}");
    assert_eq!(good.len(), 5);
    let bad = expect.judge(&[phase(69.0, 4.0)], &baselines);
    assert!(bad.iter().filter(|verdict| verdict.expectation != "errors_max").all(|verdict| !verdict.met));
}

#[test]
fn run_without_baselines_has_no_limits_that_compare_with_them() {
    let mut expect = Expect {
        ratio_to_baseline_min: Some(0.3),
        cpu_ratio_max: Some(4.0),
        p50_ms_max_over_fdatasync: Some(1.0),
        p50_ms_max: Some(10.0),
        ..Expect::default()
    };
    let missed = |expect: &Expect| {
        let verdicts = expect.judge(&[phase(1.0, 1.0)], &Baselines::default());
        verdicts.iter().filter(|verdict| !verdict.met).count()
    };
    assert_eq!(missed(&expect), 3);
    expect.drop_baselines();
    assert_eq!((missed(&expect), expect.p50_ms_max), (0, Some(10.0)));
}

#[test]
fn missing_measurements_fail() {
    let expect = Expect { bytes_per_poll_max: Some(6000.0), rss_mb_max: Some(40.0), ..Expect::default() };
    let verdicts = expect.judge(&[phase(1.0, 1.0)], &Baselines::default());
    assert!(!verdict(&verdicts, "bytes_per_poll_max").met);
    assert!(!verdict(&verdicts, "rss_mb_max").met);
}

#[test]
fn background_phase_is_compared_with_previous_phase() {
    let mut background = phase(100.0, 2.0);
    let latency = Latency { max_ms: 900.0, ..Latency::default() };
    background.operations.push(Operation {
        name: "move".to_owned(),
        completed: 3,
        latency: Some(latency),
        ..Operation::default()
    });
    let expect = Expect { background_ms_max: Some(1000.0), p99_ratio_max: Some(2.0), ..Expect::default() };
    let judge = |phases: &[PhaseResult]| expect.judge(phases, &Baselines::default());
    let good = judge(&[phase(100.0, 1.0), background.clone()]);
    assert!(verdict(&good, "background_ms_max").met && verdict(&good, "p99_ratio_max").met, "{good:?}");
    let slow = judge(&[phase(100.0, 0.9), background.clone()]);
    assert!(!verdict(&slow, "p99_ratio_max").met, "{slow:?}");
    background.operations.truncate(1);
    assert!(!verdict(&judge(&[phase(100.0, 1.0), background]), "background_ms_max").met, "it never happened");
}

#[test]
fn receipts_of_users_are_not_background_work() {
    let with = |name: &str, max_ms: f64| {
        let latency = Some(Latency { max_ms, ..Latency::default() });
        Operation { name: name.to_owned(), completed: 3, latency, ..Operation::default() }
    };
    let mut mixed = phase(100.0, 2.0);
    mixed.operations.extend([with("receipt", 10.0), with("fetch", 10.0)]);
    let expect = Expect { background_ms_max: Some(5_000.0), ..Expect::default() };
    let measured = |phase: &PhaseResult| {
        let verdicts = expect.judge(std::slice::from_ref(phase), &Baselines::default());
        verdict(&verdicts, "background_ms_max").measured
    };
    assert_eq!(measured(&mixed), None, "no email came, so the expectation is missed");
    mixed.operations.push(with("missed_mail", 700.0));
    assert_eq!(measured(&mixed), Some(700.0));
}

#[test]
fn phase_without_one_before_it_misses_the_ratio() {
    let expect = Expect { background_ms_max: Some(1000.0), p99_ratio_max: Some(2.0), ..Expect::default() };
    let (one, baselines) = (phase(100.0, 1.0), Baselines::default());
    let alone = expect.judge(std::slice::from_ref(&one), &baselines);
    for name in ["background_ms_max", "p99_ratio_max"] {
        assert_eq!((verdict(&alone, name).measured, verdict(&alone, name).met), (None, false), "{name}");
    }
    let after = expect.judge_one(Some(&one), &phase(100.0, 1.5), &baselines);
    assert!(verdict(&after, "p99_ratio_max").met, "{after:?}");
}

#[test]
fn cpu_time_is_compared_with_the_bare_server_and_between_phases() {
    let with = |cpu: f64| {
        let server = ServerUse { cpu_us_per_request: Some(cpu), ..ServerUse::default() };
        let share = BaselineShare { cpu_ratio: Some(cpu / 5.0), ..BaselineShare::default() };
        PhaseResult { server: Some(server), baseline: Some(share), ..phase(1.0, 1.0) }
    };
    let baselines = Baselines::default();
    let expect = Expect { cpu_ratio_max: Some(10.0), cpu_spread_max: Some(0.15), ..Expect::default() };
    let met = |phases: &[PhaseResult], name: &str| verdict(&expect.judge(phases, &baselines), name).met;
    assert!(met(&[with(30.0)], "cpu_ratio_max"), "6 times the bare server");
    assert!(!met(&[with(60.0)], "cpu_ratio_max"), "twice that is more than 10 times");
    assert!(!met(&[phase(1.0, 1.0)], "cpu_ratio_max"), "without a process it is not measured");
    assert!(met(&[with(30.0), with(33.0)], "cpu_spread_max"));
    assert!(!met(&[with(30.0), with(36.0)], "cpu_spread_max"));
}

#[test]
fn growing_memory_and_unsent_requests_are_missed() {
    let expect = Expect { rss_mb_per_min_max: Some(1.0), ..Expect::default() };
    let mut bad = phase(1.0, 1.0);
    bad.rss_mb_per_min = Some(7.0);
    bad.operations[0].unsent = 1;
    let verdicts = expect.judge(&[bad], &Baselines::default());
    assert!(!verdict(&verdicts, "rss_mb_per_min_max").met && !verdict(&verdicts, "unsent_max").met);
}

#[test]
fn errors_and_lost_events_are_missed_unless_allowed() {
    let mut bad = phase(1.0, 1.0);
    bad.operations[0].failed = 1;
    let faults = Delivery {
        lost_events: 2,
        duplicate_events: 3,
        out_of_order_events: 1,
        unfetched_events: 4,
        ..Delivery::default()
    };
    bad.delivery = Some(faults);
    let strict = Expect::default().judge(&[bad.clone()], &Baselines::default());
    let missed = strict
        .iter()
        .filter(|verdict| !verdict.met)
        .map(|verdict| (verdict.expectation.as_str(), verdict.measured));
    let wanted = [
        ("errors_max", Some(1.0)),
        ("lost_events_max", Some(2.0)),
        ("duplicate_events_max", Some(3.0)),
        ("out_of_order_events_max", Some(1.0)),
        ("unfetched_events_max", Some(4.0)),
    ];
    assert_eq!(missed.collect::<Vec<_>>(), wanted);
    let lenient = Expect {
        errors_max: 1,
        lost_events_max: 2,
        duplicate_events_max: 3,
        out_of_order_events_max: 1,
        unfetched_events_max: 4,
        ..Expect::default()
    };
    assert!(lenient.judge(&[bad], &Baselines::default()).iter().all(|verdict| verdict.met));
}

#[test]
fn writes_per_send_are_compared_between_phases() {
    let with = |per_message: f64| {
        let mut result = phase(1.0, 1.0);
        let change = CounterChange { per_message: Some(per_message), ..CounterChange::default() };
        result.counters.insert("frames".to_owned(), change);
        result
    };
    let expect = Expect { writes_per_send_spread_max: Some(0.02), ..Expect::default() };
    let judge = |phases: &[PhaseResult]| {
        verdict(&expect.judge(phases, &Baselines::default()), "writes_per_send_spread_max").met
    };
    assert!(judge(&[with(1.0), with(1.01)]));
    assert!(!judge(&[with(1.0), with(1.1)]));
    assert!(!judge(&[with(0.0), with(0.0)]), "a counter that never moves proves nothing");
    assert!(!judge(&[phase(1.0, 1.0), phase(1.0, 1.0)]), "no counters at all");
}
