//! `GET /messages/{id}`.

use super::{channel_message_keys, direct_message_keys};
use crate::support::shape::fields;
use crate::support::{TestServer, keys};
use serde_json::json;

#[tokio::test]
async fn fetch_one_channel_message() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    let id = iago.send(&channel, "", "a *b*").await;
    let path = format!("/messages/{id}");
    let body = hamlet.get(&path, &[]).ok().await;
    assert_eq!(fields(&body), ["message", "raw_content"]);
    assert_eq!(body["raw_content"], "a *b*");
    let message = &body["message"];
    assert_eq!(keys(message), channel_message_keys());
    assert_eq!(
        (&message["content"], &message["subject"]),
        (&json!("<p>a <em>b</em></p>"), &json!("general chat"))
    );
    assert_eq!(message["flags"], json!(["read", "historical"]));
    let body = hamlet.get(&path, &[("apply_markdown", &false), ("allow_empty_topic_name", &true)]).ok().await;
    assert_eq!(body["message"]["content"], "a *b*");
    assert_eq!(
        (&body["message"]["subject"], &body["message"]["content_type"]),
        (&json!(""), &json!("text/x-markdown"))
    );
}

#[tokio::test]
async fn fetch_one_direct_message() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = iago.send_direct(&[&hamlet], "psst").await;
    let body = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(keys(&body["message"]), direct_message_keys());
    assert_eq!(body["message"]["flags"], json!([]));
}

#[tokio::test]
async fn fetch_one_inaccessible_message() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius, cordelia] = t.users(["iago", "hamlet", "polonius", "cordelia"]);
    let secret = iago.create_channel("secret").private().await;
    let public = iago.create_channel("Verona").await;
    let hidden = iago.send(&secret, "t", "x").await;
    let dm = iago.send_direct(&[&hamlet], "psst").await;
    let open = iago.send(&public, "t", "x").await;
    let refused = "Invalid message(s)";
    for (who, id) in [
        (&hamlet, hidden),
        (&cordelia, dm),
        (&polonius, open),
        (&iago, 99_999),
        (&iago, 0),
        (&iago, u64::MAX),
    ] {
        who.get(&format!("/messages/{id}"), &[]).bad(refused).await;
    }
    hamlet.get(&format!("/messages/{open}"), &[]).ok().await;
    assert_eq!(t.anonymous().get(&format!("/messages/{open}"), &[]).await.status, 401);
}
