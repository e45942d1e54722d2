//! `GET /users/me/{stream_id}/topics`.

use crate::support::shape::fields;
use crate::support::{Channel, TestServer, TestUser};
use serde_json::{Value, json};

async fn topics(who: &TestUser, channel: &Channel) -> Value {
    who.get(&format!("/users/me/{}/topics", channel.id), &[]).ok().await["topics"].clone()
}

#[tokio::test]
async fn list_topics_newest_first_with_newest_spelling() {
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
async fn list_topics_in_protected_history() {
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
async fn list_topics_of_inaccessible_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let secret = hamlet.create_channel("secret").private().await;
    let open = iago.create_channel("Verona").await;
    // The administrator role gives no access to messages.
    for (who, id) in [(&iago, secret.id), (&polonius, open.id), (&hamlet, 999)] {
        who.get(&format!("/users/me/{id}/topics"), &[]).bad("Invalid channel ID").await;
    }
    assert_eq!(t.anonymous().get(&format!("/users/me/{}/topics", open.id), &[]).await.status, 401);
}

#[tokio::test]
async fn list_topics_for_bots() {
    let t = TestServer::start().await;
    let [owner, bot, hamlet] = t.users(["AARON", "default-bot", "hamlet"]);
    let protected = owner.create_channel("protected").protected_history().await;
    owner.send(&protected, "before", "x").await;
    owner.subscribe_others(&protected, &[&bot]).await;
    // The topics of messages delivered to the bot, not to its owner.
    assert_eq!(topics(&bot, &protected).await, json!([]));
    let id = owner.send(&protected, "after", "x").await;
    assert_eq!(topics(&bot, &protected).await, json!([{"name": "after", "max_id": id}]));
    let open = owner.create_channel("Verona").await;
    owner.send(&open, "lunch", "x").await;
    let names = async || -> Vec<String> {
        let topics = topics(&hamlet, &open).await;
        topics.as_array().unwrap().iter().map(|topic| topic["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names().await, ["lunch", "channel events"]);
    owner.delete(&format!("/streams/{}", open.id), &[]).ok().await;
    // The notice of the archiving makes its topic the newest.
    assert_eq!(names().await, ["channel events", "lunch"]);
}
