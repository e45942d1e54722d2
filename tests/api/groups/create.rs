//! `POST /user_groups/create`.

use super::{create, create_with, group_id, only, read};
use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, TestUser};
use serde_json::{Value, json};

#[tokio::test]
async fn create_group_managed_by_creator() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, polonius] = t.users(["hamlet", "cordelia", "polonius"]);
    let mut queue = polonius.register().modern().events(&["user_group"]).await;
    let members = json!([cordelia.id, polonius.id, cordelia.id]);
    let params: Params<'_> =
        &[("name", &" cooks "), ("description", &"They *cook*."), ("members", &members), ("odd", &1)];
    let body = hamlet.post("/user_groups/create", params).ok().await;
    assert_eq!(fields(&body), ["group_id", "ignored_parameters_unsupported"]);
    let id = body["group_id"].as_u64().unwrap() as u32;
    let group = read(&hamlet, id).await;
    let mut expected = vec![cordelia.id, polonius.id];
    expected.sort_unstable();
    assert_eq!((&group["name"], &group["description"]), (&json!("cooks"), &json!("They *cook*.")));
    assert_eq!((&group["members"], &group["creator_id"]), (&json!(expected), &json!(hamlet.id)));
    assert!(group["date_created"].as_u64().is_some());
    let (everyone, role_nobody) = (json!(group_id(&t, "role:everyone")), json!(group_id(&t, "role:nobody")));
    for (setting, value) in [
        ("can_manage_group", &only(&[&hamlet])),
        ("can_add_members_group", &only(&[&hamlet])),
        ("can_remove_members_group", &role_nobody),
        ("can_join_group", &role_nobody),
        ("can_leave_group", &everyone),
        ("can_mention_group", &everyone),
    ] {
        assert_eq!(&group[setting], value, "{setting}");
    }
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["group"]), (&json!("add"), &group));
}

#[tokio::test]
async fn create_group_with_permissions_and_subgroups() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let (members, moderators) = (group_id(&t, "role:members"), group_id(&t, "role:moderators"));
    let cooks = create(&hamlet, "cooks", &[]).await;
    let listed =
        json!({"direct_members": [cordelia.id, hamlet.id, cordelia.id], "direct_subgroups": [moderators]});
    let more = json!({
        "subgroups": [cooks],
        "can_join_group": members,
        "can_mention_group": listed,
        // A single group is stored as that group, and an empty set as `role:nobody`.
        "can_leave_group": {"direct_members": [], "direct_subgroups": [members]},
        "can_manage_group": {"direct_members": [], "direct_subgroups": []},
    });
    let group = read(&hamlet, create_with(&hamlet, "staff", &[], more).await).await;
    let mut both = [hamlet.id, cordelia.id];
    both.sort_unstable();
    assert_eq!(group["direct_subgroup_ids"], json!([cooks]));
    assert_eq!(group["can_join_group"], members);
    assert_eq!(group["can_mention_group"], json!({"direct_members": both, "direct_subgroups": [moderators]}));
    assert_eq!(
        (&group["can_leave_group"], &group["can_manage_group"]),
        (&json!(members), &json!(group_id(&t, "role:nobody")))
    );
}

/// Expects an error for a new group with one parameter changed.
async fn refuse(person: &TestUser, name: &str, value: &Value, msg: &str) {
    let text = value.as_str().filter(|_| name == "name").map_or_else(|| value.to_string(), str::to_owned);
    let mut params: Vec<Param<'_>> = vec![("name", &"new"), ("description", &""), ("members", &"[]")];
    params.retain(|(other, _)| *other != name);
    params.push((name, &text));
    person.post("/user_groups/create", &params).bad(msg).await;
}

