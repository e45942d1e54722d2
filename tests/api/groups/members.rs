//! `/user_groups/{user_group_id}/members`, and direct and recursive membership.

use super::{create, create_with, group_id, only, read};
use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn group_members_add_and_remove() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello, polonius] = t.users(["hamlet", "cordelia", "othello", "polonius"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let guards = create(&hamlet, "guards", &[]).await;
    let path = format!("/user_groups/{cooks}/members");
    let mut queue = polonius.register().modern().events(&["user_group"]).await;
    hamlet
        .post(&path, &[("add", &json!([othello.id, polonius.id])), ("delete", &json!([cordelia.id]))])
        .ok()
        .await;
    let mut both = vec![othello.id, polonius.id];
    both.sort_unstable();
    let event = queue.next().await;
    assert_eq!(
        (&event["op"], &event["group_id"], &event["user_ids"]),
        (&json!("add_members"), &json!(cooks), &json!(both))
    );
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["user_ids"]), (&json!("remove_members"), &json!([cordelia.id])));
    let mixed: Params<'_> = &[("add", &json!([cordelia.id])), ("add_subgroups", &json!([guards]))];
    hamlet.post(&path, mixed).ok().await;
    assert_eq!(queue.next().await["op"], "add_members");
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["direct_subgroup_ids"]), (&json!("add_subgroups"), &json!([guards])));
    hamlet.post(&path, &[("delete_subgroups", &json!([guards]))]).ok().await;
    assert_eq!(queue.next().await["op"], "remove_subgroups");
    both.push(cordelia.id);
    both.sort_unstable();
    let group = read(&hamlet, cooks).await;
    assert_eq!((&group["members"], &group["direct_subgroup_ids"]), (&json!(both), &json!([])));
}

#[tokio::test]
async fn group_self_join_and_leave_permissions() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello, polonius] = t.users(["hamlet", "cordelia", "othello", "polonius"]);
    let more = json!({"can_join_group": group_id(&t, "role:members"), "can_remove_members_group": only(&[&othello])});
    let cooks = create_with(&hamlet, "cooks", &[&polonius], more).await;
    let path = format!("/user_groups/{cooks}/members");
    let (own, others) = (json!([cordelia.id]), json!([cordelia.id, othello.id]));
    cordelia.post(&path, &[("add", &others)]).bad("Insufficient permission").await;
    cordelia.post(&path, &[("add", &own)]).ok().await;
    cordelia.post(&path, &[("delete", &json!([polonius.id]))]).bad("Insufficient permission").await;
    cordelia.post(&path, &[("delete", &own)]).ok().await;
    // Guests may leave, but not join.
    let guest = json!([polonius.id]);
    polonius.post(&path, &[("delete", &guest)]).ok().await;
    polonius.post(&path, &[("add", &guest)]).bad("Insufficient permission").await;
    hamlet.post(&path, &[("add", &json!([polonius.id, cordelia.id]))]).ok().await;
    othello.post(&path, &[("delete", &json!([polonius.id, cordelia.id]))]).ok().await;
    assert_eq!(read(&hamlet, cooks).await["members"], json!([]));
}

#[tokio::test]
async fn group_members_errors() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello, iago] = t.users(["hamlet", "cordelia", "othello", "iago"]);
    let ghost = t.user("ghost").id;
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let path = format!("/user_groups/{cooks}/members");
    let nothing = "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\".";
    hamlet.post(&path, &[]).bad(nothing).await;
    hamlet.post(&path, &[("add", &"[]")]).bad(nothing).await;
    iago.post(&path, &[("add", &json!([iago.id]))]).bad("Insufficient permission").await;
    for (name, value, msg) in [
        ("add", json!([cordelia.id]), format!("User {} is already a member of this group", cordelia.id)),
        ("add", json!([999]), "Invalid user ID: 999".to_owned()),
        ("add", json!([ghost]), format!("Invalid user ID: {ghost}")),
        ("add", json!([othello.id, 999]), "Invalid user ID: 999".to_owned()),
        ("delete", json!([othello.id]), format!("There is no member '{}' in this user group", othello.id)),
        ("delete", json!([999]), "There is no member '999' in this user group".to_owned()),
        ("add_subgroups", json!([999]), "Invalid user group".to_owned()),
        ("delete_subgroups", json!([999]), "User group 999 is not a subgroup of this group.".to_owned()),
    ] {
        hamlet.post(&path, &[(name, &value)]).bad(&msg).await;
    }
    for id in [group_id(&t, "role:members"), 999] {
        let path = format!("/user_groups/{id}/members");
        t.user("desdemona").post(&path, &[("add", &json!([hamlet.id]))]).bad("Invalid user group").await;
    }
    // A refused request changes no member.
    assert_eq!(read(&hamlet, cooks).await["members"], json!([cordelia.id]));
}

