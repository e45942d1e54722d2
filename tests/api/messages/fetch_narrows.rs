//! `GET /messages`: the messages that each narrow finds, and operand errors.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

struct Stage {
    t: TestServer,
    iago: TestUser,
    hamlet: TestUser,
    /// The ids of the messages, by a short name.
    ids: std::collections::BTreeMap<&'static str, u64>,
}

async fn stage() -> Stage {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let rome = iago.create_channel("Rome").await;
    let ids = std::collections::BTreeMap::from([
        ("pens", iago.send(&verona, "pens", "no link").await),
        ("pens2", hamlet.send(&verona, "Pens", "https://example.com/x").await),
        ("done", iago.send(&verona, "✔ pens", "done").await),
        ("mention", cordelia.send(&verona, "other", "hi @**King Hamlet**").await),
        ("all", cordelia.send(&verona, "other", "hi @**all**").await),
        ("rome", iago.send(&rome, "pens", "veni").await),
        ("dm", iago.send_direct(&[&hamlet], "psst").await),
        ("group", iago.send_direct(&[&hamlet, &cordelia], "psst all").await),
        ("self", hamlet.send_direct(&[&hamlet], "note").await),
    ]);
    Stage { t, iago, hamlet, ids }
}

impl Stage {
    async fn finds(&self, who: &TestUser, narrow: Value, names: &[&str]) {
        let mut expected: Vec<u64> = names.iter().map(|name| self.ids[name]).collect();
        expected.sort_unstable();
        let known: Vec<u64> = self.ids.values().copied().collect();
        let found = who.message_ids(narrow.clone()).await;
        let found: Vec<u64> = found.into_iter().filter(|id| known.contains(id)).collect();
        assert_eq!(found, expected, "{narrow}");
    }
}

#[tokio::test]
async fn narrow_channel_and_topic() {
    let s = stage().await;
    let verona = ["pens", "pens2", "done", "mention", "all"];
    s.finds(&s.hamlet, json!([["stream", "Verona"]]), &verona).await;
    s.finds(&s.hamlet, json!([{"operator": "channel", "operand": "verona"}]), &verona).await;
    s.finds(&s.hamlet, json!([["channel", "Verona"], ["topic", "PENS"]]), &["pens", "pens2"]).await;
    let not = json!([["channel", "Verona"], {"operator": "topic", "operand": "pens", "negated": true}]);
    s.finds(&s.hamlet, not, &["done", "mention", "all"]).await;
    // Without a channel term, only the user's own messages are searched.
    s.finds(&s.hamlet, json!([["topic", "pens"]]), &["pens", "pens2"]).await;
    s.finds(&s.hamlet, json!([["channel", "Rome"]]), &["rome"]).await;
    s.finds(&s.hamlet, json!([["channels", "public"], ["topic", "pens"]]), &["pens", "pens2", "rome"]).await;
    s.finds(
        &s.hamlet,
        json!([["streams", "public"], ["sender", s.iago.api_email]]),
        &["pens", "done", "rome"],
    )
    .await;
    s.finds(&s.hamlet, json!([]), &["pens", "pens2", "done", "mention", "all", "dm", "group", "self"]).await;
    s.finds(&s.hamlet, json!([["channel", "Verona"], ["channel", "Rome"]]), &[]).await;
}

#[tokio::test]
async fn narrow_direct_messages() {
    let s = stage().await;
    let (iago, hamlet) = (&s.iago, &s.hamlet);
    let cordelia = s.t.user("cordelia");
    for operator in ["dm", "pm-with", "pm_with"] {
        s.finds(hamlet, json!([[operator, iago.api_email]]), &["dm"]).await;
    }
    s.finds(hamlet, json!([{"operator": "dm", "operand": [iago.id]}]), &["dm"]).await;
    let both = format!("{},{}", iago.api_email, cordelia.api_email);
    s.finds(hamlet, json!([["dm", both]]), &["group"]).await;
    s.finds(hamlet, json!([{"operator": "dm", "operand": [cordelia.id, iago.id]}]), &["group"]).await;
    s.finds(hamlet, json!([{"operator": "dm", "operand": [hamlet.id]}]), &["self"]).await;
    s.finds(hamlet, json!([{"operator": "dm-including", "operand": iago.id}]), &["dm", "group"]).await;
    s.finds(hamlet, json!([["dm-including", cordelia.api_email]]), &["group"]).await;
    s.finds(hamlet, json!([{"operator": "group-pm-with", "operand": iago.id}]), &["group"]).await;
    for operand in ["dm", "private"] {
        s.finds(hamlet, json!([["is", operand]]), &["dm", "group", "self"]).await;
    }
    s.finds(&cordelia, json!([["is", "dm"]]), &["group"]).await;
}

