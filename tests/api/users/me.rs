//! `GET /users/me`.

use super::person_keys;
use crate::api::pictures::png;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

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

/// The own object is kept encoded: it must follow everything that it shows.
#[tokio::test]
async fn own_user_is_that_of_the_user_endpoint_after_every_change() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let desdemona = t.user("desdemona");
    let path = format!("/users/{}", hamlet.id);
    let seen = async || {
        let mut own = hamlet.get("/users/me", &[]).ok().await;
        own.as_object_mut().unwrap().remove("max_message_id");
        let params: Params<'_> = &[("client_gravatar", &false), ("include_custom_profile_fields", &true)];
        let body = hamlet.get(&path, params).ok().await;
        let members =
            own.as_object().unwrap().iter().filter(|(key, _)| !["result", "msg"].contains(&key.as_str()));
        let own: Value = members.map(|(key, value)| (key.clone(), value.clone())).collect();
        assert_eq!(own, body["user"]);
        own
    };
    let mut before = seen().await;
    let field =
        iago.post("/realm/profile_fields", &[("name", &"Phone"), ("field_type", &1)]).ok().await["id"]
            .clone();
    assert_eq!(seen().await, before, "no value yet");
    for step in 0..9 {
        match step {
            0 => iago.patch(&path, &[("full_name", &"Prince Hamlet")]).ok().await,
            1 => desdemona.patch(&path, &[("role", &300)]).ok().await,
            2 => hamlet.patch("/settings", &[("timezone", &"Europe/Copenhagen")]).ok().await,
            3 => hamlet.patch("/settings", &[("email_address_visibility", &5)]).ok().await,
            4 => {
                hamlet
                    .patch("/users/me/profile_data", &[("data", &json!([{"id": field, "value": "12"}]))])
                    .ok()
                    .await
            }
            5 => desdemona.patch("/realm", &[("default_avatar_source", &"G")]).ok().await,
            6 | 7 => hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await,
            _ => iago.delete(&format!("/realm/profile_fields/{field}"), &[]).ok().await,
        };
        let after = seen().await;
        assert_ne!(after, before, "step {step}");
        before = after;
    }
}