#[tokio::test]
async fn create_group_errors() {
    let t = TestServer::start().await;
    let [hamlet, polonius] = t.users(["hamlet", "polonius"]);
    create(&hamlet, "cooks", &[]).await;
    let closed = create(&hamlet, "closed", &[]).await;
    hamlet.post(&format!("/user_groups/{closed}/deactivate"), &[]).ok().await;
    let ghost = t.user("ghost").id;
    let long = "g".repeat(101);
    for (name, value, msg) in [
        ("name", json!(" "), "User group name can't be empty!".to_owned()),
        ("name", json!(long), "User group name cannot exceed 100 characters.".to_owned()),
        ("name", json!("@cooks"), "User group name cannot start with '@'.".to_owned()),
        ("name", json!("role:cooks"), "User group name cannot start with 'role:'.".to_owned()),
        ("name", json!("user:cooks"), "User group name cannot start with 'user:'.".to_owned()),
        ("name", json!("stream:cooks"), "User group name cannot start with 'stream:'.".to_owned()),
        ("name", json!("channel:cooks"), "User group name cannot start with 'channel:'.".to_owned()),
        ("name", json!("cooks"), "User group 'cooks' already exists.".to_owned()),
        ("name", json!("closed"), "User group 'closed' already exists.".to_owned()),
        ("members", json!([999]), "Invalid user ID: 999".to_owned()),
        ("members", json!([ghost]), format!("Invalid user ID: {ghost}")),
        ("members", json!(["x"]), "members[0] is not an integer".to_owned()),
        ("members", json!(5), "members is not a list".to_owned()),
    ] {
        refuse(&hamlet, name, &value, &msg).await;
    }
    let params: Params<'_> = &[("name", &"new"), ("description", &""), ("members", &"[]")];
    polonius.post("/user_groups/create", params).bad("Not allowed for guest users").await;
    for name in ["name", "description", "members"] {
        let rest: Vec<_> = params.iter().copied().filter(|(other, _)| *other != name).collect();
        let missing = json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name
        });
        hamlet.post("/user_groups/create", &rest).refused(400, missing).await;
    }
}

#[tokio::test]
async fn create_group_invalid_subgroups_and_permissions() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let closed = create(&hamlet, "closed", &[]).await;
    hamlet.post(&format!("/user_groups/{closed}/deactivate"), &[]).ok().await;
    for (name, value, msg) in [
        ("subgroups", json!([999]), "Invalid user group".to_owned()),
        ("subgroups", json!([closed]), "Invalid user group".to_owned()),
        ("can_join_group", json!(999), "Invalid user group".to_owned()),
        ("can_join_group", json!(closed), "Invalid user group".to_owned()),
        ("can_join_group", json!("x"), "can_join_group is not a dict".to_owned()),
        (
            "can_join_group",
            json!({"direct_members": [999], "direct_subgroups": []}),
            "Invalid user ID: 999".to_owned(),
        ),
        (
            "can_join_group",
            json!({"direct_members": []}),
            "can_join_group[\"direct_subgroups\"] field is missing".to_owned(),
        ),
        (
            "can_join_group",
            json!({"direct_members": ["x"], "direct_subgroups": []}),
            "can_join_group[\"direct_members\"][0] is not an integer".to_owned(),
        ),
        (
            "can_join_group",
            json!(group_id(&t, "role:everyone")),
            "'can_join_group' setting cannot be set to 'role:everyone' group.".to_owned(),
        ),
        (
            "can_mention_group",
            json!(group_id(&t, "role:internet")),
            "'can_mention_group' setting cannot be set to 'role:internet' group.".to_owned(),
        ),
    ] {
        refuse(&hamlet, name, &value, &msg).await;
    }
}

#[tokio::test]
async fn create_group_permission() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let administrators = json!({"new": group_id(&t, "role:administrators")});
    desdemona.call(reqwest::Method::PATCH, "/realm", &[("can_create_groups", &administrators)]).ok().await;
    let params: Params<'_> = &[("name", &"new"), ("description", &""), ("members", &"[]")];
    hamlet.post("/user_groups/create", params).bad("Insufficient permission").await;
    iago.post("/user_groups/create", params).ok().await;
}
