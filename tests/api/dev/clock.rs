//! `GET /dev/clock` and `POST /dev/clock`.

use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn scheduled_message_is_sent_when_the_clock_is_advanced() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let now = t.anonymous().get("/dev/clock", &[]).ok().await["time"].as_f64().unwrap();
    let due = now as u64 + 3600;
    let verona = hamlet.get("/get_stream_id", &[("stream", &"Verona")]).ok().await["stream_id"].clone();
    let params: crate::support::Params<'_> = &[
        ("type", &"stream"),
        ("to", &verona),
        ("topic", &"later"),
        ("content", &"hello from later"),
        ("scheduled_delivery_timestamp", &due),
    ];
    hamlet.post("/scheduled_messages", params).ok().await;
    let moved = t.anonymous().post("/dev/clock", &[("advance_secs", &3600)]).ok().await;
    assert!(moved["time"].as_f64().unwrap() >= due as f64);
    let narrow = json!([["channel", "Verona"], ["topic", "later"]]);
    let mut queue = hamlet.register().events(&["message"]).await;
    let found = hamlet.messages(narrow).await.pop();
    let message = match found {
        Some(message) => message,
        None => queue.next().await["message"].clone(),
    };
    assert!(message["timestamp"].as_u64().unwrap() >= due, "{message}");
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
        "msg": "Missing 'advance_secs' (let so many seconds pass), 'time' (set the date, in seconds) or 'real' (true: show the real date again)",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "advance_secs"
    });
    t.anonymous().post("/dev/clock", &[]).refused(400, missing.clone()).await;
    t.anonymous().post("/dev/clock", &[("real", &"false")]).refused(400, missing).await;
    let allowed = "must be a number of seconds from 0 to 3162240000, such as 90 or 1.5";
    let cases = [("time", "1e30"), ("time", "abc"), ("advance_secs", "4000000000"), ("advance_secs", "-1")];
    for (name, value) in cases {
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
