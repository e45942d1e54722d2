//! `GET /messages`: the `with` operator, which finds a conversation wherever it has gone (endpoints.md 3).

use crate::support::{Channel, Params, Person, TestServer};
use serde_json::{Value, json};

async fn refused(who: &Person, narrow: Value, desc: &str) {
    let refusal =
        json!({"msg": format!("Invalid narrow operator: {desc}"), "code": "BAD_NARROW", "desc": desc});
    let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &9), ("narrow", &narrow)];
    who.get("/messages", params).refused(400, refusal).await;
}

struct Stage {
    _t: TestServer,
    iago: Person,
    hamlet: Person,
    rome: Channel,
    /// Two in Verona > pens, one in Rome > ink, one direct, one hidden in secret > pens.
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
async fn it_stands_for_the_conversation() {
    let s = stage().await;
    let (hamlet, [one, two, three, four, _]) = (&s.hamlet, s.ids);
    assert_eq!(hamlet.message_ids(json!([{"operator": "with", "operand": one}])).await, [one, two]);
    assert_eq!(hamlet.message_ids(json!([["with", two.to_string()]])).await, [one, two]);
    assert_eq!(hamlet.message_ids(json!([["with", four.to_string()]])).await, [four]);
    // Other places are forgotten, other conditions hold.
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
async fn it_follows_a_message_that_moved() {
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
async fn messages_that_cannot_be_read() {
    let s = stage().await;
    let (hamlet, [one, two, _, four, hidden]) = (&s.hamlet, s.ids);
    for id in [hidden.to_string(), "999999".into(), "99999999999".into(), "-1".into()] {
        // Where the rest names a conversation, that one is meant.
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
