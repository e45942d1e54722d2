//! `GET /messages`: windows around anchors, and errors.

use crate::api::pictures::png;
use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const NEWEST: u64 = 10_000_000_000_000_000;

/// Fetches a window; returns the ids and the `found_*` fields.
async fn window(who: &TestUser, params: Params<'_>) -> (Vec<u64>, Value) {
    let body = who.get("/messages", params).ok().await;
    let messages = body["messages"].as_array().unwrap();
    let ids = messages.iter().map(|message| message["id"].as_u64().unwrap()).collect();
    (ids, body)
}

fn found(body: &Value) -> [bool; 4] {
    ["found_oldest", "found_anchor", "found_newest", "history_limited"]
        .map(|key| body[key].as_bool().expect("a boolean"))
}

#[tokio::test]
async fn fetch_window_around_anchor() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").set("send_channel_events_messages", json!(false)).await;
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(iago.send(&channel, "t", &number.to_string()).await);
    }
    let narrow = json!([["channel", "Verona"], ["topic", "T"]]);
    let ask = |anchor: String, before: i64, after: i64| {
        let (iago, narrow) = (iago.clone(), narrow.clone());
        async move {
            let params: Params<'_> =
                &[("anchor", &anchor), ("num_before", &before), ("num_after", &after), ("narrow", &narrow)];
            window(&iago, params).await
        }
    };
    let all = |range: std::ops::Range<usize>| ids[range].to_vec();
    let (got, body) = ask("newest".into(), 2, 0).await;
    assert_eq!((got, found(&body)), (all(4..6), [false, false, true, false]));
    assert_eq!(body["anchor"], NEWEST);
    assert_eq!(
        fields(&body),
        ["anchor", "found_anchor", "found_newest", "found_oldest", "history_limited", "messages"]
    );
    let (got, body) = ask("oldest".into(), 0, 2).await;
    assert_eq!((got, found(&body), &body["anchor"]), (all(0..2), [true, false, false, false], &json!(0)));
    let (got, body) = ask(ids[2].to_string(), 1, 1).await;
    assert_eq!((got, found(&body)), (all(1..4), [false, true, false, false]));
    let (got, body) = ask(ids[2].to_string(), 9, 9).await;
    assert_eq!((got, found(&body)), (all(0..6), [true, true, true, false]));
    let (got, _) = ask(ids[3].to_string(), 0, 0).await;
    assert_eq!(got, all(3..4));
    let (got, body) = ask("-5".into(), 0, 1).await;
    assert_eq!((got, &body["anchor"]), (all(0..1), &json!(0)));
    let (got, _) = ask("99999999999999999999".into(), 1, 0).await;
    assert_eq!(got, all(5..6));
    let (got, body) = ask(NEWEST.to_string(), 1, 0).await;
    assert_eq!((got, found(&body)), (all(5..6), [false, false, true, false]));
}

#[tokio::test]
async fn fetch_without_anchor_message() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(iago.send(&channel, "t", &number.to_string()).await);
    }
    let narrow = json!([["channel", "Verona"], ["topic", "t"]]);
    for (before, after, expected) in [(1, 0, ids[1]), (0, 1, ids[3])] {
        let params: Params<'_> = &[
            ("anchor", &ids[2]),
            ("num_before", &before),
            ("num_after", &after),
            ("include_anchor", &false),
            ("narrow", &narrow),
        ];
        let (got, body) = window(&iago, params).await;
        assert_eq!((got, &body["found_anchor"]), (vec![expected], &json!(false)));
    }
    let params: Params<'_> =
        &[("anchor", &ids[2]), ("num_before", &1), ("num_after", &1), ("include_anchor", &false)];
    iago.get("/messages", params).bad("The anchor can only be excluded at an end of the range").await;
}

#[tokio::test]
async fn fetch_first_unread_anchor() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(iago.send(&channel, "t", &number.to_string()).await);
    }
    let before = hamlet.message_ids(json!([])).await;
    let read: Vec<u64> = before.into_iter().filter(|id| *id <= ids[1]).collect();
    hamlet.flag("add", "read", &read).await;
    let narrow = json!([["channel", "Verona"], ["topic", "t"]]);
    let old: Params<'_> = &[
        ("anchor", &0),
        ("use_first_unread_anchor", &true),
        ("num_before", &1),
        ("num_after", &1),
        ("narrow", &narrow),
    ];
    let word: Params<'_> =
        &[("anchor", &"first_unread"), ("num_before", &1), ("num_after", &1), ("narrow", &narrow)];
    let alone: Params<'_> =
        &[("use_first_unread_anchor", &true), ("num_before", &1), ("num_after", &1), ("narrow", &narrow)];
    // As zulip-terminal asks, as other clients ask, and without an anchor.
    for params in [old, word, alone] {
        let (got, body) = window(&hamlet, params).await;
        assert_eq!((got, &body["anchor"]), (ids[1..4].to_vec(), &json!(ids[2])));
    }
    hamlet.flag("add", "read", &ids).await;
    let (got, body) = window(&hamlet, word).await;
    assert_eq!((got, &body["anchor"]), (ids[4..].to_vec(), &json!(NEWEST)));
}

