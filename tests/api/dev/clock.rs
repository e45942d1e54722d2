//! `GET /dev/clock` and `POST /dev/clock`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

/// The time that the server shows, in seconds.
async fn shown(t: &TestServer) -> u64 {
    t.anonymous().get("/dev/clock", &[]).ok().await["time"].as_f64().unwrap() as u64
}

/// Schedules a message to a topic of Verona.
async fn schedule(user: &TestUser, topic: &str, due: u64) {
    let verona = user.get("/get_stream_id", &[("stream", &"Verona")]).ok().await["stream_id"].clone();
    let params: Params<'_> = &[
        ("type", &"stream"),
        ("to", &verona),
        ("topic", &topic),
        ("content", &"hello from later"),
        ("scheduled_delivery_timestamp", &due),
    ];
    user.post("/scheduled_messages", params).ok().await;
}

/// The newest message of the topic, or the next message that the user gets if there is none.
async fn sent(user: &TestUser, topic: &str) -> Value {
    let mut queue = user.register().events(&["message"]).await;
    match user.messages(json!([["channel", "Verona"], ["topic", topic]])).await.pop() {
        Some(message) => message,
        None => queue.next().await["message"].clone(),
    }
}

#[tokio::test]
async fn scheduled_message_is_sent_when_the_clock_is_advanced() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let due = shown(&t).await + 3600;
    schedule(&hamlet, "later", due).await;
    let moved = t.anonymous().post("/dev/clock", &[("advance_secs", &3600)]).ok().await;
    assert!(moved["time"].as_f64().unwrap() >= due as f64);
    let message = sent(&hamlet, "later").await;
    assert!(message["timestamp"].as_u64().unwrap() >= due, "{message}");
}

#[tokio::test]
async fn what_is_due_has_happened_when_the_clock_answers() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let queue = hamlet.register().events(&["message"]).await;
    for number in 0..3 {
        schedule(&hamlet, "later", shown(&t).await + 3600).await;
        t.anonymous().post("/dev/clock", &[("advance_secs", &3700)]).ok().await;
        let sent = hamlet.messages(json!([["channel", "Verona"], ["topic", "later"]])).await;
        assert_eq!(sent.len(), number + 1);
    }
    assert_eq!(queue.poll(true).await.body["code"], "BAD_EVENT_QUEUE_ID");
}

#[tokio::test]
async fn scheduled_message_is_sent_when_the_clock_is_moved_far_beyond_its_time() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    schedule(&hamlet, "advanced", shown(&t).await + 120).await;
    t.anonymous().post("/dev/clock", &[("advance_secs", &86_400)]).ok().await;
    assert_eq!(sent(&hamlet, "advanced").await["subject"], "advanced");
    let now = shown(&t).await;
    schedule(&hamlet, "set", now + 120).await;
    t.anonymous().post("/dev/clock", &[("time", &(now + 86_400))]).ok().await;
    assert_eq!(sent(&hamlet, "set").await["subject"], "set");
    let left = hamlet.get("/scheduled_messages", &[]).ok().await;
    assert_eq!(left["scheduled_messages"], json!([]), "none has failed");
}

#[tokio::test]
async fn scheduled_message_is_sent_by_a_clock_that_was_set_to_before_the_start() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let move_clock = async |name, value: u64| t.anonymous().post("/dev/clock", &[(name, &value)]).ok().await;
    move_clock("time", 1_000_086_400).await;
    schedule(&hamlet, "past", 1_000_090_000).await;
    move_clock("advance_secs", 7200).await;
    assert_eq!(sent(&hamlet, "past").await["subject"], "past");
    schedule(&hamlet, "set", 1_000_100_000).await;
    move_clock("time", 1_000_200_000).await;
    assert_eq!(sent(&hamlet, "set").await["subject"], "set");
    schedule(&hamlet, "real", 1_000_300_000).await;
    t.anonymous().post("/dev/clock", &[("real", &true)]).ok().await;
    assert_eq!(sent(&hamlet, "real").await["subject"], "real");
    let left = hamlet.get("/scheduled_messages", &[]).ok().await;
    assert_eq!(left["scheduled_messages"], json!([]), "none has failed");
}

