//! `GET /messages` around the first unread message: muted messages are skipped (docs/api/messages.md#fetch-messages).

use crate::support::{Channel, Params, TestServer, TestUser};
use serde_json::{Value, json};

const NEWEST: u64 = 10_000_000_000_000_000;

async fn first_unread(who: &TestUser, narrow: Value) -> u64 {
    let params: Params<'_> = &[("anchor", &"first_unread"), ("num_after", &1), ("narrow", &narrow)];
    who.get("/messages", params).ok().await["anchor"].as_u64().unwrap()
}

async fn mute_channel(who: &TestUser, channel: &Channel, is_muted: bool) {
    let data = json!([{"stream_id": channel.id, "property": "is_muted", "value": is_muted}]);
    who.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
}

async fn set_policy(who: &TestUser, channel: &Channel, topic: &str, policy: u8) {
    let params: Params<'_> = &[("stream_id", &channel.id), ("topic", &topic), ("visibility_policy", &policy)];
    who.post("/user_topics", params).ok().await;
}

struct Stage {
    _t: TestServer,
    hamlet: TestUser,
    verona: Channel,
    /// One message each in Verona > a, Verona > b and Rome > a, and a direct message.
    ids: [u64; 4],
}

async fn stage() -> Stage {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let quiet = json!(false);
    let verona =
        iago.create_channel("Verona").with(&hamlet).set("send_channel_events_messages", quiet.clone());
    let verona = verona.await;
    let rome = iago.create_channel("Rome").with(&hamlet).set("send_channel_events_messages", quiet).await;
    hamlet.post("/mark_all_as_read", &[]).ok().await;
    let ids = [
        iago.send(&verona, "a", "x").await,
        iago.send(&verona, "b", "x").await,
        iago.send(&rome, "a", "x").await,
        iago.send_direct(&[&hamlet], "x").await,
    ];
    Stage { _t: t, hamlet, verona, ids }
}

#[tokio::test]
async fn first_unread_skips_muted_topics_and_channels() {
    let s = stage().await;
    let (hamlet, verona, [a, b, rome, dm]) = (&s.hamlet, &s.verona, s.ids);
    assert_eq!(first_unread(hamlet, json!([])).await, a);
    set_policy(hamlet, verona, "A", 1).await;
    assert_eq!(first_unread(hamlet, json!([])).await, b);
    mute_channel(hamlet, verona, true).await;
    assert_eq!(first_unread(hamlet, json!([])).await, rome);
    // A narrow to a muted channel includes its messages, but not those of its muted topics.
    assert_eq!(first_unread(hamlet, json!([["channel", "Verona"]])).await, b);
    assert_eq!(first_unread(hamlet, json!([["channel", "Verona"], ["topic", "a"]])).await, NEWEST);
    // Unmuted and followed topics of a muted channel are included.
    for policy in [2, 3] {
        set_policy(hamlet, verona, "b", policy).await;
        assert_eq!(first_unread(hamlet, json!([])).await, b);
    }
    set_policy(hamlet, verona, "b", 0).await;
    // A narrow to a topic name alone names no channel.
    assert_eq!(first_unread(hamlet, json!([["topic", "b"]])).await, NEWEST);
    assert_eq!(first_unread(hamlet, json!([["is", "dm"]])).await, dm);
    hamlet.flag("add", "read", &[rome, dm]).await;
    assert_eq!(first_unread(hamlet, json!([])).await, NEWEST);
    assert_eq!(first_unread(hamlet, json!([["in", "home"]])).await, NEWEST);
    mute_channel(hamlet, verona, false).await;
    assert_eq!(first_unread(hamlet, json!([])).await, b);
}

#[tokio::test]
async fn first_unread_in_muted_narrow() {
    let s = stage().await;
    let (hamlet, verona, [a, b, rome, dm]) = (&s.hamlet, &s.verona, s.ids);
    let found = |narrow: Value| async move {
        let all = hamlet.message_ids(narrow).await;
        all.into_iter().filter(|id| s.ids.contains(id)).collect::<Vec<_>>()
    };
    let not = |operand: &str| json!([{"operator": "is", "operand": operand, "negated": true}]);
    set_policy(hamlet, verona, "a", 1).await;
    assert_eq!(found(json!([["is", "muted"]])).await, [a]);
    assert_eq!(found(json!([["in", "home"]])).await, [b, rome, dm]);
    mute_channel(hamlet, verona, true).await;
    assert_eq!(found(json!([["is", "muted"]])).await, [a, b]);
    assert_eq!(found(not("muted")).await, [rome, dm]);
    set_policy(hamlet, verona, "B", 3).await;
    assert_eq!(found(json!([["is", "muted"]])).await, [a]);
    assert_eq!(found(json!([["is", "followed"]])).await, [b]);
    assert_eq!(found(not("followed")).await, [a, rome, dm]);
    // A negated `in` term has no effect.
    let home = json!([{"operator": "in", "operand": "home", "negated": true}]);
    assert_eq!(found(home).await, [b, rome, dm]);
    assert_eq!(found(json!([["in", "all"]])).await, [a, b, rome, dm]);
    hamlet.unsubscribe(verona).await;
    assert_eq!(found(json!([["is", "muted"], ["channel", "Rome"]])).await, [] as [u64; 0]);
}

#[tokio::test]
async fn first_unread_ignores_messages_without_row() {
    let s = stage().await;
    let (hamlet, verona, ids) = (&s.hamlet, &s.verona, s.ids);
    hamlet.unsubscribe(verona).await;
    // The narrow searches the whole channel, in which no message is unread any more.
    assert_eq!(first_unread(hamlet, json!([["channel", "Verona"]])).await, NEWEST);
    assert_eq!(hamlet.message_ids(json!([["channel", "Verona"], ["is", "unread"]])).await, [] as [u64; 0]);
    assert!(hamlet.message_ids(json!([["channel", "Verona"]])).await.ends_with(&ids[..2]));
    assert_eq!(first_unread(hamlet, json!([])).await, ids[2]);
}
