//! `GET /messages/{id}/history`: all versions, oldest first.

use crate::support::shape::words;
use crate::support::{Params, TestServer, TestUser, keys};
use serde_json::{Value, json};

async fn history(person: &TestUser, id: u64) -> Vec<Value> {
    let body = person.get(&format!("/messages/{id}/history"), &[]).ok().await;
    body["message_history"].as_array().expect("states").clone()
}

const FIRST: &str = "content rendered_content timestamp topic user_id";

#[tokio::test]
async fn edit_history_entries() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let venice = iago.create_channel("Venice").with(&hamlet).await;
    let id = hamlet.send(&verona, "", "one two").await;
    hamlet.edit(id, &[("content", &"one three")]).ok().await;
    iago.edit(id, &[("topic", &"lunch")]).ok().await;
    iago.edit(id, &[("stream_id", &venice.id)]).ok().await;
    let states = history(&hamlet, id).await;
    let with = |more: &str| words(&format!("{FIRST} {more}")).join(" ");
    let found: Vec<String> = states.iter().map(|state| keys(state).join(" ")).collect();
    let expected = [
        with(""),
        with("prev_content prev_rendered_content content_html_diff"),
        with("prev_topic"),
        with("prev_stream stream"),
    ];
    assert_eq!(found, expected);
    assert_eq!(states[0]["topic"], "general chat");
    assert_eq!((&states[0]["content"], &states[0]["user_id"]), (&json!("one two"), &json!(hamlet.id)));
    assert_eq!(
        states[1]["content_html_diff"],
        "<div><p>one <span class=\"highlight_text_deleted\">two</span><span class=\"highlight_text_inserted\">three</span></p></div>"
    );
    assert_eq!((&states[2]["prev_topic"], &states[2]["topic"]), (&json!("general chat"), &json!("lunch")));
    assert_eq!((&states[3]["prev_stream"], &states[3]["stream"]), (&json!(verona.id), &json!(venice.id)));
    assert_eq!(states[3]["user_id"], iago.id);
    let path = format!("/messages/{id}/history");
    let knowing = hamlet.get(&path, &[("allow_empty_topic_name", &true)]).ok().await;
    assert_eq!(knowing["message_history"][2]["prev_topic"], "");
}

#[tokio::test]
async fn edit_history_of_direct_and_unedited_messages() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = iago.send_direct(&[&hamlet], "x").await;
    let states = history(&hamlet, id).await;
    assert_eq!((states.len(), keys(&states[0])), (1, words(FIRST)));
    assert_eq!(states[0]["topic"], "");
}

#[tokio::test]
async fn edit_history_visibility_policy() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "t", "one").await;
    iago.edit(id, &[("content", &"two")]).ok().await;
    iago.edit(id, &[("topic", &"u")]).ok().await;
    let show = |word: &'static str| {
        let params: Params<'_> = &[("message_edit_history_visibility_policy", &word)];
        desdemona.patch("/realm", params)
    };
    show("moves").ok().await;
    let states = history(&hamlet, id).await;
    assert_eq!(states.len(), 2);
    assert_eq!(keys(&states[1]), words(&format!("{FIRST} prev_topic")));
    assert_eq!(states[0]["content"], "two", "what was said before is not shown");
    show("none").ok().await;
    let path = format!("/messages/{id}/history");
    for path in [path.as_str(), "/messages/99999/history"] {
        hamlet.get(path, &[]).bad("Message edit history is disabled in this organization").await;
    }
    let message = super::one(&hamlet, id).await;
    assert!(message.get("edit_history").is_none(), "{message}");
}

#[tokio::test]
async fn edit_history_of_inaccessible_message() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().await;
    let id = iago.send(&secret, "t", "x").await;
    hamlet.get(&format!("/messages/{id}/history"), &[]).bad("Invalid message(s)").await;
    hamlet.get("/messages/99999/history", &[]).bad("Invalid message(s)").await;
}
