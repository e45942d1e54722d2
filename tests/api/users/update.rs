//! `PATCH /users/{id}` and `PATCH /users/{email}`.

use crate::api::groups::{group_id, read};
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn change(who: &TestUser, whom: &TestUser, params: Params<'_>) {
    who.patch(&format!("/users/{}", whom.id), params).ok().await;
}

async fn shown(who: &TestUser, whom: &TestUser) -> Value {
    let params: Params<'_> = &[("include_custom_profile_fields", &true)];
    who.get(&format!("/users/{}", whom.id), params).ok().await["user"].clone()
}

#[tokio::test]
async fn update_user_name_role_and_profile() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let field =
        crate::api::realm::profile_fields::create(&iago, &[("name", &"Town"), ("field_type", &1)]).await;
    let data = json!([{"id": field, "value": "Elsinore"}]);
    change(&iago, &hamlet, &[("full_name", &" Hamlet "), ("role", &300), ("profile_data", &data)]).await;
    let user = shown(&iago, &hamlet).await;
    assert_eq!((&user["full_name"], &user["role"]), (&json!("Hamlet"), &json!(300)));
    let town = json!("Elsinore");
    assert_eq!(user["profile_data"][field.to_string()]["value"], town);
    // By email address; null clears a value, and current values are no change.
    let data = json!([{"id": field, "value": null}]);
    let params: Params<'_> = &[("role", &300), ("profile_data", &data)];
    iago.patch("/users/hamlet@zulip.com", params).ok().await;
    let user = shown(&iago, &hamlet).await;
    assert_eq!((&user["full_name"], &user["profile_data"]), (&json!("Hamlet"), &json!({})));
    // A request without parameters is no error.
    let body = iago.patch(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert_eq!(body, json!({"result": "success", "msg": ""}));
}

#[tokio::test]
async fn update_user_role_changes_system_groups() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let names = [
        "role:owners",
        "role:administrators",
        "role:moderators",
        "role:fullmembers",
        "role:members",
        "role:everyone",
    ];
    for (role, inside) in [
        (100, vec!["role:owners"]),
        (200, vec!["role:administrators"]),
        (300, vec!["role:moderators"]),
        (600, vec!["role:everyone"]),
        (400, vec!["role:fullmembers", "role:members"]),
    ] {
        change(&desdemona, &hamlet, &[("role", &role)]).await;
        let mut found = Vec::new();
        for name in names {
            let group = read(&desdemona, group_id(&t, name)).await;
            if group["members"].as_array().unwrap().contains(&json!(hamlet.id)) {
                found.push(name);
            }
        }
        assert_eq!(found, inside, "{role}");
        assert_eq!(shown(&desdemona, &hamlet).await["role"], role);
    }
}

#[tokio::test]
async fn update_user_guest_role_changes_visibility() {
    let t = TestServer::start().await;
    let [desdemona, iago, polonius] = t.users(["desdemona", "iago", "polonius"]);
    iago.create_channel("Verona").await;
    let names = async |person: &TestUser| {
        let body = person.get("/streams", &[]).ok().await;
        body["streams"].as_array().unwrap().len()
    };
    assert_eq!(names(&polonius).await, 0);
    change(&desdemona, &polonius, &[("role", &400)]).await;
    assert_eq!(names(&polonius).await, 1);
    change(&desdemona, &polonius, &[("role", &600)]).await;
    assert_eq!(names(&polonius).await, 0);
}

#[tokio::test]
async fn update_user_errors() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, cordelia] = t.users(["desdemona", "iago", "hamlet", "cordelia"]);
    let path = |person: &TestUser| format!("/users/{}", person.id);
    for who in [&hamlet, &cordelia] {
        who.patch(&path(&cordelia), &[("full_name", &"Another Name")]).bad("Insufficient permission").await;
    }
    let cases: &[(Params<'_>, &str)] = &[
        (&[("full_name", &"x")], "Name too short!"),
        (&[("full_name", &" ")], "Name too short!"),
        (&[("full_name", &"x".repeat(101))], "Name too long!"),
        (&[("full_name", &"a*b")], "Invalid characters in name!"),
        (&[("full_name", &"Ada|12")], "Invalid format!"),
        (&[("role", &500)], "Invalid role"),
        (&[("role", &"x")], "role is not valid JSON"),
        (&[("role", &json!("400"))], "role is not an integer"),
        (&[("profile_data", &json!({}))], "profile_data is not a list"),
        (&[("profile_data", &json!([{"id": 77, "value": "x"}]))], "Field id 77 not found."),
        (&[("new_email", &"new@zulip.com")], "User not authorized to change user emails"),
    ];
    for (params, msg) in cases {
        iago.patch(&path(&hamlet), params).bad(msg).await;
    }
    iago.patch("/users/99999", &[("role", &400)]).bad("No such user").await;
    iago.patch("/users/nobody@zulip.com", &[("role", &400)]).bad("No such user").await;
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    iago.patch(&path(&hamlet), &[("role", &100)]).refused(400, owner.clone()).await;
    iago.patch(&path(&desdemona), &[("role", &400)]).refused(400, owner).await;
    let only = "The owner permission cannot be removed from the only organization owner.";
    desdemona.patch(&path(&desdemona), &[("role", &200)]).bad(only).await;
    // With one invalid parameter nothing is changed.
    let half: Params<'_> = &[("full_name", &"Another Name"), ("new_email", &"new@zulip.com")];
    iago.patch(&path(&hamlet), half).bad("User not authorized to change user emails").await;
    assert_eq!(shown(&iago, &hamlet).await["full_name"], "King Hamlet");
    // A second owner may demote the first.
    change(&desdemona, &hamlet, &[("role", &100)]).await;
    change(&hamlet, &desdemona, &[("role", &400)]).await;
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    desdemona.patch("/realm", &[("name", &"Mine")]).refused(400, gate).await;
}

#[tokio::test]
async fn update_own_bot_as_user() {
    let t = TestServer::start().await;
    let [aaron, hamlet, bot] = t.users(["AARON", "hamlet", "default-bot"]);
    change(&aaron, &bot, &[("full_name", &"Butler")]).await;
    assert_eq!(shown(&aaron, &bot).await["full_name"], "Butler");
    let path = format!("/users/{}", bot.id);
    hamlet.patch(&path, &[("full_name", &"Mine")]).bad("Insufficient permission").await;
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    aaron.patch(&path, &[("role", &200)]).refused(400, gate).await;
}

#[tokio::test]
async fn update_user_email_changes_login() {
    // Only a development server has a user who may change the addresses of others.
    let t = TestServer::builder().development().start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let path = format!("/users/{}", hamlet.id);
    for (address, msg) in [
        ("nonsense", "Invalid new email address."),
        ("cordelia@zulip.com", "New email value error: Already has an account."),
    ] {
        desdemona.patch(&path, &[("new_email", &address)]).bad(msg).await;
    }
    change(&desdemona, &hamlet, &[("new_email", &"prince@zulip.com")]).await;
    assert_eq!(shown(&desdemona, &hamlet).await["delivery_email"], "prince@zulip.com");
    let prince = t.user("prince");
    assert_eq!((prince.id, &prince.key), (hamlet.id, &hamlet.key));
    prince.get("/users/me", &[]).ok().await;
    let login: Params<'_> = &[("username", &"prince@zulip.com"), ("password", &"hamlet@zulip.com")];
    t.anonymous().post("/fetch_api_key", login).ok().await;
}
