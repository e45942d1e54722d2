//! `POST /messages/render`: renders Markdown without any effect.

use crate::support::TestServer;
use crate::support::shape::fields;
use serde_json::json;

#[tokio::test]
async fn render_does_not_send() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let newest = iago.get("/users/me", &[]).ok().await["max_message_id"].clone();
    let content = "**bold** *it* ~~no~~ `code` :smile: #**Verona** @**Iago**\nnext";
    let body = iago.post("/messages/render", &[("content", &content)]).ok().await;
    assert_eq!(fields(&body), ["rendered"]);
    let html = body["rendered"].as_str().unwrap();
    for part in [
        "<strong>bold</strong>",
        "<em>it</em>",
        "<del>no</del>",
        "<code>code</code>",
        "emoji-1f604",
        &format!("data-stream-id=\"{}\"", channel.id),
        &format!("data-user-id=\"{}\"", iago.id),
        "<br>\nnext",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert_eq!(iago.get("/users/me", &[]).ok().await["max_message_id"], newest);
}

#[tokio::test]
async fn render_escapes_html() {
    let t = TestServer::start().await;
    let content = "<script>alert(1)</script> [x](javascript:alert(1))";
    let body = t.user("iago").post("/messages/render", &[("content", &content)]).ok().await;
    let html = body["rendered"].as_str().unwrap();
    assert!(!html.contains("<script") && !html.contains("href=\"javascript"), "{html}");
}

#[tokio::test]
async fn render_requires_content() {
    let t = TestServer::start().await;
    let missing = json!({
        "msg": "Missing 'content' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "content"
    });
    t.user("iago").post("/messages/render", &[]).refused(400, missing).await;
}
