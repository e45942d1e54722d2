//! `GET /messages`: the order of checks, and combinations of parameters.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

fn bad_narrow(desc: &str) -> Value {
    json!({"msg": format!("Invalid narrow operator: {desc}"), "code": "BAD_NARROW", "desc": desc})
}

#[tokio::test]
async fn fetch_reports_first_parameter_error() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let ask = |params: Params<'_>| iago.get("/messages", params);
    let (bad_with, unknown) = (json!([["with", "x"]]), json!([["channel", "Nowhere"]]));
    // Checked in this order: anchor, `with`, counts, `include_anchor`, the other terms of the narrow.
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
    // Formats are checked before anything else.
    let form: Params<'_> = &[("num_before", &1), ("narrow", &"[5]")];
    ask(form).bad("Invalid narrow[0]: Value error, dict or list required").await;
}

#[tokio::test]
async fn fetch_limit_of_5000_messages() {
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
async fn fetch_message_ids_excludes_anchor_parameters() {
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
async fn fetch_message_ids_with_narrow() {
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
    let found = |who: &TestUser, narrow: Value| {
        let (who, ids) = (who.clone(), ids.clone());
        async move {
            let body = who.get("/messages", &[("message_ids", &ids), ("narrow", &narrow)]).ok().await;
            crate::support::user::ids(body["messages"].as_array().unwrap())
        }
    };
    // All accessible messages count, not only those with a row of the user's.
    assert_eq!(found(&hamlet, json!([])).await, [foreign, own, dm]);
    assert_eq!(found(&hamlet, json!([["topic", "pens"]])).await, [foreign, own]);
    assert_eq!(found(&hamlet, json!([["has", "link"], ["sender", iago.email]])).await, [foreign, own]);
    assert_eq!(found(&hamlet, json!([["is", "dm"]])).await, [dm]);
    let hidden_channel: Params<'_> = &[("message_ids", &ids), ("narrow", &json!([["channel", "secret"]]))];
    let refused = hamlet.get("/messages", hidden_channel).await;
    assert_eq!(refused.body["msg"], "Invalid narrow operator: unknown channel secret");
    // A message without a row is read and has no mention flags.
    assert_eq!(found(&hamlet, json!([["is", "unread"]])).await, [own, dm]);
    let read = json!([{"operator": "is", "operand": "unread", "negated": true}]);
    assert_eq!(found(&hamlet, read).await, [foreign]);
    assert_eq!(found(&hamlet, json!([["is", "mentioned"]])).await, [own]);
}

#[tokio::test]
async fn fetch_anchor_only() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let id = iago.send(&channel, "t", "x").await;
    // Without messages before and after it, the anchor itself is required.
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