#[tokio::test]
async fn presence_follows_a_clock_that_comes_back_from_the_future() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let before = shown(&t).await;
    t.anonymous().post("/dev/clock", &[("time", &(before + 315_360_000))]).ok().await;
    hamlet.post("/users/me/presence", &[("status", &"active")]).ok().await;
    t.anonymous().post("/dev/clock", &[("real", &true)]).ok().await;
    for status in ["idle", "active"] {
        hamlet.post("/users/me/presence", &[("status", &status)]).ok().await;
        let seen = hamlet.get("/users/hamlet@zulip.com/presence", &[]).ok().await;
        let seen = &seen["presence"]["aggregated"];
        assert_eq!(seen["status"], status, "{seen}");
        assert!(seen["timestamp"].as_u64().unwrap() < before + 600, "{seen}");
    }
}

#[tokio::test]
async fn clock_is_set_and_runs_on() {
    let t = TestServer::builder().development().start().await;
    let set: crate::support::Params<'_> = &[("time", &2_000_000_000), ("advance_secs", &60)];
    let time = t.anonymous().post("/dev/clock", set).ok().await["time"].as_f64().unwrap();
    assert!((2_000_000_060.0..2_000_000_120.0).contains(&time), "{time}");
    let shown = t.anonymous().get("/dev/clock", &[]).ok().await["time"].as_f64().unwrap();
    assert!(shown >= time);
}

#[tokio::test]
async fn clock_without_a_time_or_too_far_is_refused() {
    let t = TestServer::builder().development().start().await;
    let missing = json!({
        "msg": "Missing 'advance_secs' (let so many seconds pass), 'time' (set the date, in seconds since 1970) or 'real' (true: show the real date again)",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "advance_secs"
    });
    t.anonymous().post("/dev/clock", &[]).refused(400, missing.clone()).await;
    t.anonymous().post("/dev/clock", &[("real", &"false")]).refused(400, missing).await;
    let date = "must be a number of seconds since 1970-01-01 UTC from 0 to 3162240000, such as 1798761600";
    let seconds = "must be a number of seconds from 0 to 3162240000, such as 90 or 1.5";
    let cases = [
        ("time", "1e30", date),
        ("time", "2026-12-01", date),
        ("advance_secs", "4000000000", seconds),
        ("advance_secs", "-1", seconds),
    ];
    for (name, value, allowed) in cases {
        t.anonymous().post("/dev/clock", &[(name, &value)]).bad(&format!("Invalid {name}: {allowed}")).await;
    }
}

#[tokio::test]
async fn clock_takes_what_it_shows() {
    let t = TestServer::builder().development().start().await;
    let shown = t.anonymous().get("/dev/clock", &[]).ok().await["time"].clone();
    let set = t.anonymous().post("/dev/clock", &[("time", &shown), ("advance_secs", &0.5)]).ok().await;
    assert!(set["time"].as_f64().unwrap() >= shown.as_f64().unwrap() + 0.5, "{shown} {set}");
}

#[tokio::test]
async fn real_time_is_restored() {
    let t = TestServer::builder().development().start().await;
    let show = async || t.anonymous().get("/dev/clock", &[]).ok().await["time"].as_f64().unwrap();
    let before = show().await;
    t.anonymous().post("/dev/clock", &[("time", &1_600_000_000), ("advance_secs", &60)]).ok().await;
    assert!(show().await < before);
    let restored =
        t.anonymous().post("/dev/clock", &[("real", &"true")]).ok().await["time"].as_f64().unwrap();
    assert!((before..before + 600.0).contains(&restored), "{before} {restored}");
}

#[tokio::test]
async fn real_date_and_another_one_exclude_each_other() {
    let t = TestServer::builder().development().start().await;
    let before = shown(&t).await;
    let both: Params<'_> = &[("real", &true), ("time", &1_600_000_000)];
    let msg = "'real' and 'time' exclude each other: the clock shows the real date, or the one of 'time'";
    t.anonymous().post("/dev/clock", both).bad(msg).await;
    assert!(shown(&t).await >= before);
    let one: Params<'_> = &[("real", &false), ("time", &1_600_000_000)];
    let moved = t.anonymous().post("/dev/clock", one).ok().await;
    assert!(moved["time"].as_f64().unwrap() < before as f64);
}
