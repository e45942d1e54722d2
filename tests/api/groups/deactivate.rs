//! `POST /user_groups/{user_group_id}/deactivate`.

use super::{create, create_with, group_id, read};
use crate::support::{Params, TestServer};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn deactivate_group() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let mut modern = cordelia.register().modern().events(&["user_group"]).await;
    let mut old = cordelia.register().events(&["user_group"]).await;
    let path = format!("/user_groups/{cooks}/deactivate");
    hamlet.post(&path, &[]).ok().await;
    let event = modern.next().await;
    assert_eq!((&event["op"], &event["data"]), (&json!("update"), &json!({"deactivated": true})));
    let event = old.next().await;
    assert_eq!((&event["op"], &event["group_id"]), (&json!("remove"), &json!(cooks)));
    assert_eq!(read(&hamlet, cooks).await["deactivated"], true);
    let state = &cordelia.register().await.state;
    assert!(!state["realm_user_groups"].as_array().unwrap().iter().any(|group| group["id"] == cooks));
    hamlet.post(&path, &[]).bad("Invalid user group").await;
}

#[tokio::test]
async fn delete_group_deactivates_it() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let staff = create_with(&hamlet, "staff", &[], json!({"subgroups": [cooks]})).await;
    let mut queue = cordelia.register().events(&["user_group"]).await;
    let path = format!("/user_groups/{cooks}");
    let refusal = json!({
        "msg": "Cannot deactivate user group in use.",
        "code": "CANNOT_DEACTIVATE_GROUP_IN_USE",
        "objections": [{"type": "subgroup", "supergroup_ids": [staff]}],
    });
    hamlet.delete(&path, &[]).refused(400, refusal).await;
    hamlet.delete(&format!("/user_groups/{staff}"), &[]).ok().await;
    hamlet.delete(&path, &[]).ok().await;
    assert_eq!(queue.next().await["group_id"], staff);
    assert_eq!(queue.next().await["group_id"], cooks);
    assert_eq!(read(&hamlet, cooks).await["deactivated"], true);
    hamlet.delete(&path, &[]).bad("Invalid user group").await;
}

#[tokio::test]
async fn deactivate_group_in_use_is_refused() {
    let t = TestServer::start().await;
    let [hamlet, desdemona] = t.users(["hamlet", "desdemona"]);
    let cooks = create(&hamlet, "cooks", &[&hamlet]).await;
    let staff = create_with(&hamlet, "staff", &[], json!({"subgroups": [cooks]})).await;
    let guards = create_with(&hamlet, "guards", &[], json!({"can_mention_group": cooks})).await;
    let listed = json!({"direct_members": [desdemona.id], "direct_subgroups": [cooks]});
    let channel = hamlet.create_channel("kitchen").set("can_subscribe_group", listed).await;
    let params: Params<'_> = &[("can_add_subscribers_group", &json!({"new": cooks}))];
    desdemona.call(Method::PATCH, "/realm", params).ok().await;
    let path = format!("/user_groups/{cooks}/deactivate");
    let refusal = json!({
        "msg": "Cannot deactivate user group in use.",
        "code": "CANNOT_DEACTIVATE_GROUP_IN_USE",
        "objections": [
            {"type": "subgroup", "supergroup_ids": [staff]},
            {"type": "realm", "settings": ["can_add_subscribers_group"]},
            {"type": "channel", "channel_id": channel.id, "settings": ["can_subscribe_group"]},
            {"type": "user_group", "group_id": guards, "settings": ["can_mention_group"]},
        ],
    });
    hamlet.post(&path, &[]).refused(400, refusal).await;
    // Uses by deactivated groups and archived channels do not count.
    for group in [staff, guards] {
        hamlet.post(&format!("/user_groups/{group}/deactivate"), &[]).ok().await;
    }
    let members = json!({"new": group_id(&t, "role:members")});
    desdemona.call(Method::PATCH, "/realm", &[("can_add_subscribers_group", &members)]).ok().await;
    hamlet.delete(&format!("/streams/{}", channel.id), &[]).ok().await;
    hamlet.post(&path, &[]).ok().await;
}

#[tokio::test]
async fn deactivate_group_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago, desdemona, polonius] = t.users(["hamlet", "iago", "desdemona", "polonius"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    let path = format!("/user_groups/{cooks}/deactivate");
    iago.post(&path, &[]).bad("Insufficient permission").await;
    polonius.post(&path, &[]).bad("Not allowed for guest users").await;
    for id in [group_id(&t, "role:moderators"), 999] {
        desdemona.post(&format!("/user_groups/{id}/deactivate"), &[]).bad("Invalid user group").await;
    }
    desdemona.post(&path, &[]).ok().await;
}
