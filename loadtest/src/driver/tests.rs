//! The drivers against the fake server: they measure, and they detect errors.

use std::sync::Arc;
use std::time::Instant;

use super::budget::Budget;
use super::send::{REPEATED_ID, Sent, open_senders};
use super::tasks::ClientTasks;
use super::{fill, run_phase};
use crate::expect::Expect;
use crate::fake::{self, Faults};
use crate::http::Target;
use crate::outcome::{Baselines, PhaseResult};
use crate::pace::{Load, NO_REPLY, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::Scenario;
use crate::setup::Stage;
use crate::text::Writer;

/// A scenario of 6 users in `load all` (6 subscribers) and `load mixed 0..1` (3 each).
fn scenario(fill_messages: u64, phases: serde_json::Value) -> Scenario {
    let text = serde_json::json!({
        "name": "test", "about": "A test.", "users": 6,
        "channels": [
            {"name": "load all", "subscribers": 6},
            {"name": "load second", "subscribers": 6},
            {"name": "load other", "subscribers": 6},
            {"name": "load mixed", "count": 2, "subscribers": 3}
        ],
        "fill": {"channel": "load all", "messages": fill_messages, "chars": [24, 60], "topics": 3, "senders": 4},
        "phases": phases, "expect": {}
    });
    Scenario::parse(&text.to_string()).unwrap()
}

/// Runs the phases of such a scenario.
async fn run_with(target: &Arc<Target>, fill_messages: u64, phases: serde_json::Value) -> Vec<PhaseResult> {
    let scenario = scenario(fill_messages, phases);
    let mut stages = [Stage::prepare(target, &scenario, &None).await.unwrap()];
    fill::fill(&mut stages[0], scenario.fill.as_ref().unwrap()).await.unwrap();
    let mut results = Vec::new();
    for phase in &scenario.phases {
        results.push(run_phase(&mut stages, phase, Some(std::process::id())).await.unwrap());
    }
    results
}

fn fanout(rate_per_sec: u32) -> serde_json::Value {
    serde_json::json!([{"name": "fanout", "secs": 0.5, "step": {
        "do": "fanout", "senders": 2, "receivers": 9, "channel": "load all", "chars": [24, 80], "topics": 2,
        "rate_per_sec": rate_per_sec
    }}])
}

#[tokio::test]
async fn sends_are_counted_and_bounded_by_their_budget() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "send", "secs": 20, "step": {
        "do": "send", "clients": 8, "channel": "load all", "chars": [24, 80], "topics": 2, "messages": 200
    }}]);
    let results = run_with(&target, 0, phases).await;
    let send = &results[0].operations[0];
    assert_eq!((send.completed, send.failed), (200, 0));
    assert!(results[0].secs < 15.0 && send.requests_per_sec > 1.0, "the budget ends the phase: {results:?}");
    assert!(send.latency.unwrap().p50_ms > 0.0 && results[0].server.is_some());
}

#[tokio::test]
async fn refused_sends_are_counted_by_code() {
    let target = fake::start(Faults { refuse_every: 10, ..Faults::default() });
    let phases = serde_json::json!([{"name": "send", "secs": 0.3, "step": {
        "do": "send", "clients": 2, "channel": "load all", "chars": [24, 80], "topics": 2, "rate_per_sec": 300
    }}]);
    let results = run_with(&target, 0, phases).await;
    let send = &results[0].operations[0];
    assert!(send.failed > 0);
    assert_eq!(send.failures["429 RATE_LIMIT_HIT"], send.failed);
}

/// 250 sends in a second to a server with these faults.
async fn send_at_a_rate(faults: Faults) -> crate::outcome::Operation {
    let target = fake::start(faults);
    let phases = serde_json::json!([{"name": "send", "secs": 1, "step": {
        "do": "send", "clients": 1, "channel": "load all", "chars": [24, 80], "topics": 2, "rate_per_sec": 250
    }}]);
    run_with(&target, 0, phases).await.swap_remove(0).operations.swap_remove(0)
}

#[tokio::test]
async fn phase_goes_on_after_failures() {
    let send = send_at_a_rate(Faults { break_sends: 120, ..Faults::default() }).await;
    assert_eq!(send.completed + send.failed + send.unsent, 250, "{send:?}");
    assert_eq!((send.failures["500 INTERNAL"], send.failed, send.ended_clients), (120, 120, 0), "{send:?}");
}

