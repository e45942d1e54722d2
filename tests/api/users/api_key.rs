//! `POST /users/me/api_key/regenerate`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser};
use serde_json::json;

#[tokio::test]
async fn regenerate_api_key_invalidates_old_key_and_keeps_queues() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let body = hamlet.post("/users/me/api_key/regenerate", &[]).ok().await;
    assert_eq!(fields(&body), ["api_key"]);
    let key = body["api_key"].as_str().unwrap();
    assert!(key.len() == 32 && key != hamlet.key, "{key}");
    let refused = json!({"msg": "Invalid API key", "code": "UNAUTHORIZED"});
    hamlet.get("/users/me", &[]).refused(401, refused.clone()).await;
    let renewed = TestUser { key: key.to_owned(), ..hamlet.clone() };
    queue.person = renewed.clone();
    iago.send(&channel, "t", "still there?").await;
    assert_eq!(queue.next().await["message"]["content"], "still there?");
    // A second time, and after a restart.
    let newest = renewed.post("/users/me/api_key/regenerate", &[]).ok().await["api_key"].clone();
    renewed.get("/users/me", &[]).refused(401, refused.clone()).await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let hamlet_now = t.user("hamlet");
    assert_eq!(json!(hamlet_now.key), newest);
    hamlet_now.get("/users/me", &[]).ok().await;
    let old = TestUser { url: t.url.clone(), ..hamlet };
    old.get("/users/me", &[]).refused(401, refused).await;
}

#[tokio::test]
async fn regenerate_api_key_then_login_with_password() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let key = hamlet.post("/users/me/api_key/regenerate", &[]).ok().await["api_key"].clone();
    let login: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"hamlet@zulip.com")];
    assert_eq!(t.anonymous().post("/fetch_api_key", login).ok().await["api_key"], key);
}

/// The key may be in other hands, so a poll that waits with it gets nothing more.
#[tokio::test]
async fn poll_that_waits_with_a_replaced_key_gets_nothing() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().await;
    let waiting = t.hold_poll(&queue).await;
    hamlet.post("/users/me/api_key/regenerate", &[]).ok().await;
    iago.send_direct(&[&hamlet], "secret").await;
    let answer = waiting.await.expect("an answer");
    assert_eq!(answer.status, 401, "{answer:?}");
    assert_eq!(answer.body["msg"], "Invalid API key");
    assert!(answer.body.get("events").is_none());
}
