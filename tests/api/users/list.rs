//! `GET /users`.

use super::person_keys;
use crate::support::shape::fields;
use crate::support::{Params, TestServer, keys};
use serde_json::{Value, json};

#[tokio::test]
async fn everybody_bots_and_former_people() {
    let t = TestServer::start().await;
    let [iago, hamlet, ghost] = t.users(["iago", "hamlet", "ghost"]);
    let body = iago.get("/users", &[]).ok().await;
    assert_eq!(fields(&body), ["members"]);
    let members = body["members"].as_array().unwrap();
    let of = |id: u32| members.iter().find(|member| member["user_id"] == id).expect("a member");
    let person = of(hamlet.id);
    // What else a person has, every client has to be able to read: nothing beyond the specification.
    for key in person_keys() {
        assert!(person.get(key).is_some(), "{key} in {person}");
    }
    let known = [
        person_keys(),
        vec!["bot_type", "bot_owner_id", "is_system_bot", "is_imported_stub", "is_billing_admin"],
    ];
    assert!(keys(person).iter().all(|key| known.concat().contains(key)), "{person}");
    let expected = json!({
        "email": hamlet.api_email, "full_name": "King Hamlet", "role": 400, "is_active": true,
        "is_admin": false, "is_owner": false, "is_guest": false, "is_bot": false,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&person[key], value, "{key}");
    }
    assert_eq!(of(ghost.id)["is_active"], false);
    assert_eq!((&of(iago.id)["is_admin"], &of(iago.id)["is_owner"]), (&json!(true), &json!(false)));
    let desdemona = t.user("desdemona").id;
    assert_eq!((&of(desdemona)["is_admin"], &of(desdemona)["is_owner"]), (&json!(true), &json!(true)));
    let bot = of(t.user("default-bot").id);
    assert_eq!((&bot["is_bot"], &bot["bot_type"]), (&json!(true), &json!(1)));
    assert_eq!(bot["bot_owner_id"], t.user("AARON").id);
    assert!(bot["delivery_email"].is_string());
    // The server's own bots are nobody's members.
    assert!(!members.iter().any(|member| member["full_name"] == "Notification Bot"));
}

#[tokio::test]
async fn some_of_them() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let wanted = json!([hamlet.id, 99_999]);
    let body =
        iago.get("/users", &[("user_ids", &wanted), ("include_custom_profile_fields", &true)]).ok().await;
    let members = body["members"].as_array().unwrap();
    assert_eq!((members.len(), &members[0]["user_id"]), (1, &json!(hamlet.id)));
    assert_eq!(members[0]["profile_data"], json!({}));
    let body = iago.get("/users", &[("client_gravatar", &false)]).ok().await;
    let members = body["members"].as_array().unwrap();
    assert!(members.iter().all(|member| member["avatar_url"].is_string()), "{members:?}");
    let params: Params<'_> = &[("user_ids", &"[\"a\"]")];
    iago.get("/users", params).bad("user_ids[0] is not an integer").await;
    iago.get("/users", &[("client_gravatar", &"yes")]).bad("client_gravatar is not valid JSON").await;
}

#[tokio::test]
async fn strangers_see_nobody() {
    let t = TestServer::start().await;
    let answer = t.stranger().get("/users", &[]).await;
    assert_eq!((answer.status, answer.body.get("members")), (401, None::<&Value>));
}