#[tokio::test]
async fn fetch_by_message_ids() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    let secret = iago.create_channel("secret").private().await;
    let (a, b) = (iago.send(&channel, "t", "a").await, iago.send(&channel, "u", "b").await);
    let hidden = iago.send(&secret, "t", "hidden").await;
    let wanted = json!([b, hidden, a, 99_999, a]);
    let (got, body) = window(&hamlet, &[("message_ids", &wanted)]).await;
    assert_eq!((got, found(&body)), (vec![a, b], [false; 4]));
    assert_eq!(
        fields(&body),
        ["found_anchor", "found_newest", "found_oldest", "history_limited", "messages"]
    );
    let narrow = json!([["channel", "Verona"], ["topic", "u"]]);
    let (got, _) = window(&iago, &[("message_ids", &wanted), ("narrow", &narrow)]).await;
    assert_eq!(got, [b]);
    let names = "num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor";
    let refusal = json!({
        "msg": format!("Unsupported parameter combination: {names}"),
        "code": "BAD_REQUEST", "parameters": names,
    });
    for (name, value) in [("anchor", "newest"), ("num_before", "1"), ("num_after", "1")] {
        let call = iago.get("/messages", &[("message_ids", &wanted), (name, &value)]);
        call.refused(400, refusal.clone()).await;
    }
}

#[tokio::test]
async fn fetch_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let ask = |params: Params<'_>| iago.get("/messages", params);
    ask(&[("num_before", &2), ("num_after", &0)]).bad("Missing 'anchor' argument.").await;
    ask(&[("anchor", &"bogus"), ("num_before", &2), ("num_after", &0)]).bad("Invalid anchor").await;
    let many: Params<'_> = &[("anchor", &"newest"), ("num_before", &5000), ("num_after", &1)];
    ask(many).bad("Too many messages requested (maximum 5000).").await;
    let ids: Vec<u32> = (0..5001).collect();
    let body = format!("message_ids={}", json!(ids));
    let form = "application/x-www-form-urlencoded";
    let call = iago.send_body(reqwest::Method::GET, "/messages", form, body.into_bytes());
    call.bad("Too many messages requested (maximum 5000).").await;
    ask(&[("anchor", &"newest"), ("num_before", &-1), ("num_after", &0)])
        .bad("num_before is too small")
        .await;
    ask(&[("anchor", &"newest"), ("num_before", &0), ("num_after", &-1)]).bad("num_after is too small").await;
    let not_json: Params<'_> = &[("anchor", &"newest"), ("num_before", &"abc"), ("num_after", &0)];
    ask(not_json).bad("num_before is not valid JSON").await;
    let yes: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("apply_markdown", &"1")];
    ask(yes).bad("apply_markdown is not a boolean").await;
    let strings: Params<'_> = &[("message_ids", &"[\"a\"]")];
    ask(strings).bad("message_ids[0] is not an integer").await;
    let anonymous: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0)];
    assert_eq!(t.anonymous().get("/messages", anonymous).await.status, 401);
}

#[tokio::test]
async fn fetch_without_counts() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let id = iago.send(&channel, "t", "x").await;
    let (got, _) = window(&iago, &[("anchor", &"newest"), ("num_before", &1)]).await;
    assert_eq!(got, [id]);
    let (got, _) = window(&iago, &[("anchor", &id), ("num_after", &3)]).await;
    assert_eq!(got, [id]);
}

#[tokio::test]
async fn fetch_apply_markdown() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    iago.send(&channel, "t", "a *b*").await;
    for (apply, content, kind) in
        [(true, "<p>a <em>b</em></p>", "text/html"), (false, "a *b*", "text/x-markdown")]
    {
        let params: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0), ("apply_markdown", &apply)];
        let (_, body) = window(&iago, params).await;
        let message = &body["messages"][0];
        assert_eq!((&message["content"], &message["content_type"]), (&json!(content), &json!(kind)));
    }
}

#[tokio::test]
async fn fetch_client_gravatar() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.patch("/realm", &[("default_avatar_source", &"G")]).ok().await;
    let channel = iago.create_channel("Verona").await;
    iago.send(&channel, "t", "x").await;
    for (gravatar, is_null) in [("true", true), ("false", false)] {
        let params: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0), ("client_gravatar", &gravatar)];
        let (_, body) = window(&iago, params).await;
        assert_eq!(body["messages"][0]["avatar_url"].is_null(), is_null, "{body}");
    }
}

/// Senders are kept encoded: they must follow everything that is shown of them.
#[tokio::test]
async fn fetch_shows_senders_as_they_are_now() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    hamlet.send(&channel, "t", "x").await;
    let path = format!("/users/{}", hamlet.id);
    let mut before = Value::Null;
    for step in 0..5 {
        match step {
            0 => json!({}),
            1 => iago.patch(&path, &[("full_name", &"Prince Hamlet")]).ok().await,
            2 => iago.patch("/realm", &[("default_avatar_source", &"G")]).ok().await,
            3 => hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await,
            _ => hamlet.patch("/settings", &[("email_address_visibility", &5)]).ok().await,
        };
        for gravatar in [false, true] {
            let params: Params<'_> = &[
                ("anchor", &"newest"),
                ("num_before", &1),
                ("num_after", &0),
                ("client_gravatar", &gravatar),
            ];
            let message = window(&iago, params).await.1["messages"][0].clone();
            let user = iago.get(&path, &[("client_gravatar", &gravatar)]).ok().await["user"].clone();
            let shown = [&message["sender_full_name"], &message["sender_email"], &message["avatar_url"]];
            assert_eq!(shown, [&user["full_name"], &user["email"], &user["avatar_url"]], "step {step}");
            if !gravatar {
                let after = json!(shown);
                assert_ne!(after, before, "step {step}");
                before = after;
            }
        }
    }
}