#[tokio::test]
async fn client_above_the_rate_limit_waits_and_what_was_due_is_unsent() {
    let send = send_at_a_rate(Faults { limit_sends: 1_000, ..Faults::default() }).await;
    assert_eq!(send.completed + send.failed + send.unsent, 250, "{send:?}");
    assert!(send.failures["429 RATE_LIMIT_HIT"] == send.failed && send.failed <= 50, "20 ms each: {send:?}");
    assert_eq!(send.completed, 10);
}

#[tokio::test]
async fn fill_counts_messages_between_those_of_other_channels() {
    let target = fake::start(Faults::default());
    let send = serde_json::json!([{"name": "send", "secs": 20, "step": {
        "do": "send", "clients": 1, "channel": "load other", "chars": [24, 80], "topics": 1, "messages": 40
    }}]);
    // The ids of the channel's five messages are 1 to 3, and then 44 and 45.
    run_with(&target, 3, send.clone()).await;
    run_with(&target, 5, send).await;
    let fetch = serde_json::json!([{"name": "fetch", "secs": 0.1, "step": {
        "do": "fetch", "clients": 1, "channel": "load all", "anchor": "newest", "num_before": 20
    }}]);
    assert_eq!(run_with(&target, 20, fetch).await[0].failed(), 0);
}

#[tokio::test]
async fn fill_waits_for_a_server_that_limits_the_rate() {
    let target = fake::start(Faults { limit_sends: 450, ..Faults::default() });
    let phases = serde_json::json!([{"name": "fetch", "secs": 0.1, "step": {
        "do": "fetch", "clients": 1, "channel": "load all", "anchor": "newest", "num_before": 20
    }}]);
    assert_eq!(run_with(&target, 30, phases).await[0].failed(), 0);
}

#[tokio::test]
async fn phase_without_a_good_reply_has_no_times_and_no_cpu_time_for_each() {
    let target = fake::start(Faults { refuse_every: 1, ..Faults::default() });
    let phases = serde_json::json!([{"name": "send", "secs": 0.3, "step": {
        "do": "send", "clients": 2, "channel": "load all", "chars": [24, 80], "topics": 2, "rate_per_sec": 100
    }}]);
    let results = run_with(&target, 0, phases).await;
    let send = &results[0].operations[0];
    assert!(send.completed == 0 && send.failed > 0 && send.latency.is_none(), "{send:?}");
    assert_eq!(results[0].client_cpu_us_per_request, None);
    assert_eq!(results[0].server.unwrap().cpu_us_per_request, None);
}

#[tokio::test]
async fn fanout_without_losses_or_duplicates() {
    let target = fake::start(Faults::default());
    let results = run_with(&target, 0, fanout(100)).await;
    let delivery = results[0].delivery.unwrap();
    assert!(delivery.messages >= 10, "{delivery:?}");
    assert_eq!(delivery.receivers, 9);
    assert_eq!(delivery.deliveries, delivery.messages * 9);
    assert_eq!((delivery.lost_events, delivery.duplicate_events, delivery.out_of_order_events), (0, 0, 0));
    assert_eq!(results[0].operations[0].name, "receipt");
    assert_eq!(results[0].operations[0].completed, delivery.deliveries);
    let mut api = crate::client::Api::open(&target).await.unwrap();
    let names = ["ended_queues_total".to_owned(), "frames_total".to_owned()];
    let counters = crate::counters::read_still(&mut api, &names).await.unwrap();
    assert!((counters["ended_queues_total"] - 9.0).abs() < 1e-9, "{counters:?}");
    assert!(crate::counters::read_still(&mut api, &["absent".to_owned()]).await.is_err());
}

#[tokio::test]
async fn duplicate_events_are_reported() {
    let target = fake::start(Faults { double_every: 10, ..Faults::default() });
    let delivery = run_with(&target, 0, fanout(100)).await[0].delivery.unwrap();
    assert_eq!(delivery.duplicate_events, delivery.messages / 10 * 9, "{delivery:?}");
    assert_eq!(delivery.lost_events, 0);
}

