//! `GET /streams/{id}`, `GET /get_stream_id` and `GET /streams/{id}/members`.

use super::channel_keys;
use crate::support::shape::fields;
use crate::support::{TestServer, keys};
use serde_json::json;

#[tokio::test]
async fn get_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let open = iago.create_channel("Verona").await;
    let secret = hamlet.create_channel("secret").private().await;
    let body = hamlet.get(&format!("/streams/{}", open.id), &[]).ok().await;
    assert_eq!((fields(&body), keys(&body["stream"])), (vec!["stream"], channel_keys()));
    // An administrator sees a private channel without being subscribed.
    iago.get(&format!("/streams/{}", secret.id), &[]).ok().await;
    for (who, id) in
        [(&polonius, open.id), (&polonius, secret.id), (&t.user("othello"), secret.id), (&iago, 999)]
    {
        who.get(&format!("/streams/{id}"), &[]).bad("Invalid channel ID").await;
    }
}

#[tokio::test]
async fn get_stream_id_by_name() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let open = iago.create_channel("Verona beach").await;
    iago.create_channel("secret").private().await;
    hamlet.create_channel("closed").private().await;
    for name in ["Verona beach", "verona BEACH"] {
        let body = hamlet.get("/get_stream_id", &[("stream", &name)]).ok().await;
        assert_eq!((fields(&body), &body["stream_id"]), (vec!["stream_id"], &json!(open.id)));
    }
    // An administrator sees it in the list of channels, but cannot look it up by name.
    let hidden = [(&hamlet, "nowhere"), (&hamlet, "secret"), (&polonius, "Verona beach"), (&iago, "closed")];
    for (who, name) in hidden {
        let msg = format!("Invalid channel name '{name}'");
        who.get("/get_stream_id", &[("stream", &name)]).bad(&msg).await;
    }
    let missing = json!({
        "msg": "Missing 'stream' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "stream"
    });
    hamlet.get("/get_stream_id", &[]).refused(400, missing).await;
}

#[tokio::test]
async fn get_channel_members() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let open = iago.create_channel("Verona").with(&hamlet).await;
    let secret = hamlet.create_channel("secret").private().with(&polonius).await;
    let members = |id: u64| format!("/streams/{id}/members");
    let body = t.user("othello").get(&members(open.id), &[]).ok().await;
    assert_eq!(fields(&body), ["subscribers"]);
    assert_eq!(body["subscribers"], json!([iago.id, hamlet.id]));
    // Administrators see its subscribers.
    for who in [&iago, &hamlet, &polonius] {
        let body = who.get(&members(secret.id), &[]).ok().await;
        assert_eq!(body["subscribers"], json!([hamlet.id, polonius.id]));
    }
    for (who, id) in [(&polonius, open.id), (&t.user("othello"), secret.id), (&iago, 999)] {
        who.get(&members(id), &[]).bad("Invalid channel ID").await;
    }
}
