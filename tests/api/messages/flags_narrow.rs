//! `POST /messages/flags/narrow`.

use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, as_params};
use serde_json::json;

#[tokio::test]
async fn flags_narrow_marks_window() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(iago.send(&channel, "t", &number.to_string()).await);
    }
    let narrow = json!([["channel", "Verona"], ["topic", "t"]]);
    let params: Params<'_> = &[
        ("anchor", &ids[3]),
        ("num_before", &2),
        ("num_after", &0),
        ("include_anchor", &false),
        ("narrow", &narrow),
        ("op", &"add"),
        ("flag", &"read"),
    ];
    let body = hamlet.post("/messages/flags/narrow", params).ok().await;
    assert_eq!(
        fields(&body),
        [
            "first_processed_id",
            "found_newest",
            "found_oldest",
            "ignored_because_not_subscribed_channels",
            "last_processed_id",
            "processed_count",
            "updated_count"
        ]
    );
    assert_eq!((&body["processed_count"], &body["updated_count"]), (&json!(2), &json!(2)));
    assert_eq!((&body["first_processed_id"], &body["last_processed_id"]), (&json!(ids[1]), &json!(ids[2])));
    assert_eq!((&body["found_oldest"], &body["found_newest"]), (&json!(false), &json!(false)));
    let unread = hamlet.message_ids(json!([["is", "unread"], ["topic", "t"]])).await;
    assert_eq!(unread, [ids[0], ids[3], ids[4]]);
    // The second time nothing changes, but the messages count as processed.
    let body = hamlet.post("/messages/flags/narrow", params).ok().await;
    assert_eq!((&body["processed_count"], &body["updated_count"]), (&json!(2), &json!(0)));
}

#[tokio::test]
async fn flags_narrow_all_and_empty() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.send_direct(&[&hamlet], "one").await;
    let params: Params<'_> = &[
        ("anchor", &"oldest"),
        ("num_before", &0),
        ("num_after", &9000),
        ("narrow", &"null"),
        ("op", &"add"),
        ("flag", &"read"),
    ];
    let body = hamlet.post("/messages/flags/narrow", params).ok().await;
    assert_eq!(body["updated_count"], 1);
    let othello = t.user("othello");
    let body = othello.post("/messages/flags/narrow", params).ok().await;
    assert_eq!((&body["first_processed_id"], &body["processed_count"]), (&json!(null), &json!(0)));
}

#[tokio::test]
async fn flags_narrow_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let all: [Param<'_>; 6] = [
        ("anchor", &"newest"),
        ("num_before", &1),
        ("num_after", &0),
        ("narrow", &"[]"),
        ("op", &"add"),
        ("flag", &"read"),
    ];
    for (name, _) in all {
        let rest: Vec<_> = all.iter().copied().filter(|(other, _)| *other != name).collect();
        let answer = hamlet.post("/messages/flags/narrow", &rest).await;
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
    }
    let with = |name: &'static str, value: &'static str| {
        let mut params: Vec<(String, String)> =
            all.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        params.retain(|(other, _)| other != name);
        params.push((name.to_owned(), value.to_owned()));
        params
    };
    for (name, value, msg) in [
        ("flag", "purple", "Invalid flag: 'purple'"),
        ("flag", "mentioned", "Flag not editable: 'mentioned'"),
        ("op", "toggle", "Invalid message flag operation: 'toggle'"),
        ("anchor", "bogus", "Invalid anchor"),
        ("num_before", "-1", "num_before is too small"),
    ] {
        let params = with(name, value);
        let params = as_params(&params);
        hamlet.post("/messages/flags/narrow", &params).bad(msg).await;
    }
}
