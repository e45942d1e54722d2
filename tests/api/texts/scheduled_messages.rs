//! `/scheduled_messages`: scheduling, changing and deleting. How they are sent is tested in `flows::scheduled`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/scheduled_messages";

/// Long after the test.
const LATER: u64 = 4_000_000_000;

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["scheduled_messages"].clone()
}

async fn schedule(who: &TestUser, params: Params<'_>) -> u64 {
    who.post(PATH, params).ok().await["scheduled_message_id"].as_u64().unwrap()
}

#[tokio::test]
async fn messages_are_scheduled_changed_and_deleted() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let channel = hamlet.create_channel("Verona").await;
    let to_channel: Params<'_> = &[
        ("type", &"channel"),
        ("to", &channel.id),
        ("topic", &" later on "),
        ("content", &"see **this**\n"),
        ("scheduled_delivery_timestamp", &LATER),
    ];
    let first = schedule(&hamlet, to_channel).await;
    let people = json!([iago.id]);
    let to_people: Params<'_> = &[
        ("type", &"direct"),
        ("to", &people),
        ("content", &"psst"),
        ("scheduled_delivery_timestamp", &(LATER - 1)),
    ];
    let second = schedule(&hamlet, to_people).await;
    let first_json = json!({
        "scheduled_message_id": first, "to": channel.id, "type": "stream", "content": "see **this**",
        "rendered_content": "<p>see <strong>this</strong></p>", "topic": "later on",
        "scheduled_delivery_timestamp": LATER, "failed": false,
    });
    let second_json = json!({
        "scheduled_message_id": second, "to": [iago.id], "type": "private", "content": "psst",
        "rendered_content": "<p>psst</p>", "scheduled_delivery_timestamp": LATER - 1, "failed": false,
    });
    assert_eq!(listed(&hamlet).await, json!([second_json, first_json]), "the one due first is first");
    let state = hamlet.register().await.state;
    assert_eq!(state["scheduled_messages"], json!([second_json, first_json]));
    assert_eq!(state["reminders"], json!([]));
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    let path = format!("{PATH}/{first}");
    hamlet.patch(&path, &[("content", &"new"), ("topic", &"other")]).ok().await;
    hamlet.patch(&path, &[("scheduled_delivery_timestamp", &(LATER - 2))]).ok().await;
    let first_json = json!({
        "scheduled_message_id": first, "to": channel.id, "type": "stream", "content": "new",
        "rendered_content": "<p>new</p>", "topic": "other", "scheduled_delivery_timestamp": LATER - 2,
        "failed": false,
    });
    assert_eq!(listed(&hamlet).await, json!([first_json, second_json]));
    hamlet.patch(&path, &[("type", &"direct"), ("to", &json!([hamlet.id]))]).ok().await;
    let changed = listed(&hamlet).await[0].clone();
    assert_eq!((&changed["type"], &changed["to"]), (&json!("private"), &json!([hamlet.id])));
    assert_eq!(changed.get("topic"), None);
    hamlet.delete(&path, &[]).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(listed(&t.user("hamlet")).await, json!([second_json]));
}

#[tokio::test]
async fn scheduling_has_the_errors_of_sending() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let secret = iago.create_channel("secret").private().await;
    let try_out =
        |kind: &'static str, to: Value, topic: Option<&'static str>, content: &'static str, secs: i64| {
            let hamlet = hamlet.clone();
            async move {
                let mut params: Vec<crate::support::Param<'_>> = vec![
                    ("type", &kind),
                    ("to", &to),
                    ("content", &content),
                    ("scheduled_delivery_timestamp", &secs),
                ];
                if let Some(topic) = &topic {
                    params.push(("topic", topic));
                }
                hamlet.post(PATH, &params).await
            }
        };
    let later = LATER as i64;
    let bad = |msg: String| json!({"msg": msg, "code": "BAD_REQUEST"});
    for (kind, to, topic, content, secs, msg) in [
        ("direct", json!([iago.id]), None, "x", 1_000, "Scheduled delivery time must be in the future."),
        ("direct", json!([iago.id]), None, "x", -1, "Scheduled delivery time must be in the future."),
        ("direct", json!([iago.id]), None, "x", i64::MAX, "scheduled_delivery_timestamp is too large"),
        ("direct", json!([iago.id]), None, " ", later, "Message must not be empty"),
        ("direct", json!([]), None, "x", later, "Message must have recipients"),
        ("direct", json!([99_999]), None, "x", later, "Invalid user ID 99999"),
        ("direct", json!(7), None, "x", later, "Invalid data type for recipients"),
        ("channel", json!([1, 2]), Some("t"), "x", later, "Invalid data type for channel ID"),
        ("channel", json!(1), None, "x", later, "Missing topic"),
        ("channel", json!("Verona"), Some("t"), "x", later, "to is not an integer"),
        ("letter", json!(1), Some("t"), "x", later, "Invalid type"),
    ] {
        try_out(kind, to, topic, content, secs).await.refused(400, bad(msg.to_owned()));
    }
    let unknown = json!({
        "msg": format!("Channel with ID '{}' does not exist", secret.id),
        "code": "STREAM_DOES_NOT_EXIST",
        "stream_id": secret.id,
    });
    try_out("channel", json!(secret.id), Some("t"), "x", later).await.refused(400, unknown);
    assert_eq!(listed(&hamlet).await, json!([]));
}

#[tokio::test]
async fn change_and_delete_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let people = json!([iago.id]);
    let id = schedule(
        &hamlet,
        &[
            ("type", &"private"),
            ("to", &people),
            ("content", &"psst"),
            ("scheduled_delivery_timestamp", &LATER),
        ],
    )
    .await;
    let path = format!("{PATH}/{id}");
    hamlet.patch(&path, &[]).bad("Nothing to change").await;
    let recipient = "Recipient required when updating type of scheduled message.";
    hamlet.patch(&path, &[("type", &"channel"), ("topic", &"t")]).bad(recipient).await;
    let topic = "Topic required when updating scheduled message type to channel.";
    hamlet.patch(&path, &[("type", &"channel"), ("to", &1)]).bad(topic).await;
    let past = "Scheduled delivery time must be in the future.";
    hamlet.patch(&path, &[("scheduled_delivery_timestamp", &5)]).bad(past).await;
    hamlet.patch(&path, &[("content", &" ")]).bad("Message must not be empty").await;
    let missing = json!({"msg": "Scheduled message does not exist", "code": "BAD_REQUEST"});
    for path in [&path, "/scheduled_messages/99999"] {
        iago.patch(path, &[("content", &"x")]).refused(404, missing.clone()).await;
        iago.delete(path, &[]).refused(404, missing.clone()).await;
    }
    assert_eq!(listed(&hamlet).await[0]["content"], "psst");
}
