//! `PATCH /user_groups/{user_group_id}`.

use super::{create, create_with, group_id, only, read};
use crate::support::{Params, TestServer};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn update_group_name_and_permissions() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    let path = format!("/user_groups/{cooks}");
    let mut queue = cordelia.register().modern().events(&["user_group"]).await;
    let (members, role_nobody) = (group_id(&t, "role:members"), group_id(&t, "role:nobody"));
    let join = json!({"new": members, "old": role_nobody});
    let manage = json!({"new": only(&[&hamlet, &cordelia]), "old": only(&[&hamlet])});
    let params: Params<'_> = &[
        ("name", &" chefs "),
        ("description", &"Better."),
        ("can_join_group", &join),
        ("can_manage_group", &manage),
    ];
    hamlet.call(Method::PATCH, &path, params).ok().await;
    let event = queue.next().await;
    let data = &event["data"];
    assert_eq!((&event["op"], &event["group_id"]), (&json!("update"), &json!(cooks)));
    assert_eq!((&data["name"], &data["description"]), (&json!("chefs"), &json!("Better.")));
    assert_eq!(data["can_join_group"], members);
    let group = read(&cordelia, cooks).await;
    for (name, value) in data.as_object().unwrap() {
        assert_eq!(&group[name], value, "{name}");
    }
    // Now she may as well; setting the current value is no change.
    cordelia.call(Method::PATCH, &path, &[("name", &"Chefs")]).ok().await;
    cordelia
        .call(Method::PATCH, &path, &[("name", &"Chefs"), ("can_join_group", &json!({"new": members}))])
        .ok()
        .await;
    let event = queue.next().await;
    assert_eq!(event["data"], json!({"name": "Chefs"}));
    assert_eq!(queue.now().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn update_group_reactivate() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let path = format!("/user_groups/{cooks}");
    hamlet.post(&format!("{path}/deactivate"), &[]).ok().await;
    let mut modern = cordelia.register().modern().events(&["user_group"]).await;
    let mut old = cordelia.register().events(&["user_group"]).await;
    // Settings of a deactivated group can be changed.
    hamlet.call(Method::PATCH, &path, &[("description", &"Resting.")]).ok().await;
    hamlet.call(Method::PATCH, &path, &[("deactivated", &false)]).ok().await;
    assert_eq!(modern.next().await["data"], json!({"description": "Resting."}));
    assert_eq!(modern.next().await["data"], json!({"deactivated": false}));
    let event = old.next().await;
    assert_eq!((&event["op"], &event["group"]["id"]), (&json!("add"), &json!(cooks)));
    assert_eq!(read(&cordelia, cooks).await["deactivated"], false);
}

#[tokio::test]
async fn update_group_errors() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, desdemona, iago, polonius] =
        t.users(["hamlet", "cordelia", "desdemona", "iago", "polonius"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    let other = create_with(&hamlet, "other", &[], json!({"can_join_group": only(&[&cordelia])})).await;
    let path = format!("/user_groups/{cooks}");
    let name: Params<'_> = &[("name", &"new")];
    hamlet.call(Method::PATCH, &path, &[]).bad("No new data supplied").await;
    for person in [&cordelia, &iago] {
        person.call(Method::PATCH, &path, name).bad("Insufficient permission").await;
    }
    polonius.call(Method::PATCH, &path, name).bad("Not allowed for guest users").await;
    for id in [group_id(&t, "role:members"), 999] {
        desdemona.call(Method::PATCH, &format!("/user_groups/{id}"), name).bad("Invalid user group").await;
    }
    let mismatch = json!({
        "msg": "'old' value does not match the expected value.",
        "code": "EXPECTATION_MISMATCH",
        "field_name": "old"
    });
    let (members, owners) = (group_id(&t, "role:members"), group_id(&t, "role:owners"));
    let change = json!({"new": members, "old": owners});
    hamlet.call(Method::PATCH, &path, &[("can_join_group", &change)]).refused(400, mismatch).await;
    for (name, value, msg) in [
        ("name", "other".to_owned(), "User group 'other' already exists."),
        ("name", "@x".to_owned(), "User group name cannot start with '@'."),
        ("can_join_group", json!(members).to_string(), "can_join_group is not a dict"),
        ("can_join_group", json!({"old": 1}).to_string(), "can_join_group[\"new\"] field is missing"),
        ("can_join_group", json!({"new": 999}).to_string(), "Invalid user group"),
        (
            "can_manage_group",
            json!({"new": group_id(&t, "role:everyone")}).to_string(),
            "'can_manage_group' setting cannot be set to 'role:everyone' group.",
        ),
        ("deactivated", "5".to_owned(), "deactivated is not a boolean"),
    ] {
        hamlet.call(Method::PATCH, &path, &[(name, &value)]).bad(msg).await;
    }
    // Owners manage all groups.
    desdemona.call(Method::PATCH, &format!("/user_groups/{other}"), &[("name", &"ours")]).ok().await;
}