#[tokio::test]
async fn events_in_a_wrong_order_are_counted_as_such() {
    let target = fake::start(Faults { reverse_events: true, ..Faults::default() });
    let mut phases = fanout(100);
    // So that an answer has many events.
    phases[0]["step"]["slow"] = serde_json::json!({"receivers": 3, "pause_ms": 200});
    let delivery = run_with(&target, 0, phases).await[0].delivery.unwrap();
    assert!(delivery.out_of_order_events >= 3 * 20, "{delivery:?}");
    assert_eq!((delivery.lost_events, delivery.duplicate_events), (0, 0), "{delivery:?}");
    assert_eq!(delivery.deliveries, delivery.messages * 12);
}

#[tokio::test]
async fn receivers_whose_polls_are_limited_get_their_messages_after_the_end() {
    let target = fake::start(Faults { limit_polls: 9, ..Faults::default() });
    let results = run_with(&target, 0, fanout(100)).await;
    let delivery = results[0].delivery.unwrap();
    assert_eq!((delivery.lost_events, delivery.unfetched_events), (0, 0), "{delivery:?}");
    assert_eq!((delivery.deliveries, results[0].failed()), (delivery.messages * 9, 9));
}

#[tokio::test]
async fn idle_polls_without_a_local_process_and_the_bare_server_have_a_last_receipt() {
    let target = fake::start(Faults::default());
    let mut scenario = scenario(
        0,
        serde_json::json!([{"name": "idle", "step": {"do": "idle", "polls": 9, "channel": "load all", "hold_secs": 0}}]),
    );
    // The bare server is this program, which a test is not.
    scenario.drop_baselines();
    let mut stages = [Stage::prepare(&target, &scenario, &None).await.unwrap()];
    let result = run_phase(&mut stages, &scenario.phases[0], None).await.unwrap();
    let idle = result.idle.unwrap();
    assert!(idle.last_receipt_ms.is_some() && idle.bytes_per_poll.is_none(), "{idle:?}");
    assert_eq!(
        (idle.bare_bytes_per_connection, idle.bare_last_receipt_ms, result.baseline),
        (None, None, None)
    );
}

#[tokio::test]
async fn message_stored_twice_is_a_duplicate_and_no_receipt() {
    let target = fake::start(Faults { store_twice_every: 10, ..Faults::default() });
    let results = run_with(&target, 0, fanout(100)).await;
    let delivery = results[0].delivery.unwrap();
    assert!(
        delivery.duplicate_events >= 3 * 9 && delivery.duplicate_events.is_multiple_of(9),
        "{delivery:?}"
    );
    assert_eq!((delivery.deliveries, delivery.lost_events), (delivery.messages * 9, 0));
    assert_eq!(results[0].operations[0].completed, delivery.deliveries);
}

#[tokio::test]
async fn message_acknowledged_with_the_id_of_another_is_lost() {
    let target = fake::start(Faults { repeat_id_every: 10, ..Faults::default() });
    let results = run_with(&target, 0, fanout(100)).await;
    let delivery = results[0].delivery.unwrap();
    assert!(delivery.lost_events >= 3 * 9 && delivery.lost_events.is_multiple_of(9), "{delivery:?}");
    assert_eq!(delivery.deliveries + delivery.lost_events, delivery.messages * 9);
}

#[tokio::test]
async fn send_that_is_acknowledged_with_the_id_of_another_is_a_failure() {
    let target = fake::start(Faults { repeat_id_every: 3, ..Faults::default() });
    let phase = |name: &str| {
        serde_json::json!({"name": name, "secs": 20, "step": {
            "do": "send", "clients": 1, "channel": "load all", "chars": [24, 80], "topics": 2, "messages": 30
        }})
    };
    let results = run_with(&target, 0, serde_json::json!([phase("one"), phase("two")])).await;
    for result in &results {
        let send = &result.operations[0];
        assert_eq!((send.completed, send.failed), (20, 10), "{send:?}");
        assert_eq!(send.failures[REPEATED_ID], 10);
    }
    let verdicts = Expect::default().judge(&results, &Baselines::default());
    assert!(
        verdicts.iter().all(|verdict| verdict.expectation == "errors_max" && !verdict.met),
        "{verdicts:?}"
    );
}

