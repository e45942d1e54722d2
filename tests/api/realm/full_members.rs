//! The group of full members, which follows the waiting period.

use crate::api::groups::{group_id, read};
use crate::support::{TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

const DAY_SECS: u64 = 24 * 3600;

async fn set_days(owner: &TestUser, days: u32) {
    owner.call(Method::PATCH, "/realm", &[("waiting_period_threshold", &days)]).ok().await;
}

fn ids(value: &Value) -> Vec<u64> {
    value.as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id")).collect()
}

#[tokio::test]
async fn full_members_group_follows_waiting_period() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let (full, members) = (group_id(&t, "role:fullmembers"), group_id(&t, "role:members"));
    let everybody = ids(&read(&desdemona, members).await["members"]);
    assert_eq!(ids(&read(&desdemona, full).await["members"]), everybody);
    let mut queue = hamlet.register().modern().events(&["user_group"]).await;
    set_days(&desdemona, 3).await;
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["group_id"]), (&json!("remove_members"), &json!(full)));
    assert_eq!(ids(&event["user_ids"]), everybody);
    // The waiting period ends without any request.
    clock.advance_secs(3 * DAY_SECS);
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["group_id"]), (&json!("add_members"), &json!(full)));
    assert_eq!(ids(&event["user_ids"]), everybody);
    set_days(&desdemona, 30).await;
    assert_eq!(queue.next().await["op"], "remove_members");
    set_days(&desdemona, 0).await;
    assert_eq!(queue.next().await["op"], "add_members");
}

#[tokio::test]
async fn full_members_no_events_for_deactivated_users() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, hamlet, cordelia] = t.users(["desdemona", "hamlet", "cordelia"]);
    let full = group_id(&t, "role:fullmembers");
    let gone = format!("/users/{}", cordelia.id);
    desdemona.delete(&gone, &[]).ok().await;
    let listed = ids(&read(&desdemona, full).await["members"]);
    assert!(!listed.contains(&cordelia.id.into()));
    let mut queue = hamlet.register().modern().events(&["user_group"]).await;
    set_days(&desdemona, 3).await;
    assert_eq!(ids(&queue.next().await["user_ids"]), listed);
    set_days(&desdemona, 0).await;
    assert_eq!(ids(&queue.next().await["user_ids"]), listed);
    desdemona.call(Method::PATCH, &gone, &[("role", &300)]).ok().await;
    assert_eq!(queue.now().await, Vec::<Value>::new());
    // Reactivation restores the groups of the current role.
    desdemona.post(&format!("{gone}/reactivate"), &[]).ok().await;
    let event = queue.next().await;
    let moderators = group_id(&t, "role:moderators");
    assert_eq!((&event["op"], &event["group_id"]), (&json!("add_members"), &json!(moderators)));
    assert_eq!(queue.now().await, Vec::<Value>::new());
}