#[tokio::test]
async fn group_members_of_deactivated_group() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let cooks = create(&hamlet, "cooks", &[]).await;
    hamlet.post(&format!("/user_groups/{cooks}/deactivate"), &[]).ok().await;
    hamlet.post(&format!("/user_groups/{cooks}/members"), &[("add", &json!([cordelia.id]))]).ok().await;
    assert_eq!(read(&hamlet, cooks).await["members"], json!([cordelia.id]));
}

#[tokio::test]
async fn group_membership_direct_and_recursive() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello] = t.users(["hamlet", "cordelia", "othello"]);
    let cooks = create(&hamlet, "cooks", &[&cordelia]).await;
    let staff = create_with(&hamlet, "staff", &[&othello], json!({"subgroups": [cooks]})).await;
    let firm = create_with(&hamlet, "firm", &[], json!({"subgroups": [staff]})).await;
    let mut both = [cordelia.id, othello.id];
    both.sort_unstable();
    for (group, direct, expected) in [
        (staff, false, json!(both)),
        (staff, true, json!([othello.id])),
        (firm, false, json!(both)),
        (firm, true, json!([])),
    ] {
        let path = format!("/user_groups/{group}/members");
        let body = cordelia.get(&path, &[("direct_member_only", &direct)]).ok().await;
        assert_eq!((fields(&body), &body["members"]), (vec!["members"], &expected), "{group} {direct}");
    }
    for (group, user, direct, expected) in [
        (firm, cordelia.id, false, true),
        (firm, cordelia.id, true, false),
        (cooks, cordelia.id, true, true),
        (cooks, othello.id, false, false),
    ] {
        let path = format!("/user_groups/{group}/members/{user}");
        let body = hamlet.get(&path, &[("direct_member_only", &direct)]).ok().await;
        assert_eq!(
            (fields(&body), &body["is_user_group_member"]),
            (vec!["is_user_group_member"], &json!(expected))
        );
    }
    // Leaving a subgroup also ends the indirect membership in its parents.
    hamlet.post(&format!("/user_groups/{cooks}/members"), &[("delete", &json!([cordelia.id]))]).ok().await;
    let body = hamlet.get(&format!("/user_groups/{firm}/members"), &[]).ok().await;
    assert_eq!(body["members"], json!([othello.id]));
    let everyone = group_id(&t, "role:everyone");
    let body =
        hamlet.get(&format!("/user_groups/{everyone}/members/{}", t.user("polonius").id), &[]).ok().await;
    assert_eq!(body["is_user_group_member"], true);
}

#[tokio::test]
async fn group_membership_read_errors() {
    let t = TestServer::start().await;
    let [hamlet, polonius, bot] = t.users(["hamlet", "polonius", "default-bot"]);
    let ghost = t.user("ghost").id;
    let everyone = group_id(&t, "role:everyone");
    for path in ["members", "subgroups", "members/1"] {
        let path = format!("/user_groups/{everyone}/{path}");
        polonius.get(&path, &[]).bad("Not allowed for guest users").await;
        bot.get(&path, &[]).bad("This endpoint does not accept bot requests.").await;
        hamlet.get(&path.replace(&everyone.to_string(), "999"), &[]).bad("Invalid user group").await;
    }
    hamlet.get(&format!("/user_groups/{everyone}/members/999"), &[]).bad("No such user").await;
    hamlet.get(&format!("/user_groups/{everyone}/members/{ghost}"), &[]).bad("User is deactivated").await;
}
