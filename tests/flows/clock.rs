//! Changes of the server's wall clock while messages are sent, and a clock that is behind at the start.

use crate::support::{ServerProcess, TestServer};
use actors::ManualClock;
use std::fs::File;
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn message_timestamps_are_monotonic_after_clock_change() {
    let clock = ManualClock::new(model::Timestamp(1_790_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut times = Vec::new();
    for shift in [0, -20, -20, 5] {
        clock.shift_wall_secs(shift);
        let id = iago.send_direct(&[&hamlet], "x").await;
        let message = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
        times.push(message["message"]["timestamp"].as_u64().expect("a time"));
    }
    assert_eq!(times, [1_790_000_000; 4]);
    // A jump of an hour is not corrected: new messages have the new time, and the newest message stays the newest.
    clock.shift_wall_secs(-3600);
    let id = iago.send_direct(&[&hamlet], "y").await;
    let message = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(message["message"]["timestamp"], 1_790_000_000 - 35 - 3600);
    // The age of a message from the future does not underflow when its edit limit is checked.
    iago.edit(id, &[("content", &"z")]).ok().await;
    clock.shift_wall_secs(-3600);
    iago.edit(id, &[("content", &"zz")]).ok().await;
}

#[tokio::test]
async fn clock_that_is_moved_on_purpose_is_no_warning() {
    let t = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[("MILLSTREAM_LOG_FILTER", "info")]);
    t.anonymous().post("/dev/realms", &[]).ok().await;
    t.anonymous().post("/dev/clock", &[("time", &1_600_000_000)]).ok().await;
    t.anonymous().post("/dev/clock", &[("real", &true), ("advance_secs", &7200)]).ok().await;
    t.wait_for_log("the clock was moved through /dev/clock");
    // The clock is compared once a second.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let log = t.log.lock().expect("the lock").clone();
    assert!(!log.contains("the wall clock was changed"), "{log}");
}

#[test]
fn clock_behind_the_journal_is_reported_at_the_start_and_by_doctor() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
    assert!(ServerProcess::run(&[&create[..], &["--data", &data]].concat()).0.success());
    let journal = File::open(folder.path().join("data/journal/shard-000")).expect("the journal");
    let later = SystemTime::now() + Duration::from_secs(300 * 24 * 3600 + 3600);
    journal.set_modified(later).expect("a time of modification");
    let (status, text) = ServerProcess::run(&["doctor", "--output", "json", "--data", &data]);
    assert!(!status.success() && text.contains("the journal is 300 days"), "{text}");
    let server = ServerProcess::start(
        &["serve", "--data", &data, "--listen", "127.0.0.1:0"],
        &[("MILLSTREAM_LOG_FILTER", "warn")],
    );
    server.wait_for_log("the journal is 300 days");
}
