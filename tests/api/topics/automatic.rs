//! Topic policies that sending and mentions set automatically, for each value of both settings.

use super::policies;
use crate::support::{Channel, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

async fn prefer(who: &TestUser, follow: u8, unmute: u8) {
    let params: Params<'_> = &[
        ("automatically_follow_topics_policy", &follow),
        ("automatically_unmute_topics_in_muted_streams_policy", &unmute),
    ];
    who.call(Method::PATCH, "/settings", params).ok().await;
}

async fn mute(who: &TestUser, channel: &Channel, is_muted: bool) {
    let data = json!([{"stream_id": channel.id, "property": "is_muted", "value": is_muted}]);
    who.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
}

async fn set(who: &TestUser, channel: &Channel, topic: &str, policy: u8) {
    let params: Params<'_> = &[("stream_id", &channel.id), ("topic", &topic), ("visibility_policy", &policy)];
    who.post("/user_topics", params).ok().await;
}

/// Sends a message; returns the `automatic_new_visibility_policy` of the response.
async fn write(who: &TestUser, channel: &Channel, topic: &str) -> Value {
    let params: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &topic), ("content", &"hi")];
    who.post("/messages", params).ok().await["automatic_new_visibility_policy"].clone()
}

#[tokio::test]
async fn automatic_policy_for_each_setting_value() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let (none, unmuted, followed) = (json!(null), json!(2), json!(3));
    let mut number = 0;
    for (follow, unmute, is_muted, starts, answers) in [
        (1, 4, false, &followed, &followed),
        (2, 4, false, &followed, &followed),
        (3, 4, false, &followed, &none),
        (4, 4, false, &none, &none),
        (4, 1, false, &none, &none),
        (4, 1, true, &unmuted, &unmuted),
        (4, 2, true, &unmuted, &unmuted),
        (4, 3, true, &unmuted, &none),
        (4, 4, true, &none, &none),
        (3, 2, true, &followed, &unmuted),
        (3, 4, true, &followed, &none),
        (1, 1, true, &followed, &followed),
    ] {
        number += 1;
        prefer(&hamlet, follow, unmute).await;
        mute(&hamlet, &verona, is_muted).await;
        let case = format!("{follow} {unmute} {is_muted}");
        let own = format!("own {number}");
        assert_eq!(&write(&hamlet, &verona, &own).await, starts, "{case}: starting");
        let other = format!("other {number}");
        iago.send(&verona, &other, "first").await;
        assert_eq!(&write(&hamlet, &verona, &other.to_uppercase()).await, answers, "{case}: answering");
        // No further change.
        assert_eq!(write(&hamlet, &verona, &own).await, none, "{case}: again");
        let known = policies(&hamlet).await;
        for (topic, expected) in [(own, starts), (other, answers)] {
            let found = known.iter().find(|known| known[1].as_str().unwrap().to_lowercase() == topic);
            assert_eq!(found.map_or(&none, |known| &known[2]), expected, "{case}: {topic}");
        }
    }
}

#[tokio::test]
async fn automatic_policy_unmutes_and_keeps_followed() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    for topic in ["muted", "followed"] {
        iago.send(&verona, topic, "first").await;
    }
    set(&hamlet, &verona, "muted", 1).await;
    set(&hamlet, &verona, "followed", 3).await;
    let mut queue = hamlet.register().modern().events(&["message", "user_topic"]).await;
    assert_eq!(write(&hamlet, &verona, "muted").await, 2);
    let event = queue.next().await;
    assert_eq!((&event["type"], &event["visibility_policy"]), (&json!("user_topic"), &json!(2)));
    assert_eq!(queue.next().await["type"], "message");
    mute(&hamlet, &verona, true).await;
    assert_eq!(write(&hamlet, &verona, "followed").await, json!(null));
    assert_eq!(write(&hamlet, &verona, "muted").await, json!(null));
    let mut known = policies(&hamlet).await;
    known.sort_by_key(Value::to_string);
    assert_eq!(known, [json!([verona.id, "followed", 3]), json!([verona.id, "muted", 2])]);
}

#[tokio::test]
async fn automatic_policy_follows_on_mention() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    prefer(&iago, 4, 4).await;
    for (content, topic, expected) in [
        ("@_**King Hamlet**", "silent", None),
        ("@**all**", "everybody", None),
        ("@**King Hamlet** @**Cordelia, Lear's daughter**", "name", Some(3)),
    ] {
        iago.send(&verona, topic, content).await;
        let known = policies(&hamlet).await;
        let found = known.iter().find(|known| known[1] == topic).map(|known| known[2].as_u64().unwrap());
        assert_eq!(found, expected, "{content}");
    }
    assert!(policies(&cordelia).await.is_empty(), "not subscribed");
    let off: Params<'_> = &[("automatically_follow_topics_where_mentioned", &false)];
    hamlet.call(Method::PATCH, "/settings", off).ok().await;
    iago.send(&verona, "no more", "@**King Hamlet**").await;
    assert_eq!(policies(&hamlet).await.len(), 1);
}

#[tokio::test]
async fn automatic_policy_not_for_bots() {
    let t = TestServer::start().await;
    let [owner, bot] = t.users(["AARON", "default-bot"]);
    let verona = owner.create_channel("Verona").with(&bot).await;
    assert_eq!(write(&bot, &verona, "t").await, json!(null));
    owner.send(&verona, "t", "@**Zulip Default Bot**").await;
    assert!(policies(&bot).await.is_empty());
}
