//! Group mentions, and permissions that follow group membership.

use super::{create, create_with, group_id, only};
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn group_mention_permission() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello, desdemona] = t.users(["hamlet", "cordelia", "othello", "desdemona"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let more = json!({"subgroups": [cooks], "can_mention_group": only(&[&hamlet])});
    create_with(&hamlet, "staff", &[], more).await;
    let channel = hamlet.create_channel("kitchen").with(&cordelia).with(&othello).await;
    let refusal = "You are not allowed to mention user group 'staff'.";
    let params: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &"t"), ("content", &"Hey @*staff*")];
    othello.post("/messages", params).bad(refusal).await;
    let direct = json!([cordelia.id]);
    let params: Params<'_> = &[("type", &"direct"), ("to", &direct), ("content", &"Hey @*staff*")];
    othello.post("/messages", params).bad(refusal).await;
    othello.send(&channel, "t", "Hey @_*staff*").await;
    let sent = hamlet.send(&channel, "t", "Hey @*staff*").await;
    for (person, is_mentioned) in [(&cordelia, true), (&othello, false)] {
        let messages = person.messages(json!([{"operator": "id", "operand": sent}])).await;
        let flags = messages[0]["flags"].as_array().unwrap();
        assert_eq!(flags.contains(&json!("mentioned")), is_mentioned, "{flags:?}");
    }
    // System groups can be mentioned silently only, also by owners.
    let members = "You are not allowed to mention user group 'role:members'.";
    let params: Params<'_> = &[("type", &"direct"), ("to", &direct), ("content", &"Hey @*role:members*")];
    desdemona.post("/messages", params).bad(members).await;
    desdemona.send_direct(&[&cordelia], "Hey @_*role:members*").await;
}

#[tokio::test]
async fn group_permissions_follow_nested_membership() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, iago] = t.users(["hamlet", "cordelia", "iago"]);
    let inner = create(&hamlet, "level 0", &[]).await;
    let mut outer = inner;
    for level in 1..20 {
        outer = create_with(&hamlet, &format!("level {level}"), &[], json!({"subgroups": [outer]})).await;
    }
    let channel =
        iago.create_channel("closed").with(&cordelia).set("can_send_message_group", json!(outer)).await;
    let params: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &"t"), ("content", &"hi")];
    let refusal = "You do not have permission to post in this channel.";
    cordelia.post("/messages", params).bad(refusal).await;
    let path = format!("/user_groups/{inner}/members");
    hamlet.post(&path, &[("add", &json!([cordelia.id]))]).ok().await;
    cordelia.post("/messages", params).ok().await;
    hamlet.post(&path, &[("delete", &json!([cordelia.id]))]).ok().await;
    cordelia.post("/messages", params).bad(refusal).await;
    let subgroups = format!("/user_groups/{outer}/subgroups");
    hamlet.post(&subgroups, &[("add", &json!([group_id(&t, "role:members")]))]).ok().await;
    cordelia.post("/messages", params).ok().await;
}

#[tokio::test]
async fn group_changes_survive_restart() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let staff = create_with(&hamlet, "staff", &[&hamlet], json!({"subgroups": [cooks]})).await;
    hamlet.post(&format!("/user_groups/{cooks}/members"), &[("add", &json!([hamlet.id]))]).ok().await;
    let before = hamlet.get("/user_groups", &[]).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let hamlet = t.user("hamlet");
    assert_eq!(hamlet.get("/user_groups", &[]).ok().await, before);
    let members = hamlet.get(&format!("/user_groups/{staff}/members"), &[]).ok().await;
    assert_eq!(members["members"].as_array().unwrap().len(), 2);
}
