//! `PATCH /users/me/subscriptions`, and `GET /users/{user_id}/subscriptions/{stream_id}`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn update_subscriptions_add_and_delete() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let old = iago.create_channel("Verona").with(&hamlet).await;
    let new = iago.create_channel("Rome").await;
    let (add, delete) = (json!([{"name": "Rome"}]), json!(["Verona"]));
    let params: Params<'_> = &[("add", &add), ("delete", &delete)];
    let body = hamlet.call(reqwest::Method::PATCH, "/users/me/subscriptions", params).ok().await;
    assert_eq!(body["subscribed"], json!({hamlet.id.to_string(): ["Rome"]}));
    assert_eq!(body["removed"], json!(["Verona"]));
    for (channel, is_subscribed) in [(&old, false), (&new, true)] {
        let path = format!("/users/{}/subscriptions/{}", hamlet.id, channel.id);
        let body = iago.get(&path, &[]).ok().await;
        assert_eq!((fields(&body), &body["is_subscribed"]), (vec!["is_subscribed"], &json!(is_subscribed)));
    }
}

#[tokio::test]
async fn update_subscriptions_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().await;
    let open = iago.create_channel("Verona").with(&hamlet).await;
    let nothing = "Nothing to do. Specify at least one of \"add\" or \"delete\".";
    hamlet.call(reqwest::Method::PATCH, "/users/me/subscriptions", &[]).bad(nothing).await;
    // If one part fails, nothing is changed.
    let (add, delete) = (json!([{"name": "secret"}]), json!(["Verona"]));
    let params: Params<'_> = &[("add", &add), ("delete", &delete)];
    let answer = hamlet.call(reqwest::Method::PATCH, "/users/me/subscriptions", params).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let path = format!("/users/{}/subscriptions/{}", hamlet.id, open.id);
    assert_eq!(hamlet.get(&path, &[]).ok().await["is_subscribed"], true);
    let path = format!("/users/{}/subscriptions/{}", iago.id, secret.id);
    hamlet.get(&path, &[]).bad("Invalid channel ID").await;
    hamlet.get(&format!("/users/99999/subscriptions/{}", open.id), &[]).bad("No such user").await;
}
