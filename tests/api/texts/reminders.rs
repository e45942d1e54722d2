//! `/reminders`: scheduling, listing and deleting. How they are sent is tested in `flows::scheduled`.

use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/reminders";

/// Long after the test.
const LATER: u64 = 4_000_000_000;

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["reminders"].clone()
}

#[tokio::test]
async fn reminders_are_scheduled_and_deleted() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let channel = hamlet.create_channel("Verona").with(&iago).await;
    let message = iago.send(&channel, "remember", "do **this**").await;
    let params: crate::support::Params<'_> =
        &[("message_id", &message), ("scheduled_delivery_timestamp", &LATER), ("note", &" *call* them ")];
    let id = hamlet.post(PATH, params).ok().await["reminder_id"].as_u64().unwrap();
    let one = listed(&hamlet).await[0].clone();
    let content = one["content"].as_str().unwrap();
    let start =
        format!("You requested a reminder for #**Verona>remember@{message}**. Note:\n > *call* them\n\n");
    assert!(content.starts_with(&start), "{content}");
    assert!(content.ends_with(":\n```quote\ndo **this**\n```"), "{content}");
    let html = one["rendered_content"].as_str().unwrap();
    assert!(html.contains("<em>call</em> them") && html.contains("do <strong>this</strong>"), "{html}");
    let expected = json!({
        "reminder_id": id, "to": [hamlet.id], "type": "private", "content": content, "rendered_content": html,
        "scheduled_delivery_timestamp": LATER, "failed": false, "reminder_target_message_id": message,
    });
    assert_eq!(one, expected);
    let state = hamlet.register().await.state;
    assert_eq!((&state["reminders"], &state["scheduled_messages"]), (&json!([expected]), &json!([])));
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    // A reminder is no scheduled message, though their ids are of one sequence.
    let missing = json!({"msg": "Scheduled message does not exist", "code": "BAD_REQUEST"});
    let path = format!("/scheduled_messages/{id}");
    hamlet.patch(&path, &[("content", &"x")]).refused(404, missing.clone()).await;
    hamlet.delete(&path, &[]).refused(404, missing).await;
    let path = format!("{PATH}/{id}");
    let missing = json!({"msg": "Reminder does not exist", "code": "BAD_REQUEST"});
    iago.delete(&path, &[]).refused(404, missing.clone()).await;
    hamlet.delete(&path, &[]).ok().await;
    hamlet.delete(&path, &[]).refused(404, missing).await;
    assert_eq!(listed(&hamlet).await, json!([]));
}

#[tokio::test]
async fn reminder_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let secret = iago.create_channel("secret").private().await;
    let hidden = iago.send(&secret, "t", "x").await;
    let seen = iago.send_direct(&[&hamlet], "x").await;
    let long = "n".repeat(1_001);
    for (message, secs, note, msg) in [
        (seen, 5, "", "Scheduled delivery time must be in the future."),
        (seen, LATER, long.as_str(), "Maximum reminder note length: 1000 characters"),
        (hidden, LATER, "", "Invalid message(s)"),
        (99_999, LATER, "", "Invalid message(s)"),
    ] {
        let params: crate::support::Params<'_> =
            &[("message_id", &message), ("scheduled_delivery_timestamp", &secs), ("note", &note)];
        hamlet.post(PATH, params).bad(msg).await;
    }
    assert_eq!(listed(&hamlet).await, json!([]));
}
