//! `GET /messages`: formats of narrows and operands, and their errors (docs/api/narrow.md#operators).

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn found(who: &TestUser, narrow: Value, known: &[u64]) -> Vec<u64> {
    who.message_ids(narrow).await.into_iter().filter(|id| known.contains(id)).collect()
}

fn not(operator: &str, operand: Value) -> Value {
    json!([{"operator": operator, "operand": operand, "negated": true}])
}

#[tokio::test]
async fn narrow_empty_topic_aliases() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let (empty, named) = (iago.send(&verona, "", "x").await, iago.send(&verona, "named", "x").await);
    let known = [empty, named];
    for name in ["", "general chat", "(no topic)", "  "] {
        assert_eq!(found(&iago, json!([["channel", "Verona"], ["topic", name]]), &known).await, [empty]);
        assert_eq!(found(&iago, not("topic", json!(name)), &known).await, [named]);
    }
    let narrow = json!([["id", empty.to_string()]]);
    for (allow, shown) in [("false", "general chat"), ("true", "")] {
        let params: Params<'_> = &[
            ("anchor", &"newest"),
            ("num_before", &1),
            ("narrow", &narrow),
            ("allow_empty_topic_name", &allow),
        ];
        let body = iago.get("/messages", params).ok().await;
        assert_eq!(body["messages"][0]["subject"], shown);
    }
    // Direct messages have no topic, so they do not match.
    let dm = iago.send_direct(&[&iago], "x").await;
    assert_eq!(iago.messages(json!([["id", dm.to_string()]])).await[0]["subject"], "");
}

#[tokio::test]
async fn narrow_names_and_ids_are_equivalent() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let (sent, dm) = (iago.send(&verona, "t", "x").await, iago.send_direct(&[&hamlet], "x").await);
    let known = [sent, dm];
    let by_iago = &known[..];
    for (operator, forms, expected) in [
        ("channel", [json!(verona.id), json!("VERONA")], &known[..1]),
        ("stream", [json!(verona.id), json!(" Verona ")], &known[..1]),
        ("sender", [json!(iago.id), json!(iago.api_email.to_uppercase())], by_iago),
        ("dm-including", [json!(iago.id), json!(iago.api_email)], &known[1..]),
        ("dm", [json!([iago.id]), json!(iago.api_email)], &known[1..]),
        (
            "dm",
            [
                json!([hamlet.id, iago.id, iago.id]),
                json!(format!("{}, {}", iago.api_email, hamlet.api_email)),
            ],
            &known[1..],
        ),
        ("group-pm-with", [json!(iago.id), json!(iago.api_email)], &[]),
        ("group_pm_with", [json!(iago.id), json!(iago.api_email)], &[]),
        ("id", [json!(dm), json!(dm.to_string())], &known[1..]),
        ("near", [json!(1), json!("1")], &known[..]),
    ] {
        let rest: Vec<u64> = known.iter().copied().filter(|id| !expected.contains(id)).collect();
        for form in forms {
            let narrow = json!([{"operator": operator, "operand": form, "negated": false}]);
            assert_eq!(found(&hamlet, narrow.clone(), &known).await, expected, "{narrow}");
            let rest = if operator == "near" { &known[..] } else { &rest };
            assert_eq!(found(&hamlet, not(operator, form), &known).await, rest, "not {narrow}");
        }
    }
    assert_eq!(found(&hamlet, json!(null), &known).await, known);
    let anonymous = json!([{"operator": "dm", "operand": [t.user("othello").id]}]);
    assert_eq!(found(&hamlet, anonymous, &known).await, [] as [u64; 0]);
}

