//! `/realm/linkifiers` and `/realm/filters`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const LIST: &str = "/realm/linkifiers";
const PATH: &str = "/realm/filters";

async fn listed(who: &TestUser) -> Value {
    who.get(LIST, &[]).ok().await["linkifiers"].clone()
}

async fn add(who: &TestUser, pattern: &str, url_template: &str) -> u64 {
    let added = who.post(PATH, &[("pattern", &pattern), ("url_template", &url_template)]).ok().await;
    added["id"].as_u64().expect("an id")
}

const TICKET: (&str, &str) = ("#(?P<id>[0-9]+)", "https://t.example/{id}");
const COMMIT: (&str, &str) = ("(?P<repo>[a-z]+)@(?P<hash>[0-9a-f]{7})", "https://c.example/{repo}/{hash}");

#[tokio::test]
async fn linkifier_lifecycle() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    assert_eq!(listed(&polonius).await, json!([]));
    assert_eq!(add(&iago, TICKET.0, TICKET.1).await, 1);
    assert_eq!(add(&iago, COMMIT.0, COMMIT.1).await, 2);
    let ticket = json!({"id": 1, "pattern": TICKET.0, "url_template": TICKET.1});
    let commit = json!({"id": 2, "pattern": COMMIT.0, "url_template": COMMIT.1});
    assert_eq!(listed(&polonius).await, json!([ticket, commit]));
    iago.patch(LIST, &[("ordered_linkifier_ids", &json!([2, 1]))]).ok().await;
    assert_eq!(iago.register().modern().await.state["realm_linkifiers"], json!([commit, ticket]));
    // Clients without URL template support get an empty list.
    assert_eq!(iago.register().await.state["realm_linkifiers"], json!([]));
    let changed: Params<'_> = &[("pattern", &TICKET.0), ("url_template", &"https://new.example/{id}")];
    iago.patch(&format!("{PATH}/1"), changed).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let iago = t.user("iago");
    assert_eq!(listed(&iago).await[1]["url_template"], "https://new.example/{id}");
    iago.delete(&format!("{PATH}/2"), &[]).ok().await;
    iago.delete(&format!("{PATH}/1"), &[]).ok().await;
    assert_eq!(listed(&iago).await, json!([]));
    assert_eq!(add(&iago, TICKET.0, TICKET.1).await, 3, "ids are never given out again");
}

#[tokio::test]
async fn linkifiers_apply_to_messages_and_topics() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").await;
    let before = hamlet.send(&channel, "fix #12", "see #12").await;
    add(&iago, TICKET.0, TICKET.1).await;
    let after = hamlet.send(&channel, "fix #13", "see #13, not x#14").await;
    let messages = hamlet.messages(json!([])).await;
    let message = |id: u64| messages.iter().find(|message| message["id"] == id).expect("a message");
    assert_eq!(message(before)["content"], "<p>see #12</p>");
    assert_eq!(message(before)["topic_links"], json!([]));
    assert_eq!(message(after)["content"], "<p>see <a href=\"https://t.example/13\">#13</a>, not x#14</p>");
    assert_eq!(message(after)["topic_links"], json!([{"text": "#13", "url": "https://t.example/13"}]));
    let rendered = hamlet.post("/messages/render", &[("content", &"#7")]).ok().await;
    assert_eq!(rendered["rendered"], "<p><a href=\"https://t.example/7\">#7</a></p>");
    // An updated or deleted linkifier applies at once.
    let other: Params<'_> = &[("pattern", &TICKET.0), ("url_template", &"https://new.example/{id}")];
    iago.patch(&format!("{PATH}/1"), other).ok().await;
    let rendered = hamlet.post("/messages/render", &[("content", &"#7")]).ok().await;
    assert_eq!(rendered["rendered"], "<p><a href=\"https://new.example/7\">#7</a></p>");
    iago.delete(&format!("{PATH}/1"), &[]).ok().await;
    hamlet.edit(after, &[("content", &"still #13")]).ok().await;
    let messages = hamlet.messages(json!([])).await;
    assert_eq!(messages.last().unwrap()["content"], "<p>still #13</p>");
}

#[tokio::test]
async fn linkifier_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    add(&iago, TICKET.0, TICKET.1).await;
    let cases: [(&str, &str, &str, &str); 8] = [
        ("", TICKET.1, "pattern", "This field cannot be blank."),
        ("y(?P<id>.)", "", "url_template", "This field cannot be blank."),
        ("(foo", TICKET.1, "pattern", "Bad regular expression: missing ): (foo"),
        ("a[b", TICKET.1, "pattern", "Bad regular expression: missing ]: [b"),
        ("y(?P<id>.)", "https://t.example/{id", "url_template", "Invalid URL template."),
        ("y", TICKET.1, "__all__", "Group 'id' in URL template is not present in linkifier pattern."),
        (
            "y(?P<id>.)(?P<more>.)",
            TICKET.1,
            "__all__",
            "Group 'more' in linkifier pattern is not present in URL template.",
        ),
        (TICKET.0, TICKET.1, "__all__", "Realm filter with this Realm and Pattern already exists."),
    ];
    let second = add(&iago, COMMIT.0, COMMIT.1).await;
    for (pattern, url_template, field, msg) in cases {
        let body = json!({"msg": msg, "code": "BAD_REQUEST", "errors": {field: [msg]}});
        let params: Params<'_> = &[("pattern", &pattern), ("url_template", &url_template)];
        iago.post(PATH, params).refused(400, body.clone()).await;
        iago.patch(&format!("{PATH}/{second}"), params).refused(400, body).await;
    }
    let params: Params<'_> = &[("pattern", &TICKET.0), ("url_template", &TICKET.1)];
    iago.patch(&format!("{PATH}/7"), params).bad("Linkifier not found.").await;
    iago.delete(&format!("{PATH}/7"), &[]).bad("Linkifier not found.").await;
    let incomplete = "The ordered list must enumerate all existing linkifiers exactly once";
    for order in [json!([]), json!([1]), json!([1, 1]), json!([1, 2, 3]), json!([1, 2, 2])] {
        iago.patch(LIST, &[("ordered_linkifier_ids", &order)]).bad(incomplete).await;
    }
    assert_eq!(listed(&iago).await.as_array().unwrap().len(), 2);
}
