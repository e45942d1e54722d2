//! Scenarios that end early, phases that are repeated, and their verdicts.

use std::time::Instant;

use super::*;
use crate::fake::{self, Faults};
use crate::interrupt::Interrupter;
use crate::outcome::{Delivery, Operation, ServerUse, Unmeasured};

fn run(cpu: f64, failed: u64) -> PhaseResult {
    let server = ServerUse { cpu_us_per_request: Some(cpu), ..ServerUse::default() };
    let operations = vec![Operation { failed, ..Operation::default() }];
    PhaseResult { server: Some(server), operations, ..PhaseResult::default() }
}

#[test]
fn median_of_repeated_phases_counts_and_no_failure_is_lost() {
    let median = take_median(vec![run(9.0, 0), run(1.0, 0), run(5.0, 0)]);
    assert_eq!(median.server.unwrap().cpu_us_per_request, Some(5.0));
    assert_eq!(median.failed(), 0);
    let median = take_median(vec![run(9.0, 2), run(1.0, 0), run(5.0, 1)]);
    assert_eq!((median.failed(), median.operations.len()), (3, 1), "each operation is there once");
}

#[test]
fn faults_of_all_repetitions_count() {
    let with = |cpu: f64, lost_events: u64| {
        let mut run = run(cpu, 0);
        run.operations[0].unsent = lost_events * 10;
        let (duplicate_events, out_of_order_events, ended_receivers) =
            (lost_events, lost_events, lost_events);
        let faults = Delivery { lost_events, duplicate_events, out_of_order_events, ..Delivery::default() };
        run.delivery = Some(Delivery { deliveries: 100, ended_receivers, ..faults });
        run
    };
    let median = take_median(vec![with(9.0, 2), with(1.0, 1), with(5.0, 0)]);
    let delivery = median.delivery.unwrap();
    assert_eq!((median.unsent(), delivery.lost_events, delivery.duplicate_events), (30, 3, 3));
    assert_eq!((delivery.out_of_order_events, delivery.ended_receivers), (3, 3));
    assert_eq!(delivery.deliveries, 100, "figures are those of one run");
}

fn session(folder: &Path, interrupt: Interrupt) -> Session {
    Session {
        target: fake::start(Faults::default()),
        spawn: None,
        server_pid: None,
        people: None,
        disk_dir: folder.to_owned(),
        log: folder.join("log"),
        judges: true,
        baselines: false,
        interrupt,
    }
}

/// A scenario of two phases: sends, and then events for so long that a test never waits for its end.
fn two_phases() -> Scenario {
    let send =
        serde_json::json!({"do": "send", "clients": 1, "channel": "c", "chars": [24, 30], "topics": 1});
    let fanout = serde_json::json!({
        "do": "fanout", "senders": 1, "receivers": 1, "channel": "c", "chars": [24, 30], "topics": 1, "rate_per_sec": 5
    });
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 2, "channels": [{"name": "c", "subscribers": 2}],
        "phases": [
            {"name": "a", "secs": 0.1, "step": send}, {"name": "b", "secs": 600, "step": fanout}
        ]
    });
    Scenario::parse(&text.to_string()).unwrap()
}

#[tokio::test]
async fn phase_in_which_the_server_ends_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), Interrupt::never());
    let scenario = two_phases();
    let mut server = Spawned::start("true", &session.log).unwrap();
    while server.ended().is_none() {
        tokio::task::yield_now().await;
    }
    let (mut spawned, mut rounds, mut progress) = (Some(server), Rounds::default(), Progress::default());
    let needs = Needs::default();
    let outcome = session.run_phases(&scenario, &mut spawned, &needs, &mut rounds, &mut progress).await;
    let ended = spawned.as_mut().and_then(Spawned::ended);
    let error = progress.explain(outcome.unwrap_err(), ended, &session.log).to_string();
    assert!(error.starts_with("phase a: the server ended (exit status: 0), its output is in"), "{error}");
    assert_eq!(progress.phases.len(), 1, "what was measured until then stays");
}

