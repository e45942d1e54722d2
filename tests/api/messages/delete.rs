//! `DELETE /messages/{id}`: permission, time limit, and complete removal.

use crate::support::{Call, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

fn delete(person: &TestUser, id: u64) -> Call {
    person.delete(&format!("/messages/{id}"), &[])
}

#[tokio::test]
async fn deleted_message_disappears_everywhere() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let kept = hamlet.send(&verona, "t", "kept").await;
    let id = hamlet.send(&verona, "t", "gone").await;
    iago.flag("add", "starred", &[id]).await;
    let answer = delete(&iago, id).ok().await;
    assert_eq!(answer, json!({"result": "success", "msg": ""}));
    assert_eq!(iago.message_ids(json!([["channel", "Verona"], ["topic", "t"]])).await, [kept]);
    assert!(iago.message_ids(json!([["is", "starred"]])).await.is_empty());
    for path in [format!("/messages/{id}"), format!("/messages/{id}/history")] {
        iago.get(&path, &[]).bad("Invalid message(s)").await;
    }
    delete(&iago, id).bad("Invalid message(s)").await;
    assert!(hamlet.send(&verona, "t", "next").await > id, "its id is not used again");
}

#[tokio::test]
async fn delete_own_message_time_limit() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let [owner, bot] = t.users(["AARON", "default-bot"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&owner).await;
    let not_permitted = "You don't have permission to delete this message";
    let over = "The time limit for deleting this message has passed";
    let [first, second, third] = [
        hamlet.send(&verona, "t", "a").await,
        hamlet.send(&verona, "t", "b").await,
        bot.send(&verona, "t", "c").await,
    ];
    delete(&owner, first).bad(not_permitted).await;
    clock.advance_secs(600);
    delete(&hamlet, first).ok().await;
    delete(&owner, third).ok().await;
    clock.advance_secs(1);
    delete(&hamlet, second).bad(over).await;
    desdemona.patch("/realm", &[("message_content_delete_limit_seconds", &"\"unlimited\"")]).ok().await;
    delete(&hamlet, second).ok().await;
}

#[tokio::test]
async fn delete_message_permission_groups() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, cordelia] = t.users(["desdemona", "iago", "hamlet", "cordelia"]);
    let only = |person: &TestUser| json!({"direct_members": [person.id], "direct_subgroups": []});
    let verona = desdemona
        .create_channel("Verona")
        .with(&hamlet)
        .set("can_delete_any_message_group", only(&cordelia))
        .await;
    let owner_only: Value = json!({"new": only(&desdemona)});
    desdemona.patch("/realm", &[("can_delete_any_message_group", &owner_only)]).ok().await;
    desdemona.patch("/realm", &[("can_delete_own_message_group", &owner_only)]).ok().await;
    let [a, b] = [hamlet.send(&verona, "t", "a").await, hamlet.send(&verona, "t", "b").await];
    for person in [&hamlet, &iago] {
        delete(person, a).bad("You don't have permission to delete this message").await;
    }
    delete(&cordelia, a).ok().await;
    delete(&desdemona, b).ok().await;
}

#[tokio::test]
async fn delete_direct_message_for_all_participants() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let id = hamlet.send_direct(&[&cordelia], "x").await;
    delete(&iago, id).bad("Invalid message(s)").await;
    delete(&cordelia, id).bad("You don't have permission to delete this message").await;
    delete(&hamlet, id).ok().await;
    assert!(cordelia.message_ids(json!([["is", "dm"]])).await.is_empty());
}

#[tokio::test]
async fn delete_message_concurrently_succeeds_once() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let verona = iago.create_channel("Verona").with(&desdemona).await;
    let id = iago.send(&verona, "t", "x").await;
    let mut asked = Vec::new();
    for number in 0..8 {
        let person = if number % 2 == 0 { iago.clone() } else { desdemona.clone() };
        asked.push(tokio::spawn(async move { delete(&person, id).await }));
    }
    let mut done = 0;
    for answer in asked {
        let answer = answer.await.expect("an answer");
        let msg = answer.body["msg"].as_str().expect("a text");
        match answer.status {
            200 => done += 1,
            // The request is queued behind the first or comes after it.
            _ => assert!(["Message already deleted", "Invalid message(s)"].contains(&msg), "{msg}"),
        }
    }
    assert_eq!(done, 1);
}
