//! `GET /users/me/{stream_id}/topics`.

use crate::support::shape::fields;
use crate::support::{Channel, Person, TestServer};
use serde_json::{Value, json};

async fn topics(who: &Person, channel: &Channel) -> Value {
    who.get(&format!("/users/me/{}/topics", channel.id), &[]).ok().await["topics"].clone()
}

#[tokio::test]
async fn newest_first_with_the_newest_spelling() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    iago.send(&channel, "pens", "1").await;
    let empty = iago.send(&channel, "", "2").await;
    let pens = iago.send(&channel, "PENS", "3").await;
    let path = format!("/users/me/{}/topics", channel.id);
    let body = hamlet.get(&path, &[]).ok().await;
    assert_eq!(fields(&body), ["topics"]);
    let topics = body["topics"].as_array().unwrap();
    let newest = [json!({"name": "PENS", "max_id": pens}), json!({"name": "general chat", "max_id": empty})];
    assert_eq!(topics[..2], newest);
    assert_eq!(topics[2]["name"], "channel events");
    let body = hamlet.get(&path, &[("allow_empty_topic_name", &true)]).ok().await;
    assert_eq!(body["topics"][1]["name"], "");
}

#[tokio::test]
async fn protected_history_starts_with_the_subscription() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let protected = iago.create_channel("protected").protected_history().await;
    let shared = iago.create_channel("shared").shared_history().await;
    for channel in [&protected, &shared] {
        iago.send(channel, "before", "x").await;
        iago.subscribe_others(channel, &[&hamlet]).await;
        iago.send(channel, "after", "x").await;
    }
    let names = |topics: Value| -> Vec<Value> {
        topics.as_array().unwrap().iter().map(|topic| topic["name"].clone()).collect()
    };
    assert_eq!(names(topics(&hamlet, &protected).await), ["after"]);
    assert_eq!(names(topics(&hamlet, &shared).await), ["after", "before", "channel events"]);
    assert_eq!(names(topics(&iago, &protected).await), ["after", "before", "channel events"]);
}

#[tokio::test]
async fn channels_that_are_not_for_one() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let secret = hamlet.create_channel("secret").private().await;
    let open = iago.create_channel("Verona").await;
    // Being an administrator gives no right to read.
    for (who, id) in [(&iago, secret.id), (&polonius, open.id), (&hamlet, 999)] {
        who.get(&format!("/users/me/{id}/topics"), &[]).bad("Invalid channel ID").await;
    }
    assert_eq!(t.stranger().get(&format!("/users/me/{}/topics", open.id), &[]).await.status, 401);
}

#[tokio::test]
async fn bots_and_archived_channels() {
    let t = TestServer::start().await;
    let [owner, bot, hamlet] = t.users(["AARON", "default-bot", "hamlet"]);
    let protected = owner.create_channel("protected").protected_history().await;
    owner.send(&protected, "before", "x").await;
    owner.subscribe_others(&protected, &[&bot]).await;
    // Not what its owner was given, but what the bot was.
    assert_eq!(topics(&bot, &protected).await, json!([]));
    let id = owner.send(&protected, "after", "x").await;
    assert_eq!(topics(&bot, &protected).await, json!([{"name": "after", "max_id": id}]));
    let open = owner.create_channel("Verona").await;
    owner.send(&open, "lunch", "x").await;
    let before = topics(&hamlet, &open).await;
    owner.delete(&format!("/streams/{}", open.id), &[]).ok().await;
    let after = topics(&hamlet, &open).await;
    assert!(
        before
            .as_array()
            .unwrap()
            .iter()
            .all(|topic| { after.as_array().unwrap().iter().any(|still| still["name"] == topic["name"]) })
    );
}
