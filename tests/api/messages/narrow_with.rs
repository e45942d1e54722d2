//! `GET /messages`: the `with` operator, which finds a conversation after it moved (docs/api/narrow.md#operators).

use crate::support::{Channel, Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn refused(who: &TestUser, narrow: Value, desc: &str) {
    let refusal =
        json!({"msg": format!("Invalid narrow operator: {desc}"), "code": "BAD_NARROW", "desc": desc});
    let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &9), ("narrow", &narrow)];
    who.get("/messages", params).refused(400, refusal).await;
}

struct Stage {
    _t: TestServer,
    iago: TestUser,
    hamlet: TestUser,
    rome: Channel,
    /// Two messages in Verona > pens, one in Rome > ink, a direct one, and an inaccessible one in secret > pens.
    ids: [u64; 5],
}

async fn stage() -> Stage {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let rome = iago.create_channel("Rome").with(&hamlet).await;
    let secret = iago.create_channel("secret").private().await;
    let ids = [
        iago.send(&verona, "pens", "one").await,
        hamlet.send(&verona, "Pens", "two https://example.com").await,
        iago.send(&rome, "ink", "three").await,
        iago.send_direct(&[&hamlet], "four").await,
        iago.send(&secret, "pens", "five").await,
    ];
    Stage { _t: t, iago, hamlet, rome, ids }
}

#[tokio::test]
async fn narrow_with_selects_conversation() {
    let s = stage().await;
    let (hamlet, [one, two, three, four, _]) = (&s.hamlet, s.ids);
    assert_eq!(hamlet.message_ids(json!([{"operator": "with", "operand": one}])).await, [one, two]);
    assert_eq!(hamlet.message_ids(json!([["with", two.to_string()]])).await, [one, two]);
    assert_eq!(hamlet.message_ids(json!([["with", four.to_string()]])).await, [four]);
    // `with` replaces the other conversation terms; all further terms still apply.
    let elsewhere = json!([["channel", "Rome"], ["topic", "ink"], ["with", one.to_string()]]);
    assert_eq!(hamlet.message_ids(elsewhere).await, [one, two]);
    let direct = json!([{"operator": "dm", "operand": [s.iago.id]}, ["with", three.to_string()]]);
    assert_eq!(hamlet.message_ids(direct).await, [three]);
    let link = json!([["with", one.to_string()], ["has", "link"]]);
    assert_eq!(hamlet.message_ids(link).await, [two]);
    let unread = json!([["with", one.to_string()], ["is", "unread"]]);
    assert_eq!(hamlet.message_ids(unread).await, [one, two]);
    let both = json!([["with", one.to_string()], ["is", "dm"]]);
    let desc = "No message can be both a channel message and direct message";
    let refusal = json!({
        "msg": format!("Invalid narrow operator combination: {desc}"), "code": "BAD_NARROW", "desc": desc
    });
    let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &9), ("narrow", &both)];
    hamlet.get("/messages", params).refused(400, refusal).await;
}

#[tokio::test]
async fn narrow_with_follows_moved_message() {
    let s = stage().await;
    let (hamlet, [one, two, three, ..]) = (&s.hamlet, s.ids);
    let there = json!([["channel", "Verona"], ["topic", "pens"], ["with", one.to_string()]]);
    let params: Params<'_> = &[
        ("stream_id", &s.rome.id),
        ("topic", &"INK"),
        ("propagate_mode", &"change_one"),
        ("send_notification_to_new_thread", &false),
    ];
    s.iago.edit(one, params).ok().await;
    assert_eq!(hamlet.message_ids(there).await, [one, three]);
    let stayed = json!([["channel", "Verona"], ["topic", "pens"], ["with", two.to_string()]]);
    assert_eq!(hamlet.message_ids(stayed).await, [two]);
}

#[tokio::test]
async fn narrow_with_inaccessible_message() {
    let s = stage().await;
    let (hamlet, [one, two, _, four, hidden]) = (&s.hamlet, s.ids);
    for id in [hidden.to_string(), "999999".into(), "99999999999".into(), "-1".into()] {
        // If the message is inaccessible, the other terms select the conversation.
        let topic = json!([["channel", "Verona"], ["topic", "pens"], ["with", id]]);
        assert_eq!(hamlet.message_ids(topic).await, [one, two]);
        let direct = json!([{"operator": "dm", "operand": [s.iago.id]}, ["with", id]]);
        assert_eq!(hamlet.message_ids(direct).await, [four]);
        for narrow in [
            json!([["with", id]]),
            json!([["channel", "Verona"], ["with", id]]),
            json!([["topic", "pens"], ["with", id]]),
        ] {
            refused(hamlet, narrow, "Invalid 'with' operator").await;
        }
    }
    s.iago.delete(&format!("/messages/{one}"), &[]).ok().await;
    refused(hamlet, json!([["with", one.to_string()]]), "Invalid 'with' operator").await;
    refused(hamlet, json!([["with", "x"]]), "Invalid 'with' operator").await;
    let twice = json!([["with", two.to_string()], ["with", two.to_string()]]);
    refused(hamlet, twice, "Duplicate 'with' operators.").await;
}
