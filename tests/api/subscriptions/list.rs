//! `GET /users/me/subscriptions`.

use crate::api::channels::channel_keys;
use crate::support::shape::{fields, words};
use crate::support::{Params, TestServer, keys};
use serde_json::json;

#[tokio::test]
async fn list_subscriptions() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.create_channel("Verona").with(&hamlet).await;
    iago.create_channel("Rome").await;
    let body = hamlet.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(fields(&body), ["subscriptions"]);
    let subscriptions = body["subscriptions"].as_array().unwrap();
    assert_eq!(subscriptions.len(), 1);
    let personal = words(
        "audible_notifications color desktop_notifications email_notifications in_home_view is_muted \
         pin_to_top push_notifications wildcard_mentions_notify",
    );
    let mut expected = [channel_keys(), personal].concat();
    expected.sort_unstable();
    assert_eq!(keys(&subscriptions[0]), expected);
    let expected = json!({
        "name": "Verona", "is_muted": false, "in_home_view": true, "pin_to_top": false, "color": "#76ce90",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&subscriptions[0][key], value, "{key}");
    }
    let with: Params<'_> = &[("include_subscribers", &true)];
    let body = hamlet.get("/users/me/subscriptions", with).ok().await;
    assert_eq!(body["subscriptions"][0]["subscribers"], json!([iago.id, hamlet.id]));
}

#[tokio::test]
async fn list_subscriptions_errors() {
    let t = TestServer::start().await;
    let answer = t.user("iago").get("/users/me/subscriptions", &[("include_subscribers", &"some")]).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")), "{answer:?}");
}