#[tokio::test]
async fn narrow_sender_id_and_is() {
    let s = stage().await;
    let (iago, hamlet) = (&s.iago, &s.hamlet);
    s.finds(hamlet, json!([["sender", hamlet.api_email]]), &["pens2", "self"]).await;
    s.finds(hamlet, json!([{"operator": "sender", "operand": iago.id}]), &["pens", "done", "dm", "group"])
        .await;
    s.finds(hamlet, json!([["id", s.ids["dm"].to_string()]]), &["dm"]).await;
    s.finds(hamlet, json!([{"operator": "id", "operand": s.ids["rome"]}]), &[]).await;
    s.finds(hamlet, json!([["is", "mentioned"]]), &["mention", "all"]).await;
    s.finds(hamlet, json!([["is", "resolved"]]), &["done"]).await;
    s.finds(hamlet, json!([["has", "link"]]), &["pens2"]).await;
    s.finds(hamlet, json!([["near", "5"], ["is", "resolved"]]), &["done"]).await;
    hamlet.flag("add", "starred", &[s.ids["dm"], s.ids["pens"]]).await;
    s.finds(hamlet, json!([["is", "starred"]]), &["dm", "pens"]).await;
    s.finds(iago, json!([["is", "starred"]]), &[]).await;
    hamlet.flag("add", "read", &[s.ids["dm"]]).await;
    s.finds(hamlet, json!([["is", "unread"], ["is", "dm"]]), &["group", "self"]).await;
    // The author of a topic's first message follows it, as does a user mentioned in it.
    s.finds(hamlet, json!([["is", "followed"]]), &["mention", "all"]).await;
    s.finds(iago, json!([["is", "followed"], ["channel", "Verona"]]), &["pens", "pens2", "done"]).await;
}

#[tokio::test]
async fn narrow_with_message() {
    let s = stage().await;
    let id = s.ids["pens"];
    s.finds(&s.hamlet, json!([["with", id.to_string()]]), &["pens", "pens2"]).await;
    let moved = json!([["channel", "Rome"], ["topic", "x"], {"operator": "with", "operand": id}]);
    s.finds(&s.hamlet, moved, &["pens", "pens2"]).await;
    s.finds(&s.hamlet, json!([{"operator": "with", "operand": s.ids["dm"]}]), &["dm"]).await;
}

#[tokio::test]
async fn narrow_operand_errors() {
    let s = stage().await;
    let bad = |desc: &str| json!({"msg": format!("Invalid narrow operator: {desc}"), "code": "BAD_NARROW", "desc": desc});
    for (narrow, desc) in [
        (json!([["channel", "Nowhere"]]), "unknown channel Nowhere"),
        (json!([{"operator": "channel", "operand": 999}]), "unknown channel 999"),
        (json!([["sender", "nobody@zulip.com"]]), "unknown user nobody@zulip.com"),
        (json!([["dm", "nobody@zulip.com"]]), "unknown user in nobody@zulip.com"),
        (json!([["dm-including", "nobody@zulip.com"]]), "unknown user nobody@zulip.com"),
        (json!([["is", "purple"]]), "unknown 'is' operand purple"),
        (json!([["has", "soul"]]), "unknown 'has' operand soul"),
        (json!([["in", "rage"]]), "unknown 'in' operand rage"),
        (json!([["channels", "secret"]]), "unknown channels operand secret"),
        (json!([["flavour", "sour"]]), "unknown operator flavour"),
        (json!([["id", "abc"]]), "Invalid message ID"),
        (json!([["with", "abc"]]), "Invalid 'with' operator"),
        (json!([["with", "1"], ["with", "2"]]), "Duplicate 'with' operators."),
    ] {
        let params: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &2), ("num_after", &0), ("narrow", &narrow)];
        s.hamlet.get("/messages", params).refused(400, bad(desc)).await;
    }
    let desc = "No message can be both a channel message and direct message";
    let refusal = json!({
        "msg": format!("Invalid narrow operator combination: {desc}"), "code": "BAD_NARROW", "desc": desc
    });
    let narrow = json!([["channel", "Verona"], ["is", "dm"]]);
    let params: Params<'_> =
        &[("anchor", &"newest"), ("num_before", &2), ("num_after", &0), ("narrow", &narrow)];
    s.hamlet.get("/messages", params).refused(400, refusal).await;
}

#[tokio::test]
async fn narrow_format_errors() {
    let s = stage().await;
    for narrow in ["\"stream\"", "{}", "[5]", "[[\"stream\"]]", "[[\"a\",\"b\",\"c\"]]", "not json"] {
        let params: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &2), ("num_after", &0), ("narrow", &narrow)];
        let answer = s.hamlet.get("/messages", params).await;
        assert_eq!((answer.status, &answer.body["result"]), (400, &json!("error")), "{narrow}: {answer:?}");
    }
    let blank = json!([{"operator": "search", "operand": ""}]);
    let params: Params<'_> =
        &[("anchor", &"newest"), ("num_before", &2), ("num_after", &0), ("narrow", &blank)];
    s.hamlet.get("/messages", params).bad("operand cannot be blank.").await;
}
