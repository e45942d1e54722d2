//! `GET /messages` and `GET /messages/{id}` without an account (conventions.md 1): what is web-public, asked for as such.

use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

struct Stage {
    t: TestServer,
    iago: Person,
    /// In the web-public channel, in a public one.
    ids: [u64; 2],
}

async fn stage() -> Stage {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    desdemona.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
    let window = desdemona.create_channel("window").set("is_web_public", json!(true)).await;
    let open = iago.create_channel("Verona").await;
    iago.subscribe(&window).await;
    let ids =
        [iago.send(&window, "t", "seen https://example.com").await, iago.send(&open, "t", "unseen").await];
    Stage { t, iago, ids }
}

fn params(narrow: &Value) -> [(&'static str, &(dyn std::fmt::Display + Sync)); 3] {
    [("anchor", &"newest"), ("num_before", &100), ("narrow", narrow)]
}

#[tokio::test]
async fn what_is_web_public_is_for_everybody() {
    let s = stage().await;
    let stranger = s.t.stranger();
    for more in [
        json!([]),
        json!([["channel", "window"]]),
        json!([["stream", "window"], ["topic", "t"]]),
        json!([{"operator": "sender", "operand": s.iago.id}]),
        json!([["has", "link"]]),
        json!([["near", "1"], ["topic", "t"]]),
        json!([["id", s.ids[0].to_string()]]),
        json!([["with", s.ids[0].to_string()]]),
    ] {
        for name in ["channels", "streams"] {
            let mut narrow = json!([[name, "web-public"]]);
            narrow.as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
            let body = stranger.get("/messages", &params(&narrow)).ok().await;
            let messages = body["messages"].as_array().unwrap();
            let known: Vec<u64> = crate::support::person::ids(messages);
            let known: Vec<u64> = known.into_iter().filter(|id| s.ids.contains(id)).collect();
            assert_eq!(known, [s.ids[0]], "{narrow}");
            assert!(messages.iter().all(|message| message["flags"] == json!(["read"])));
        }
    }
    // A channel that is not for everybody gives nothing, and no error.
    let hidden = json!([["channels", "web-public"], ["channel", "Verona"]]);
    assert_eq!(stranger.get("/messages", &params(&hidden)).ok().await["messages"], json!([]));
    let body = stranger.get(&format!("/messages/{}", s.ids[0]), &[]).ok().await;
    assert_eq!((&body["message"]["id"], &body["message"]["flags"]), (&json!(s.ids[0]), &json!(["read"])));
}

#[tokio::test]
async fn anything_else_wants_an_account() {
    let s = stage().await;
    let stranger = s.t.stranger();
    let refusal = json!({
        "msg": "Not logged in: API authentication or user session required", "code": "UNAUTHORIZED"
    });
    for narrow in [
        json!([]),
        json!([["channel", "window"]]),
        json!([["channels", "public"]]),
        json!([{"operator": "channels", "operand": "web-public", "negated": true}]),
        json!([["channels", "web-public"], ["is", "unread"]]),
        json!([["channels", "web-public"], ["dm", "x@example.com"]]),
        json!([["channels", "web-public"], ["in", "home"]]),
        json!([["channels", "web-public"], ["dm-including", "x@example.com"]]),
        json!([["channels", "web-public"], ["flavour", "sour"]]),
    ] {
        let answer = stranger.get("/messages", &params(&narrow)).await;
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"zulip\"", "{narrow}");
        answer.refused(401, refusal.clone());
    }
    let ids = json!([s.ids[0]]);
    stranger.get("/messages", &[("message_ids", &ids)]).refused(401, refusal.clone()).await;
    for id in [s.ids[1], 999_999] {
        stranger.get(&format!("/messages/{id}"), &[]).refused(401, refusal.clone()).await;
    }
    // Without the organization's consent nothing is open, however web-public its channels are.
    let desdemona = s.t.user("desdemona");
    desdemona.patch("/realm", &[("enable_spectator_access", &false)]).ok().await;
    let narrow = json!([["channels", "web-public"]]);
    stranger.get("/messages", &params(&narrow)).refused(401, refusal.clone()).await;
    stranger.get(&format!("/messages/{}", s.ids[0]), &[]).refused(401, refusal).await;
}

#[tokio::test]
async fn named_messages_can_be_asked_for_as_web_public() {
    let s = stage().await;
    let (narrow, ids) = (json!([["channels", "web-public"]]), json!(s.ids));
    let asked: Params<'_> = &[("message_ids", &ids), ("narrow", &narrow)];
    let body = s.t.stranger().get("/messages", asked).ok().await;
    assert_eq!(crate::support::person::ids(body["messages"].as_array().unwrap()), [s.ids[0]]);
}