#[tokio::test]
async fn fill_with_repeated_ids_is_an_error() {
    let target = fake::start(Faults { repeat_id_every: 3, ..Faults::default() });
    let scenario = scenario(30, fanout(100));
    let mut stage = Stage::prepare(&target, &scenario, &None).await.unwrap();
    let error = fill::fill(&mut stage, scenario.fill.as_ref().unwrap()).await.unwrap_err().to_string();
    assert!(error.contains("20 of 30 messages") && error.contains(REPEATED_ID), "{error}");
}

#[tokio::test]
async fn lost_events_are_reported() {
    let target = fake::start(Faults { lose_every: 10, ..Faults::default() });
    let delivery = run_with(&target, 0, fanout(100)).await[0].delivery.unwrap();
    assert_eq!(delivery.lost_events, delivery.messages / 10 * 9, "{delivery:?}");
    assert_eq!(delivery.duplicate_events, 0);
}

#[tokio::test]
async fn messages_with_other_content_are_failed_receipts() {
    for faults in
        [Faults { change_every: 10, ..Faults::default() }, Faults { postdate_every: 10, ..Faults::default() }]
    {
        let target = fake::start(faults);
        let results = run_with(&target, 0, fanout(100)).await;
        let delivery = results[0].delivery.unwrap();
        let receipt = &results[0].operations[0];
        assert!(delivery.messages >= 10 && delivery.lost_events == 0, "{delivery:?}");
        assert_eq!(receipt.failed, delivery.messages / 10 * 9, "{receipt:?}");
        assert_eq!(receipt.failures[super::arrivals::CHANGED], receipt.failed);
        assert_eq!(receipt.completed + receipt.failed, delivery.deliveries);
    }
}

#[tokio::test]
async fn sends_to_a_server_that_hangs_fail_and_those_behind_them_are_unsent() {
    let target = fake::start(Faults { hang_after: 20, ..Faults::default() });
    let scenario = scenario(0, fanout(100));
    let mut stage = Stage::prepare(&target, &scenario, &None).await.unwrap();
    let channel = stage.channel("load all").unwrap();
    let accounts = stage.accounts(&channel.members, 4).await.unwrap();
    let writer = Arc::new(Writer::new(Instant::now(), [24, 80]));
    let senders = open_senders(&stage, &accounts, &[channel.id], 2, &writer).await.unwrap();
    let window = Window::starting_now(0.0, 1.0);
    let window = Window { replies_until: window.stop_at, ..window };
    let recorder = |name| Arc::new(Recorder::new(name, window));
    let (receipts, sends) = (recorder("receipt"), recorder("send"));
    let mut tasks = ClientTasks::new("hang", window, vec![receipts, sends.clone()], None);
    let (budget, sent) = (Arc::new(Budget::new(u64::MAX)), Arc::new(Sent::default()));
    for (index, sender) in (0..4).zip(senders) {
        let pace = Pace::new(&window, &Load::PerSec(200.0), index, 4);
        tasks.add(sender.run(pace, sends.clone(), budget.clone(), sent.clone()));
    }
    tasks.wait().await;
    let result = tasks.into_result(Instant::now());
    let [receipt, send] = &result.operations[..] else { panic!("{result:?}") };
    assert_eq!((send.completed, send.failed, send.unsent), (20, 4, 176), "200 were due: {send:?}");
    assert_eq!((send.failures[NO_REPLY], receipt.failed), (4, 0), "the failure is of what hung");
    let verdicts = scenario.expect.judge(std::slice::from_ref(&result), &Baselines::default());
    let missed = verdicts.iter().filter(|verdict| !verdict.met).map(|verdict| verdict.expectation.as_str());
    assert_eq!(missed.collect::<Vec<_>>(), ["errors_max", "unsent_max"]);
}

#[tokio::test]
async fn pages_are_fetched_at_the_end_and_anywhere() {
    let target = fake::start(Faults::default());
    let fetch = |anchor: &str| {
        serde_json::json!({"name": anchor, "secs": 0.2, "step": {
            "do": "fetch", "clients": 3, "channel": "load all", "anchor": anchor, "num_before": 20
        }})
    };
    let get = serde_json::json!({"name": "get", "secs": 0.2, "step": {"do": "get", "clients": 3, "path": "/users/me"}});
    let phases = serde_json::json!([fetch("newest"), fetch("anywhere"), get]);
    let results = run_with(&target, 120, phases.clone()).await;
    for result in &results {
        let operation = &result.operations[0];
        assert!(operation.completed > 3 && operation.failed == 0, "{operation:?}");
    }
    assert!(results[0].operations[0].reply_bytes_mean.unwrap() > 1000.0);
    // The second time all messages exist already.
    let again = run_with(&target, 120, phases).await;
    assert_eq!(again[0].failed(), 0);
}

