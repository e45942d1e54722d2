//! `GET /users`.

use super::person_keys;
use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, keys};
use serde_json::{Value, json};

#[tokio::test]
async fn list_users_includes_bots_and_deactivated() {
    let t = TestServer::start().await;
    let [iago, hamlet, ghost] = t.users(["iago", "hamlet", "ghost"]);
    let body = iago.get("/users", &[]).ok().await;
    assert_eq!(fields(&body), ["members"]);
    let members = body["members"].as_array().unwrap();
    let of = |id: u32| members.iter().find(|member| member["user_id"] == id).expect("a member");
    let person = of(hamlet.id);
    // Every client must be able to read the other fields: none beyond docs/api/users.md#user-object.
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
    // System bots are not listed.
    assert!(!members.iter().any(|member| member["full_name"] == "Notification Bot"));
}

#[tokio::test]
async fn list_users_by_ids() {
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
    assert!(
        members.len() > 10 && members.iter().all(|member| member["avatar_url"].is_string()),
        "{members:?}"
    );
    let params: Params<'_> = &[("user_ids", &"[\"a\"]")];
    iago.get("/users", params).bad("user_ids[0] is not an integer").await;
    iago.get("/users", &[("client_gravatar", &"yes")]).bad("client_gravatar is not valid JSON").await;
}

#[tokio::test]
async fn list_users_requires_credentials() {
    let t = TestServer::start().await;
    let answer = t.anonymous().get("/users", &[]).await;
    assert_eq!((answer.status, answer.body.get("members")), (401, None::<&Value>));
}

#[tokio::test]
async fn list_users_spectator_view() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    desdemona.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
    assert_eq!(t.anonymous().get("/users", &[]).await.status, 401, "no channel is web-public");
    desdemona.create_channel("window").set("is_web_public", json!(true)).await;
    let everybody: Params<'_> = &[("email_address_visibility", &1)];
    hamlet.patch("/settings", everybody).ok().await;
    for client_gravatar in [true, false] {
        let params: Params<'_> = &[("client_gravatar", &client_gravatar), ("user_ids", &json!([hamlet.id]))];
        let body = t.anonymous().get("/users", params).ok().await;
        let shown = &body["members"][0];
        assert_eq!((&shown["full_name"], &shown["delivery_email"]), (&json!("King Hamlet"), &json!(null)));
        assert_eq!(shown["email"], format!("user{}@zulipdev.com", hamlet.id));
        assert_eq!(shown.get("profile_data"), None, "{shown}");
        // Spectators do not see the address, so they could not compute the hash.
        assert!(shown["avatar_url"].is_string(), "{shown}");
    }
}

#[tokio::test]
async fn list_users_restricted_guests() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello, polonius] = t.users(["desdemona", "hamlet", "othello", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    hamlet.create_channel("Verona").with(&polonius).await;
    for params in [json!(null), json!([hamlet.id, othello.id, polonius.id])] {
        let ids = params.to_string();
        let given: Vec<Param<'_>> = vec![("user_ids", &ids)];
        let body = polonius.get("/users", if params.is_null() { &[] } else { &given }).ok().await;
        let members = body["members"].as_array().unwrap();
        let people: Vec<&Value> = members
            .iter()
            .filter(|member| member["is_bot"] == false)
            .map(|member| &member["user_id"])
            .collect();
        assert_eq!(people.len(), 2, "{people:?}");
        assert!(people.contains(&&json!(hamlet.id)) && people.contains(&&json!(polonius.id)), "{people:?}");
    }
    polonius.get(&format!("/users/{}", othello.id), &[]).bad("No such user").await;
}
