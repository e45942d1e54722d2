//! `POST /realm/test_welcome_bot_custom_message`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::json;

const PATH: &str = "/realm/test_welcome_bot_custom_message";

#[tokio::test]
async fn test_welcome_message_is_sent_to_administrator() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut others = hamlet.register().events(&["message", "realm"]).await;
    let params: Params<'_> = &[("welcome_message_custom_text", &"Read **the** rules.")];
    let body = iago.post(PATH, params).ok().await;
    assert_eq!(fields(&body), ["message_id"]);
    let got = iago.messages(json!([["is", "dm"]])).await;
    let got = got.last().expect("a message");
    assert_eq!((&got["id"], &got["sender_full_name"]), (&body["message_id"], &json!("Welcome Bot")));
    assert_eq!(got["content"], "<p>Read <strong>the</strong> rules.</p>");
    let state = iago.register().modern().await.state;
    assert_eq!(state["realm_welcome_message_custom_text"], "", "nothing is changed by it");
    assert_eq!(others.now().await, [] as [serde_json::Value; 0]);
}

#[tokio::test]
async fn test_welcome_message_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let said = |text: &str| text.to_owned();
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.post(PATH, &[("welcome_message_custom_text", &"Hello!")]).refused(400, gate).await;
    for (text, msg) in [
        ("w".repeat(8001), "welcome_message_custom_text is too long (limit: 8000 characters)"),
        (said(" "), "Message must not be empty"),
    ] {
        iago.post(PATH, &[("welcome_message_custom_text", &text)]).bad(msg).await;
    }
    let missing = json!({
        "msg": "Missing 'welcome_message_custom_text' argument",
        "code": "REQUEST_VARIABLE_MISSING",
        "var_name": "welcome_message_custom_text"
    });
    iago.post(PATH, &[]).refused(400, missing).await;
}
