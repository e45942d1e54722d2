//! `POST /mark_all_as_read`, `/mark_stream_as_read` and `/mark_topic_as_read`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn mark_topic_channel_and_all_as_read() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let other = iago.create_channel("Rome").with(&hamlet).await;
    let pens = iago.send(&channel, "pens", "x").await;
    let ink = iago.send(&channel, "ink", "x").await;
    let rome = iago.send(&other, "pens", "x").await;
    let dm = iago.send_direct(&[&hamlet], "x").await;
    let unread = || async {
        let all = hamlet.message_ids(json!([["is", "unread"]])).await;
        all.into_iter().filter(|id| [pens, ink, rome, dm].contains(id)).collect::<Vec<_>>()
    };
    assert_eq!(unread().await, [pens, ink, rome, dm]);
    let mut queue = hamlet.register().events(&["update_message_flags"]).await;
    let topic: Params<'_> = &[("stream_id", &channel.id), ("topic_name", &"PENS")];
    assert_eq!(fields(&hamlet.post("/mark_topic_as_read", topic).ok().await), [] as [&str; 0]);
    assert_eq!(unread().await, [ink, rome, dm]);
    assert_eq!(queue.next().await["messages"], json!([pens]));
    let body = hamlet.post("/mark_stream_as_read", &[("stream_id", &channel.id)]).ok().await;
    assert_eq!(fields(&body), [] as [&str; 0]);
    assert_eq!(unread().await, [rome, dm]);
    let body = hamlet.post("/mark_all_as_read", &[]).ok().await;
    assert_eq!((fields(&body), &body["complete"]), (vec!["complete"], &json!(true)));
    assert_eq!(unread().await, [] as [u64; 0]);
}

#[tokio::test]
async fn mark_read_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().await;
    let open = iago.create_channel("Verona").with(&hamlet).await;
    for id in [secret.id, 999] {
        hamlet.post("/mark_stream_as_read", &[("stream_id", &id)]).bad("Invalid channel ID").await;
        let topic: Params<'_> = &[("stream_id", &id), ("topic_name", &"t")];
        hamlet.post("/mark_topic_as_read", topic).bad("Invalid channel ID").await;
    }
    let topic: Params<'_> = &[("stream_id", &open.id), ("topic_name", &"nothing")];
    hamlet.post("/mark_topic_as_read", topic).bad("No such topic 'nothing'").await;
}
