//! `POST /messages/flags`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, keys};
use serde_json::{Value, json};

#[tokio::test]
async fn flag_starred() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    let (a, b) = (iago.send(&channel, "t", "a").await, iago.send(&channel, "t", "b").await);
    let mut queue = hamlet.register().events(&["update_message_flags"]).await;
    let body = hamlet.flag("add", "starred", &[a, b]).await;
    assert_eq!(fields(&body), ["ignored_because_not_subscribed_channels", "messages"]);
    assert_eq!(body["messages"], json!([a, b]));
    let event = queue.next().await;
    let expected = json!({
        "id": event["id"], "type": "update_message_flags", "op": "add", "operation": "add",
        "flag": "starred", "messages": [a, b], "all": false,
    });
    assert_eq!(event, expected);
    // An accessible message without a row gets one, flagged `historical`.
    let message = hamlet.messages(json!([["id", a.to_string()]])).await;
    assert_eq!(message[0]["flags"], json!(["read", "starred", "historical"]));
    hamlet.flag("remove", "starred", &[a]).await;
    assert_eq!(hamlet.message_ids(json!([["is", "starred"]])).await, [b]);
    let state = hamlet.register().await.state;
    assert_eq!(state["starred_messages"], json!([b]));
}

#[tokio::test]
async fn flag_read_and_unread() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let a = iago.send(&channel, "t", "a @**King Hamlet**").await;
    let dm = iago.send_direct(&[&hamlet], "psst").await;
    let mut queue = hamlet.register().events(&["update_message_flags"]).await;
    hamlet.flag("add", "read", &[a, dm]).await;
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["messages"]), (&json!("add"), &json!([a, dm])));
    assert_eq!(keys(&event), ["all", "flag", "id", "messages", "op", "operation", "type"]);
    let body = hamlet.flag("remove", "read", &[a, dm]).await;
    assert_eq!(body["ignored_because_not_subscribed_channels"], json!([]));
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["flag"]), (&json!("remove"), &json!("read")));
    let details = &event["message_details"];
    let of_a = json!({
        "type": "stream", "stream_id": channel.id, "topic": "t", "unmuted_stream_msg": true, "mentioned": true
    });
    assert_eq!(details[a.to_string()], of_a);
    assert_eq!(details[dm.to_string()], json!({"type": "private", "user_ids": [iago.id]}));
    let unread = hamlet.message_ids(json!([["is", "unread"]])).await;
    assert!(unread.contains(&a) && unread.contains(&dm));
}

#[tokio::test]
async fn flag_unread_needs_subscription() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&channel, "t", "a").await;
    hamlet.flag("add", "read", &[id]).await;
    hamlet.unsubscribe(&channel).await;
    let body = hamlet.flag("remove", "read", &[id]).await;
    assert_eq!(body["ignored_because_not_subscribed_channels"], json!([channel.id]));
    assert!(hamlet.message_ids(json!([["is", "unread"]])).await.is_empty());
}

#[tokio::test]
async fn flag_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().await;
    let hidden = iago.send(&secret, "t", "x").await;
    let mine = hamlet.send_direct(&[&iago], "x").await;
    let ask = |params: Params<'_>| hamlet.post("/messages/flags", params);
    let messages = json!([mine]);
    for (flag, msg) in [
        ("purple", "Invalid flag: 'purple'"),
        ("mentioned", "Flag not editable: 'mentioned'"),
        ("historical", "Flag not editable: 'historical'"),
        ("has_alert_word", "Flag not editable: 'has_alert_word'"),
        ("wildcard_mentioned", "Flag not editable: 'wildcard_mentioned'"),
    ] {
        ask(&[("messages", &messages), ("op", &"add"), ("flag", &flag)]).bad(msg).await;
    }
    let op: Params<'_> = &[("messages", &messages), ("op", &"toggle"), ("flag", &"read")];
    ask(op).bad("Invalid message flag operation: 'toggle'").await;
    let starred: Params<'_> = &[("messages", &json!([hidden])), ("op", &"add"), ("flag", &"starred")];
    ask(starred).bad("Invalid message(s)").await;
    let missing = |name: &str| -> Value {
        json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name
        })
    };
    ask(&[]).refused(400, missing("messages")).await;
    ask(&[("messages", &messages)]).refused(400, missing("op")).await;
    ask(&[("messages", &messages), ("op", &"add")]).refused(400, missing("flag")).await;
    let words: Params<'_> = &[("messages", &"[\"a\"]"), ("op", &"add"), ("flag", &"read")];
    ask(words).bad("messages[0] is not an integer").await;
    let list: Params<'_> = &[("messages", &"5"), ("op", &"add"), ("flag", &"read")];
    ask(list).bad("messages is not a list").await;
}