#[tokio::test]
async fn phases_before_an_interruption_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (interrupter, interrupt) = Interrupter::new();
    let (session, scenario) = (session(folder.path(), interrupt), two_phases());
    let in_second_phase = async {
        fake::wait_for_queue(&session.target).await;
        interrupter.fire("SIGINT");
    };
    let (outcome, ()) = tokio::join!(session.run_scenario(&scenario), in_second_phase);
    let ScenarioRun { result, failure, .. } = outcome.unwrap();
    assert_eq!(failure.unwrap().to_string(), "interrupted by SIGINT in phase b of x");
    assert_eq!(result.ended_early.as_deref(), Some("interrupted by SIGINT in phase b of x"));
    assert_eq!((result.phases.len(), result.phases[0].failed()), (1, 0));
    assert!(result.verdicts.iter().all(|verdict| verdict.met) && !result.is_met(), "{result:?}");
    let error = session.run_scenario(&scenario).await.unwrap_err().to_string();
    assert_eq!(error, "interrupted by SIGINT in x, outside of its phases", "the next one begins nothing");
}

#[test]
fn durable_sends_need_a_server_that_syncs() {
    let lacks = |spawn, name| lacks_sync(spawn, &Scenario::load(name).unwrap());
    assert!(lacks(Some("millstream dev"), "send_one"));
    assert!(!lacks(Some("millstream dev"), "users_me"));
    assert!(!lacks(Some("millstream dev --data /tmp/load"), "send_one"));
    assert!(!lacks(None, "send_one"));
}

#[test]
fn only_a_server_that_does_not_listen_is_to_be_started() {
    let hint = |source| {
        let call = "connect".to_owned();
        without_server(LoadError::Http { call, source }).to_string()
    };
    assert!(hint(HttpError::Io(std::io::ErrorKind::ConnectionRefused.into())).contains("--spawn"));
    assert!(!hint(HttpError::Tls("no --ca FILE".to_owned())).contains("--spawn"));
}

#[test]
fn server_that_closes_the_first_connection_may_be_one_for_https() {
    let target = Target::local("http://127.0.0.1:9").unwrap();
    let hint = |source| {
        let error = LoadError::Http { call: "GET /x".to_owned(), source };
        perhaps_https(error, &target).to_string().contains("https://")
    };
    assert!(hint(HttpError::Closed) && hint(HttpError::Malformed("invalid HTTP version".to_owned())));
    assert!(!hint(HttpError::Io(std::io::ErrorKind::ConnectionRefused.into())));
}

#[tokio::test]
async fn organizations_have_no_users_file_and_an_interrupted_start_names_its_phase() {
    let folder = tempfile::tempdir().unwrap();
    let (interrupter, interrupt) = Interrupter::new();
    let mut session = session(folder.path(), interrupt);
    session.people = Some(Arc::new(Vec::new()));
    let error =
        session.run_scenario(&Scenario::load("organizations").unwrap()).await.unwrap_err().to_string();
    assert!(error.contains("leave --users out"), "{error}");
    // Nothing ever answers there, so the first round goes on until the signal.
    session.spawn = Some("sleep 60".to_owned());
    session.target = Arc::new(Target::local("http://127.0.0.1:9").unwrap());
    let start = Scenario::load("start").unwrap();
    let signal = async {
        while !session.log.exists() {
            tokio::task::yield_now().await;
        }
        interrupter.fire("SIGINT");
    };
    let (outcome, ()) = tokio::join!(session.run_scenario(&start), signal);
    let phase = &start.phases[0].name;
    assert_eq!(outcome.unwrap_err().to_string(), format!("interrupted by SIGINT in phase {phase} of start"));
}

