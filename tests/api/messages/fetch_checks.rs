//! `GET /messages`: in which order a request is checked, and what goes together.

use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

fn bad_narrow(desc: &str) -> Value {
    json!({"msg": format!("Invalid narrow operator: {desc}"), "code": "BAD_NARROW", "desc": desc})
}

#[tokio::test]
async fn the_first_fault_is_told() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let ask = |params: Params<'_>| iago.get("/messages", params);
    let (bad_with, unknown) = (json!([["with", "x"]]), json!([["channel", "Nowhere"]]));
    // The anchor, then `with`, then how many, then where the anchor is left out, then the rest of the narrow.
    let no_anchor: Params<'_> = &[("num_before", &6000), ("num_after", &0), ("narrow", &bad_with)];
    ask(no_anchor).bad("Missing 'anchor' argument.").await;
    let wrong: Params<'_> = &[("anchor", &"date"), ("num_before", &6000), ("narrow", &bad_with)];
    ask(wrong).bad("Invalid anchor").await;
    let with: Params<'_> = &[("anchor", &"newest"), ("num_before", &6000), ("narrow", &bad_with)];
    ask(with).refused(400, bad_narrow("Invalid 'with' operator")).await;
    let many: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &4000),
        ("num_after", &1001),
        ("include_anchor", &false),
        ("narrow", &unknown),
    ];
    ask(many).bad("Too many messages requested (maximum 5000).").await;
    let inside: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &1),
        ("num_after", &1),
        ("include_anchor", &false),
        ("narrow", &unknown),
    ];
    ask(inside).bad("The anchor can only be excluded at an end of the range").await;
    let narrow: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("narrow", &unknown)];
    ask(narrow).refused(400, bad_narrow("unknown channel Nowhere")).await;
    // What is wrong in form is found before anything is done.
    let form: Params<'_> = &[("num_before", &1), ("narrow", &"[5]")];
    ask(form).bad("Invalid narrow[0]: Value error, dict or list required").await;
}

#[tokio::test]
async fn five_thousand_are_not_too_many() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for (before, after) in [(5000, 0), (0, 5000), (2500, 2500)] {
        let params: Params<'_> = &[("anchor", &0), ("num_before", &before), ("num_after", &after)];
        iago.get("/messages", params).ok().await;
    }
    let huge: Params<'_> = &[("anchor", &0), ("num_before", &"99999999999999999999"), ("num_after", &0)];
    iago.get("/messages", huge).bad("Too many messages requested (maximum 5000).").await;
}

#[tokio::test]
async fn named_messages_stand_alone() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let names = "num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor";
    let refusal = json!({
        "msg": format!("Unsupported parameter combination: {names}"),
        "code": "BAD_REQUEST", "parameters": names,
    });
    for (name, value) in [
        ("anchor", "newest"),
        ("num_before", "1"),
        ("num_after", "0"),
        ("include_anchor", "false"),
        ("use_first_unread_anchor", "true"),
    ] {
        let params: Params<'_> = &[("message_ids", &"[1]"), (name, &value)];
        iago.get("/messages", params).refused(400, refusal.clone()).await;
    }
    let empty = iago.get("/messages", &[("message_ids", &"[]")]).ok().await;
    assert_eq!((&empty["messages"], empty.get("anchor")), (&json!([]), None));
    let unknown = json!([["sender", "nobody@zulip.com"]]);
    let params: Params<'_> = &[("message_ids", &"[1]"), ("narrow", &unknown)];
    iago.get("/messages", params).refused(400, bad_narrow("unknown user nobody@zulip.com")).await;
}

#[tokio::test]
async fn named_messages_are_filtered_by_a_narrow() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let open = iago.create_channel("Verona").await;
    let shared = iago.create_channel("Rome").with(&hamlet).await;
    let secret = iago.create_channel("secret").private().await;
    let foreign = iago.send(&open, "pens", "https://example.com").await;
    let own = iago.send(&shared, "pens", "https://example.com @**all**").await;
    let hidden = iago.send(&secret, "pens", "https://example.com").await;
    let dm = iago.send_direct(&[&hamlet], "x").await;
    let ids = json!([hidden, dm, own, foreign]);
    let found = |who: &Person, narrow: Value| {
        let (who, ids) = (who.clone(), ids.clone());
        async move {
            let body = who.get("/messages", &[("message_ids", &ids), ("narrow", &narrow)]).ok().await;
            crate::support::person::ids(body["messages"].as_array().unwrap())
        }
    };
    // Whatever may be read counts, not only what one was given.
    assert_eq!(found(&hamlet, json!([])).await, [foreign, own, dm]);
    assert_eq!(found(&hamlet, json!([["topic", "pens"]])).await, [foreign, own]);
    assert_eq!(found(&hamlet, json!([["has", "link"], ["sender", iago.email]])).await, [foreign, own]);
    assert_eq!(found(&hamlet, json!([["is", "dm"]])).await, [dm]);
    assert_eq!(found(&hamlet, json!([["channel", "secret"]])).await, [] as [u64; 0]);
    // What was never given to somebody is read, and mentions them by no wildcard.
    assert_eq!(found(&hamlet, json!([["is", "unread"]])).await, [own, dm]);
    let read = json!([{"operator": "is", "operand": "unread", "negated": true}]);
    assert_eq!(found(&hamlet, read).await, [foreign]);
    assert_eq!(found(&hamlet, json!([["is", "mentioned"]])).await, [own]);
}

#[tokio::test]
async fn the_anchor_alone() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let id = iago.send(&channel, "t", "x").await;
    // With nothing before or after it, the anchor is all that can be meant.
    for include in [true, false] {
        let params: Params<'_> = &[("anchor", &id), ("include_anchor", &include)];
        let body = iago.get("/messages", params).ok().await;
        assert_eq!(body["messages"][0]["id"], id);
        assert_eq!(
            ["found_anchor", "found_oldest", "found_newest"].map(|key| body[key].as_bool().unwrap()),
            [true, false, false]
        );
    }
    let none = iago.get("/messages", &[("anchor", &(id + 1000))]).ok().await;
    assert_eq!((&none["messages"], &none["anchor"]), (&json!([]), &json!(id + 1000)));
}