#[tokio::test]
async fn narrow_has_operators() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    hamlet.post("/users/me/alert_words", &[("alert_words", &"[\"banana\"]")]).ok().await;
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let plain = iago.send(&verona, "t", "plain").await;
    let link = iago.send(&verona, "t", "https://example.com").await;
    let image = iago.send(&verona, "t", "https://example.com/a.png").await;
    let fruit = iago.send(&verona, "t", "a banana").await;
    let known = [plain, link, image, fruit];
    iago.post(&format!("/messages/{plain}/reactions"), &[("emoji_name", &"heart")]).ok().await;
    for (operator, operand, expected) in [
        ("has", "link", vec![link, image]),
        ("has", "image", vec![image]),
        ("has", "attachment", vec![]),
        ("has", "reaction", vec![plain]),
        ("is", "alerted", vec![fruit]),
        ("is", "unread", known.to_vec()),
    ] {
        assert_eq!(
            found(&hamlet, json!([[operator, operand]]), &known).await,
            expected,
            "{operator}:{operand}"
        );
        let rest: Vec<u64> = known.iter().copied().filter(|id| !expected.contains(id)).collect();
        assert_eq!(
            found(&hamlet, not(operator, json!(operand)), &known).await,
            rest,
            "-{operator}:{operand}"
        );
    }
    iago.delete(&format!("/messages/{plain}/reactions"), &[("emoji_name", &"heart")]).ok().await;
    assert_eq!(found(&hamlet, json!([["has", "reaction"]]), &known).await, [] as [u64; 0]);
    iago.edit(plain, &[("content", &"now https://example.com and a Banana")]).ok().await;
    assert_eq!(found(&hamlet, json!([["has", "link"]]), &known).await, [plain, link, image]);
    assert_eq!(found(&hamlet, json!([["is", "alerted"]]), &known).await, [plain, fruit]);
}

#[tokio::test]
async fn narrow_form_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for (narrow, msg) in [
        (json!({}), "narrow is not a list"),
        (json!("is:dm"), "narrow is not a list"),
        (json!([["is"]]), "Invalid narrow[0]: Value error, element is not a string pair"),
        (json!([["id", 5]]), "Invalid narrow[0]: Value error, element is not a string pair"),
        (json!([["is", "dm"], {"operator": "is"}]), "Invalid narrow[1]: Value error, operand is missing"),
        (json!([{"operand": "is"}]), "Invalid narrow[0]: Value error, operator is missing"),
        (json!([{"operator": "channel", "operand": [1]}]), "operand is not a string or integer"),
        (json!([{"operator": "id", "operand": true}]), "operand is not a string or integer"),
        (json!([{"operator": "sender", "operand": 1.5}]), "operand is not a string or integer"),
        (json!([{"operator": "with", "operand": {}}]), "operand is not a string or integer"),
        (json!([{"operator": "group-pm-with", "operand": [1]}]), "operand is not a string or integer"),
        (json!([{"operator": "dm-including", "operand": [1]}]), "operand is not a string or integer"),
        (json!([{"operator": "dm", "operand": 1}]), "operand is not a string or an integer list"),
        (json!([{"operator": "pm-with", "operand": ["x"]}]), "operand is not a string or an integer list"),
        (json!([{"operator": "topic", "operand": 1}]), "operand is not a string"),
        (json!([{"operator": "is", "operand": 1}]), "operand is not a string"),
        (json!([{"operator": "search", "operand": " "}]), "operand cannot be blank."),
        (json!([{"operator": "is", "operand": "dm", "negated": "no"}]), "negated is not a boolean"),
    ] {
        let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("narrow", &narrow)];
        iago.get("/messages", params).bad(msg).await;
    }
    let not_json: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("narrow", &"is:dm")];
    iago.get("/messages", not_json).bad("narrow is not valid JSON").await;
}

#[tokio::test]
async fn narrow_channel_and_dm_is_error() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let desc = "No message can be both a channel message and direct message";
    let refusal = json!({
        "msg": format!("Invalid narrow operator combination: {desc}"), "code": "BAD_NARROW", "desc": desc
    });
    let term = |operator: &str, operand: Value, negated: bool| json!({"operator": operator, "operand": operand, "negated": negated});
    let channels = [("channel", json!("Verona")), ("topic", json!("t")), ("channels", json!("public"))];
    let directs = [
        ("dm", json!([iago.id])),
        ("is", json!("dm")),
        ("is", json!("private")),
        ("dm-including", json!(iago.id)),
        ("group-pm-with", json!(iago.id)),
    ];
    for (index, (channel, name)) in channels.iter().enumerate() {
        for (direct, people) in &directs {
            let narrow =
                json!([term(channel, name.clone(), index == 1), term(direct, people.clone(), index == 2)]);
            let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &1), ("narrow", &narrow)];
            iago.get("/messages", params).refused(400, refusal.clone()).await;
        }
    }
}
