//! `POST /users/me/api_key/regenerate`.

use crate::support::shape::fields;
use crate::support::{Params, Person, TestServer};
use serde_json::json;

#[tokio::test]
async fn the_old_key_stops_and_queues_go_on() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let body = hamlet.post("/users/me/api_key/regenerate", &[]).ok().await;
    assert_eq!(fields(&body), ["api_key"]);
    let key = body["api_key"].as_str().unwrap();
    assert!(key.len() == 32 && key != hamlet.key, "{key}");
    let refused = json!({"msg": "Invalid API key", "code": "INVALID_API_KEY"});
    hamlet.get("/users/me", &[]).refused(401, refused.clone()).await;
    let renewed = Person { key: key.to_owned(), ..hamlet.clone() };
    queue.person = renewed.clone();
    iago.send(&channel, "t", "still there?").await;
    assert_eq!(queue.next().await["message"]["content"], "still there?");
    // Once more, and after a restart.
    let newest = renewed.post("/users/me/api_key/regenerate", &[]).ok().await["api_key"].clone();
    renewed.get("/users/me", &[]).refused(401, refused.clone()).await;
    let folder = t.stop().await;
    let t = TestServer::plan().on(folder).start().await;
    let hamlet_now = t.user("hamlet");
    assert_eq!(json!(hamlet_now.key), newest);
    hamlet_now.get("/users/me", &[]).ok().await;
    let old = Person { url: t.url.clone(), ..hamlet };
    old.get("/users/me", &[]).refused(401, refused).await;
}

#[tokio::test]
async fn a_password_gets_the_new_one() {
    let t = TestServer::plan().development().start().await;
    let hamlet = t.user("hamlet");
    let key = hamlet.post("/users/me/api_key/regenerate", &[]).ok().await["api_key"].clone();
    let login: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"hamlet@zulip.com")];
    assert_eq!(t.stranger().post("/fetch_api_key", login).ok().await["api_key"], key);
}
