//! `POST` and `DELETE /default_streams`.

use crate::support::people::add;
use crate::support::{Params, TestServer};
use model::Role;
use serde_json::json;

#[tokio::test]
async fn default_streams_subscribe_new_users() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").await;
    let stream: Params<'_> = &[("stream_id", &channel.id)];
    let is_default = || async {
        let body = hamlet.get("/streams", &[("include_default", &true)]).ok().await;
        body["streams"][0]["is_default"].clone()
    };
    // Adding or removing twice is no error.
    for _ in 0..2 {
        iago.post("/default_streams", stream).ok().await;
        assert_eq!(is_default().await, json!(true));
    }
    let id = add(t.realm(), "first", "First", Role::Member, None).await;
    add(t.realm(), "visitor", "Visitor", Role::Guest, None).await;
    let members = hamlet.get(&format!("/streams/{}/members", channel.id), &[]).ok().await;
    assert_eq!(members["subscribers"], json!([hamlet.id, id]));
    for _ in 0..2 {
        iago.delete("/default_streams", stream).ok().await;
        assert_eq!(is_default().await, json!(false));
    }
    add(t.realm(), "second", "Second", Role::Member, None).await;
    let members = hamlet.get(&format!("/streams/{}/members", channel.id), &[]).ok().await;
    assert_eq!(members["subscribers"], json!([hamlet.id, id]));
}

#[tokio::test]
async fn default_streams_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let secret = iago.create_channel("secret").private().await;
    let stream: Params<'_> = &[("stream_id", &secret.id)];
    let administrators = json!({
        "msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"
    });
    for who in [&hamlet, &polonius] {
        who.post("/default_streams", stream).refused(400, administrators.clone()).await;
        who.delete("/default_streams", stream).refused(400, administrators.clone()).await;
    }
    iago.post("/default_streams", stream).bad("Private channels cannot be made default.").await;
    iago.post("/default_streams", &[("stream_id", &999)]).bad("Invalid channel ID").await;
    iago.delete("/default_streams", &[("stream_id", &999)]).bad("Invalid channel ID").await;
    let missing = json!({
        "msg": "Missing 'stream_id' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "stream_id"
    });
    iago.post("/default_streams", &[]).refused(400, missing).await;
    // A default channel cannot be made private.
    let open = iago.create_channel("open").await;
    iago.post("/default_streams", &[("stream_id", &open.id)]).ok().await;
    let path = format!("/streams/{}", open.id);
    let close = iago.call(reqwest::Method::PATCH, &path, &[("is_private", &true)]);
    close.bad("A default channel cannot be private.").await;
}

#[tokio::test]
async fn default_streams_concurrent_changes() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut channels = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        channels.push(iago.create_channel(name).await);
    }
    let add = channels.iter().map(|channel| {
        let iago = iago.clone();
        async move { iago.post("/default_streams", &[("stream_id", &channel.id)]).ok().await }
    });
    futures_util::future::join_all(add).await;
    let body = iago.get("/streams", &[("include_default", &true)]).ok().await;
    let streams = body["streams"].as_array().expect("channels");
    let defaults = streams.iter().filter(|stream| stream["is_default"] == json!(true)).count();
    assert_eq!((defaults, streams.len()), (channels.len(), channels.len()), "{streams:?}");
}