/// A session whose server has started, never answers, and does not end when it is asked to, and the file with its process id.
fn stubborn(folder: &Path, interrupt: Interrupt) -> (Session, PathBuf) {
    let (script, file) = (folder.join("script"), folder.join("pid"));
    let text = format!(
        "trap '' TERM; echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.05; done",
        file.display()
    );
    std::fs::write(&script, text).unwrap();
    let mut session = session(folder, interrupt);
    session.spawn = Some(format!("sh {}", script.display()));
    session.target = Arc::new(Target::local("http://127.0.0.1:9").unwrap());
    (session, file)
}

#[tokio::test]
async fn second_signal_during_a_start_does_not_wait_for_the_end_of_the_server() {
    for name in ["users_me", "start"] {
        let folder = tempfile::tempdir().unwrap();
        let (interrupter, interrupt) = Interrupter::new();
        let (session, file) = stubborn(folder.path(), interrupt.clone());
        let scenario = Scenario::load(name).unwrap();
        let mut fired = None;
        let signals = async {
            while !file.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            fired = Some(Instant::now());
            interrupter.fire("SIGINT");
            // The server is being stopped when the second one comes.
            tokio::time::sleep(SIGNAL_WAIT * 3).await;
            interrupter.fire("SIGINT");
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = session.run_scenario(&scenario) => panic!("the server has ended"),
            _ = interrupt.second() => {}
            () = signals => {}
        }
        assert!(fired.unwrap().elapsed() < Duration::from_secs(8), "{name}: it did not wait");
        let pid: u32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        while crate::process::resident_bytes(pid).is_some() {
            assert!(fired.unwrap().elapsed() < Duration::from_secs(60), "{name}: the server goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn expectation_on_a_process_that_does_not_answer_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), Interrupt::never());
    let other = Spawned::start("sleep 60", &session.log).unwrap();
    // It may still be starting; once it is stopped, it uses no more CPU time.
    let pid = rustix::process::Pid::from_raw(i32::try_from(other.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    while !std::fs::read_to_string(format!("/proc/{}/stat", other.pid())).unwrap().contains(") T ") {
        tokio::task::yield_now().await;
    }
    session.server_pid = Some(other.pid());
    let step = serde_json::json!({"do": "get", "clients": 1, "path": "/users/me"});
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 1, "expect": {"rss_mb_max": 1_000_000},
        "phases": [{"name": "a", "secs": 0.2, "step": step}]
    });
    let scenario = Scenario::parse(&text.to_string()).unwrap();
    let result = session.run_scenario(&scenario).await.unwrap().result;
    assert_eq!(result.phases[0].server_unmeasured, Some(Unmeasured::OtherProcess));
    let memory = result.verdicts.iter().find(|verdict| verdict.expectation == "rss_mb_max").unwrap();
    assert_eq!((memory.measured, memory.met), (None, false));
}

#[test]
fn expectations_of_a_phase_replace_those_of_the_scenario() {
    let phase = |name: &str, expect: serde_json::Value| {
        let step = serde_json::json!({"do": "get", "clients": 1, "path": "/x"});
        let mut phase = serde_json::json!({"name": name, "secs": 1, "step": step});
        if !expect.is_null() {
            phase["expect"] = expect;
        }
        phase
    };
    let own = serde_json::json!({"rss_mb_max": 7, "errors_max": 3});
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 1, "expect": {"p50_ms_max": 1},
        "phases": [phase("a", serde_json::Value::Null), phase("b", own)]
    });
    let scenario = Scenario::parse(&text.to_string()).unwrap();
    let result = |name: &str| PhaseResult { name: name.to_owned(), ..PhaseResult::default() };
    let verdicts = judge(&scenario, &[result("a"), result("b")], &Baselines::default());
    let names: Vec<String> =
        verdicts.iter().map(|verdict| format!("{} {}", verdict.phase, verdict.expectation)).collect();
    assert_eq!(names, ["a p50_ms_max", "a errors_max", "b rss_mb_max", "b errors_max"]);
}
