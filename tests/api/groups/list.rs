//! `GET /user_groups`.

use super::{create, group_id};
use crate::support::TestServer;
use crate::support::shape::{fields, keys, words};
use serde_json::{Value, json};

#[tokio::test]
async fn list_groups_shape() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let cooks = create(&iago, "cooks", &[&hamlet]).await;
    let body = hamlet.get("/user_groups", &[]).ok().await;
    assert_eq!(fields(&body), ["user_groups"]);
    let groups = body["user_groups"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    let system = "role:nobody role:owners role:administrators role:moderators role:fullmembers role:members \
                  role:everyone role:internet cooks";
    assert_eq!(names, system.split_whitespace().collect::<Vec<_>>());
    for group in groups {
        let expected = "id name description members direct_subgroup_ids is_system_group creator_id date_created \
                        deactivated can_add_members_group can_join_group can_leave_group can_manage_group \
                        can_mention_group can_remove_members_group";
        assert_eq!(keys(group), words(expected));
    }
    let last = groups.last().unwrap();
    assert_eq!(
        (&last["id"], &last["is_system_group"], &last["deactivated"]),
        (&json!(cooks), &json!(false), &json!(false))
    );
    let members = &groups[names.iter().position(|name| *name == "role:members").unwrap()];
    assert_eq!(members["direct_subgroup_ids"], json!([group_id(&t, "role:fullmembers")]));
    assert_eq!((&members["creator_id"], &members["date_created"]), (&Value::Null, &Value::Null));
    let administrators = &groups[2];
    assert_eq!(administrators["members"], json!([iago.id]));
    // System groups cannot be changed or mentioned.
    for setting in keys(administrators).into_iter().filter(|key| key.starts_with("can_")) {
        assert_eq!(administrators[setting], group_id(&t, "role:nobody"), "{setting}");
    }
}

#[tokio::test]
async fn list_groups_include_deactivated() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let cooks = create(&iago, "cooks", &[]).await;
    iago.post(&format!("/user_groups/{cooks}/deactivate"), &[]).ok().await;
    for (wanted, listed) in [("false", false), ("true", true)] {
        let body = iago.get("/user_groups", &[("include_deactivated_groups", &wanted)]).ok().await;
        let found = body["user_groups"].as_array().unwrap().iter().find(|group| group["id"] == cooks);
        assert_eq!(found.map(|group| group["deactivated"] == true), listed.then_some(true));
    }
}

#[tokio::test]
async fn list_groups_errors() {
    let t = TestServer::start().await;
    t.user("polonius").get("/user_groups", &[]).bad("Not allowed for guest users").await;
    t.user("default-bot").get("/user_groups", &[]).bad("This endpoint does not accept bot requests.").await;
}
