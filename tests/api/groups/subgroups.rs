//! `/user_groups/{user_group_id}/subgroups`.

use super::{create, create_with, group_id};
use crate::support::TestServer;
use crate::support::shape::fields;
use serde_json::json;

#[tokio::test]
async fn subgroups_add_and_remove() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    let staff = create_with(&hamlet, "staff", &[], json!({"subgroups": [cooks]})).await;
    let firm = create(&hamlet, "firm", &[]).await;
    let path = format!("/user_groups/{firm}/subgroups");
    let mut queue = cordelia.register().modern().events(&["user_group"]).await;
    hamlet.post(&path, &[("add", &json!([staff]))]).ok().await;
    let event = queue.next().await;
    assert_eq!(
        (&event["op"], &event["group_id"], &event["direct_subgroup_ids"]),
        (&json!("add_subgroups"), &json!(firm), &json!([staff]))
    );
    for (direct, expected) in [(false, json!([cooks, staff])), (true, json!([staff]))] {
        let body = cordelia.get(&path, &[("direct_subgroup_only", &direct)]).ok().await;
        assert_eq!((fields(&body), &body["subgroups"]), (vec!["subgroups"], &expected));
    }
    hamlet.post(&path, &[("delete", &json!([staff])), ("add", &json!([cooks]))]).ok().await;
    assert_eq!(queue.next().await["direct_subgroup_ids"], json!([cooks]));
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["direct_subgroup_ids"]), (&json!("remove_subgroups"), &json!([staff])));
}

#[tokio::test]
async fn subgroups_errors() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, polonius] = t.users(["hamlet", "cordelia", "polonius"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    let staff = create_with(&hamlet, "staff", &[], json!({"subgroups": [cooks]})).await;
    let firm = create_with(&hamlet, "firm", &[], json!({"subgroups": [staff]})).await;
    let path = format!("/user_groups/{cooks}/subgroups");
    hamlet.post(&path, &[]).bad("Nothing to do. Specify at least one of \"add\" or \"delete\".").await;
    cordelia.post(&path, &[("add", &"[1]")]).bad("Insufficient permission").await;
    polonius.post(&path, &[("add", &"[1]")]).bad("Not allowed for guest users").await;
    for (name, id, msg) in [
        ("add", firm, format!("User group {cooks} is already a subgroup of one of the passed subgroups.")),
        ("add", cooks, format!("User group {cooks} is already a subgroup of one of the passed subgroups.")),
        ("add", 999, "Invalid user group".to_owned()),
        ("delete", firm, format!("User group {firm} is not a subgroup of this group.")),
    ] {
        hamlet.post(&path, &[(name, &json!([id]))]).bad(&msg).await;
    }
    let again = format!("User group {cooks} is already a subgroup of this group.");
    hamlet.post(&format!("/user_groups/{staff}/subgroups"), &[("add", &json!([cooks]))]).bad(&again).await;
    let system = format!("/user_groups/{}/subgroups", group_id(&t, "role:members"));
    t.user("desdemona").post(&system, &[("add", &json!([cooks]))]).bad("Invalid user group").await;
}