#[tokio::test]
async fn mixed_load_of_users() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "mixed", "secs": 1, "step": {"do": "mixed", "each": [
        {"do": "long_poll"},
        {"do": "send", "per_min": 600, "chars": [24, 80], "topics": 2},
        {"do": "fetch", "per_min": 600, "num_before": 10}
    ]}}]);
    let results = run_with(&target, 0, phases).await;
    let delivery = results[0].delivery.unwrap();
    assert_eq!(delivery.receivers, 6);
    assert!(delivery.messages >= 5, "{delivery:?}");
    assert_eq!((delivery.lost_events, delivery.duplicate_events), (0, 0));
    assert_eq!(results[0].failed(), 0, "{:?}", results[0].operations);
    let names: Vec<&str> = results[0].operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["send", "receipt", "fetch"]);
    assert!(results[0].operation("fetch").unwrap().completed >= 5);
}

#[tokio::test]
async fn polls_alone_are_held_until_the_phase_ends() {
    let target = fake::start(Faults::default());
    let started = Instant::now();
    let phases = serde_json::json!([{"name": "polls", "secs": 0.5, "step": {"do": "mixed", "each": [{"do": "long_poll"}]}}]);
    let results = run_with(&target, 0, phases).await;
    assert!(started.elapsed().as_secs_f64() >= 0.5, "{:?}", started.elapsed());
    assert_eq!((results[0].delivery.unwrap().receivers, results[0].failed()), (6, 0), "{results:?}");
}

#[tokio::test]
async fn topic_moves_during_sending() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "move", "secs": 0.5, "step": {
        "do": "send", "clients": 2, "channel": "load other", "chars": [24, 80], "topics": 2, "rate_per_sec": 100,
        "background": {"do": "move", "channel": "load all", "to": "load second", "pause_ms": 20}
    }}]);
    for _ in 0..2 {
        let results = run_with(&target, 50, phases.clone()).await;
        let [send, moves] = &results[0].operations[..] else { panic!("{results:?}") };
        assert!(send.completed > 1 && results[0].failed() == 0, "{results:?}");
        assert_eq!((moves.name.as_str(), moves.completed % 2), ("move", 0), "it ends where it began");
        assert!(moves.completed >= 2);
    }
}

#[tokio::test]
async fn topic_deletion_during_sending() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "delete", "secs": 20, "step": {
        "do": "send", "clients": 2, "channel": "load other", "chars": [24, 80], "topics": 2, "rate_per_sec": 100,
        "background": {"do": "delete_topic", "channel": "load all"}
    }}]);
    let results = run_with(&target, 100, phases).await;
    let deletions = results[0].operation("delete_topic").unwrap();
    assert_eq!(deletions.completed, 5, "100, 50, 25, 12, 6");
    assert!(results[0].secs < 15.0 && results[0].failed() == 0, "{results:?}");
}

#[tokio::test]
async fn logins_during_sending() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "login", "secs": 0.5, "step": {
        "do": "send", "clients": 2, "channel": "load other", "chars": [24, 80], "topics": 2, "rate_per_sec": 100,
        "background": {"do": "login", "concurrent": 5}
    }}]);
    let results = run_with(&target, 10, phases).await;
    let logins = results[0].operation("login").unwrap();
    assert!(logins.completed >= 5 && results[0].failed() == 0, "{results:?}");
}

#[tokio::test]
async fn fanout_above_capacity_ends_in_time_and_reports_its_rate() {
    let target = fake::start(Faults::default());
    let started = std::time::Instant::now();
    let mut phases = fanout(200_000);
    // What is sent after this warm-up was due during it, and counts nevertheless.
    phases[0]["warmup_secs"] = 0.5.into();
    let results = run_with(&target, 0, phases).await;
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "it overran: {:?}", started.elapsed());
    let [receipt, send] = &results[0].operations[..] else { panic!("{results:?}") };
    assert!(receipt.requests_per_sec > 0.0 && send.requests_per_sec > 0.0, "{results:?}");
    assert!(send.completed > 0 && send.failed == 0 && send.unsent > 0, "{results:?}");
    assert!(results[0].secs < 10.0, "{}", results[0].secs);
}

