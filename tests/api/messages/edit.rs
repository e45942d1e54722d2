//! `PATCH /messages/{id}` with content: the message and everything derived from it.

use super::one;
use crate::support::shape::fields;
use crate::support::{TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

async fn flags(person: &TestUser, id: u64) -> Value {
    one(person, id).await["flags"].clone()
}

#[tokio::test]
async fn edit_content_renders_and_keeps_history() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "t", "one").await;
    assert!(one(&hamlet, id).await.get("edit_history").is_none());
    clock.advance_secs(600);
    let answer = iago.edit(id, &[("content", &"  *two*\n\n")]).ok().await;
    assert_eq!(answer["detached_uploads"], json!([]));
    assert_eq!(fields(&answer), ["detached_uploads"]);
    clock.advance_secs(20);
    iago.edit(id, &[("content", &"three")]).ok().await;
    let message = one(&hamlet, id).await;
    assert_eq!((&message["content"], &message["timestamp"]), (&json!("<p>three</p>"), &json!(1_900_000_000)));
    assert_eq!(message["last_edit_timestamp"], 1_900_000_620);
    assert!(message.get("last_moved_timestamp").is_none());
    let entry = |at: u64, prev: &str, html: &str| json!({"user_id": iago.id, "timestamp": at, "prev_content": prev, "prev_rendered_content": html});
    let first = entry(1_900_000_600, "one", "<p>one</p>");
    let second = entry(1_900_000_620, "  *two*", "<p><em>two</em></p>");
    assert_eq!(message["edit_history"], json!([second, first]));
}

#[tokio::test]
async fn edit_to_empty_content_is_deleted_message() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = iago.send_direct(&[&hamlet], "one").await;
    iago.edit(id, &[("content", &" \n ")]).ok().await;
    assert_eq!(one(&hamlet, id).await["content"], "<p>(deleted)</p>");
}

#[tokio::test]
async fn edit_updates_mention_flags() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "t", &format!("@**{}**", hamlet.full_name)).await;
    assert_eq!(flags(&hamlet, id).await, json!(["mentioned"]));
    hamlet.flag("add", "read", &[id]).await;
    iago.edit(id, &[("content", &"no mention")]).ok().await;
    assert_eq!(flags(&hamlet, id).await, json!(["read"]));
    let both = format!("@**{}** @**{}**", hamlet.full_name, cordelia.full_name);
    iago.edit(id, &[("content", &both)]).ok().await;
    assert_eq!(flags(&hamlet, id).await, json!(["read", "mentioned"]));
    assert_eq!(
        flags(&cordelia, id).await,
        json!(["read", "historical"]),
        "an edit delivers the message to no further user"
    );
    iago.edit(id, &[("content", &"@**all**")]).ok().await;
    let expected = json!(["read", "stream_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&hamlet, id).await, expected);
}

#[tokio::test]
async fn edit_topic_wildcard_mentions_reactors() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let id = iago.send(&verona, "t", "x").await;
    hamlet.post(&format!("/messages/{id}/reactions"), &[("emoji_name", &"heart")]).ok().await;
    iago.edit(id, &[("content", &"@**topic**")]).ok().await;
    assert_eq!(flags(&hamlet, id).await, json!(["topic_wildcard_mentioned", "wildcard_mentioned"]));
    assert_eq!(flags(&cordelia, id).await, json!([]));
}

#[tokio::test]
async fn edit_updates_alert_word_flags() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    hamlet.post("/users/me/alert_words", &[("alert_words", &json!(["cake"]))]).ok().await;
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "t", "there is Cake").await;
    assert_eq!(flags(&hamlet, id).await, json!(["has_alert_word"]));
    iago.edit(id, &[("content", &"there is none")]).ok().await;
    assert_eq!(flags(&hamlet, id).await, json!([]));
}

#[tokio::test]
async fn edit_updates_narrow_matches() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "t", "https://example.org").await;
    let with_link = json!([["channel", "Verona"], ["has", "link"]]);
    assert_eq!(iago.message_ids(with_link.clone()).await, [id]);
    iago.edit(id, &[("content", &"plain")]).ok().await;
    assert!(iago.message_ids(with_link).await.is_empty());
}

#[tokio::test]
async fn edit_prev_content_sha256_mismatch() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "t", "hi").await;
    // The SHA-256 digest of `hi`; upper case is accepted.
    let digest = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    iago.edit(id, &[("topic", &"u"), ("prev_content_sha256", &digest.to_uppercase())]).ok().await;
    let mismatch = json!({
        "msg": "'prev_content_sha256' value does not match the expected value.",
        "code": "EXPECTATION_MISMATCH", "field_name": "prev_content_sha256",
    });
    let stale = "0".repeat(64);
    iago.edit(id, &[("content", &"x"), ("prev_content_sha256", &stale)]).refused(400, mismatch).await;
    iago.edit(id, &[("content", &"x"), ("prev_content_sha256", &digest)]).ok().await;
}
