//! `GET /users/me`.

use super::person_keys;
use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn get_own_user() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = iago.send_direct(&[&hamlet], "x").await;
    let body = hamlet.get("/users/me", &[]).ok().await;
    for key in person_keys() {
        assert!(body.get(key).is_some(), "{key}");
    }
    let expected = json!({
        "user_id": hamlet.id, "email": hamlet.api_email, "delivery_email": hamlet.email,
        "full_name": "King Hamlet", "profile_data": {}, "max_message_id": id, "role": 400,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&body[key], value, "{key}");
    }
    let bot = t.user("default-bot").get("/users/me", &[]).ok().await;
    assert_eq!((&bot["is_bot"], bot.get("profile_data")), (&json!(true), None));
}