#[tokio::test]
async fn slow_readers_get_every_message_later() {
    let target = fake::start(Faults::default());
    let mut phases = fanout(50);
    phases[0]["step"]["slow"] = serde_json::json!({"receivers": 3, "pause_ms": 200});
    let results = run_with(&target, 0, phases).await;
    let delivery = results[0].delivery.unwrap();
    assert_eq!((delivery.receivers, delivery.lost_events, delivery.duplicate_events), (12, 0, 0));
    assert_eq!(delivery.deliveries, delivery.messages * 12);
    let slow = results[0].operation("slow_receipt").unwrap();
    assert!(slow.latency.unwrap().p50_ms > results[0].operations[0].latency.unwrap().p50_ms, "{results:?}");
}

#[tokio::test]
async fn channels_of_a_plan_are_sent_to_evenly_and_one_of_them_can_be_named() {
    let target = fake::start(Faults::default());
    let phase = |channel: &str| {
        serde_json::json!({"name": channel, "secs": 0.3, "step": {
            "do": "send", "clients": 3, "channel": channel, "chars": [24, 80], "topics": 2, "rate_per_sec": 200
        }})
    };
    let fetch = serde_json::json!({"name": "fetch", "secs": 0.2, "step": {
        "do": "fetch", "clients": 2, "channel": "load mixed 1", "anchor": "newest", "num_before": 10
    }});
    let results =
        run_with(&target, 0, serde_json::json!([phase("load mixed"), phase("load mixed 1"), fetch])).await;
    assert!(
        results.iter().all(|result| result.operations[0].completed > 3 && result.failed() == 0),
        "{results:?}"
    );
    let mut api = crate::client::Api::open(&target).await.unwrap();
    let reader = api.login("load00000@zulip.com").await.unwrap();
    for channel in ["load mixed 0", "load mixed 1"] {
        let path = format!("/api/v1/get_stream_id?stream={}", channel.replace(' ', "%20"));
        let id = api.get_ok(&path, Some(&reader)).await.unwrap()["stream_id"].as_u64().unwrap();
        assert!(
            super::fetch::find_id_range(&mut api, &reader, id).await.unwrap().is_some(),
            "{channel} is empty"
        );
    }
}

#[tokio::test]
async fn stages_are_measured_one_by_one() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([{"name": "ramp", "stages": [
        {"secs": 0.4, "rate_per_sec": 100}, {"secs": 0.2, "rate_per_sec": 100}
    ], "step": {"do": "get", "clients": 2, "path": "/users/me"}}]);
    let results = run_with(&target, 0, phases).await;
    let [first, second] = &results[0].operations[0].stages[..] else { panic!("{results:?}") };
    assert!((15..=20).contains(&first.completed), "half of 100 a second for 0.4 s: {first:?}");
    assert!((15..=20).contains(&second.completed), "100 a second for 0.2 s: {second:?}");
    assert!(second.latency.unwrap().p95_ms > 0.0 && (first.to - 100.0).abs() < 1e-9, "{results:?}");
}

#[tokio::test]
async fn registrations_and_edits_are_counted() {
    let target = fake::start(Faults::default());
    let phases = serde_json::json!([
        {"name": "register", "secs": 0.3, "step": {"do": "register", "clients": 3, "whole_state": false}},
        {"name": "edit", "secs": 0.3, "step": {"do": "edit", "clients": 3, "channel": "load all",
            "chars": [24, 80], "topics": 2, "edits": 3}}
    ]);
    let results = run_with(&target, 0, phases).await;
    let counts: Vec<(&str, bool)> = results
        .iter()
        .flat_map(|result| &result.operations)
        .map(|operation| (operation.name.as_str(), operation.completed > 3 && operation.failed == 0))
        .collect();
    assert_eq!(
        counts,
        [("register", true), ("end_queue", true), ("edit", true), ("move", true)],
        "{results:?}"
    );
    let [edits, moves] = &results[1].operations[..] else { panic!("{results:?}") };
    assert!(edits.completed.abs_diff(moves.completed * 3) < 12, "three edits for each move: {results:?}");
}
