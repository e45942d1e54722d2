//! Private channels with protected history: users see the messages sent while they were subscribed.

use crate::support::{Param, TestServer, TestUser};
use serde_json::{Value, json};

async fn sees(who: &TestUser, id: u64) -> bool {
    let answer = who.get(&format!("/messages/{id}"), &[]).await;
    let one = answer.status == 200;
    let body = who.get("/messages", &[("message_ids", &json!([id]))]).ok().await;
    let many = body["messages"].as_array().unwrap().len() == 1;
    assert_eq!(one, many, "both ways of asking for message {id} agree");
    one
}

#[tokio::test]
async fn protected_history_hides_messages_outside_subscription() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("club").protected_history().await;
    let before = iago.send(&channel, "t", "before").await;
    iago.subscribe_others(&channel, &[&hamlet]).await;
    let during = iago.send(&channel, "t", "during").await;
    assert_eq!((sees(&hamlet, before).await, sees(&hamlet, during).await), (false, true));
    let narrow = json!([["channel", "club"], ["topic", "t"]]);
    assert_eq!(hamlet.message_ids(narrow.clone()).await, [during]);
    hamlet.unsubscribe(&channel).await;
    let away = iago.send(&channel, "t", "away").await;
    assert_eq!((sees(&hamlet, during).await, sees(&hamlet, away).await), (false, false));
    assert!(hamlet.message_ids(json!([["is", "starred"]])).await.is_empty());
    iago.subscribe_others(&channel, &[&hamlet]).await;
    let again = iago.send(&channel, "t", "again").await;
    assert_eq!(
        [
            sees(&hamlet, before).await,
            sees(&hamlet, during).await,
            sees(&hamlet, away).await,
            sees(&hamlet, again).await
        ],
        [false, true, false, true]
    );
    assert_eq!(hamlet.message_ids(narrow).await, [during, again]);
    let flags = json!([before, away]);
    let params: crate::support::Params<'_> = &[("messages", &flags), ("op", &"add"), ("flag", &"starred")];
    hamlet.post("/messages/flags", params).bad("Invalid message(s)").await;
}

#[tokio::test]
async fn unresolve_event_when_notice_is_deleted() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("club").protected_history().with(&hamlet).await;
    let id = iago.send(&channel, "lunch", "x").await;
    let all: Param<'_> = ("propagate_mode", &"change_all");
    iago.edit(id, &[("topic", &"✔ lunch"), all]).ok().await;
    let notice = *iago.message_ids(json!([["channel", "club"]])).await.last().unwrap();
    let mut queue = hamlet.register().modern().await;
    iago.edit(notice, &[("topic", &"lunch"), all]).ok().await;
    let events = queue.now().await;
    let received: Vec<_> = events.iter().map(|event| (&event["type"], &event["message_ids"])).collect();
    let (both, gone) = (json!([id, notice]), json!([notice]));
    assert_eq!(received, [(&json!("update_message"), &both), (&json!("delete_message"), &gone)]);
}

#[tokio::test]
async fn starred_message_readable_after_channel_becomes_private() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("club").await;
    let [starred, unread] = [iago.send(&channel, "t", "before").await, iago.send(&channel, "t", "too").await];
    let other = iago.send(&channel, "other", "unseen").await;
    let flag = async |id: u64, op: &str, flag: &str| {
        let ids = json!([id]);
        hamlet.post("/messages/flags", &[("messages", &ids), ("op", &op), ("flag", &flag)]).ok().await;
    };
    flag(starred, "add", "starred").await;
    hamlet.subscribe(&channel).await;
    flag(unread, "remove", "read").await;
    let privacy: crate::support::Params<'_> =
        &[("is_private", &true), ("history_public_to_subscribers", &false)];
    iago.call(reqwest::Method::PATCH, &format!("/streams/{}", channel.id), privacy).ok().await;
    let found = [sees(&hamlet, starred).await, sees(&hamlet, unread).await, sees(&hamlet, other).await];
    assert_eq!(found, [true, true, false]);
    let topics = hamlet.get(&format!("/users/me/{}/topics", channel.id), &[]).ok().await;
    let names: Vec<&Value> = topics["topics"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["channel events", "t"]);
    hamlet.post(&format!("/messages/{starred}/reactions"), &[("emoji_name", &"tada")]).ok().await;
    // Unsubscribing marks all messages of the channel as read and hides them.
    let mut queue = hamlet.register().modern().events(&["update_message_flags"]).await;
    hamlet.unsubscribe(&channel).await;
    let read = queue.now().await;
    let ids = read[0]["messages"].as_array().unwrap();
    assert!(read.len() == 1 && ids.contains(&json!(unread)) && !ids.contains(&json!(starred)), "{read:?}");
    assert!(!sees(&hamlet, starred).await);
}

#[tokio::test]
async fn shared_history_shows_all_to_subscribers() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("club").shared_history().await;
    let before = iago.send(&channel, "t", "before").await;
    assert!(!sees(&hamlet, before).await);
    iago.subscribe_others(&channel, &[&hamlet]).await;
    let found = hamlet.messages(json!([["channel", "club"], ["topic", "t"]])).await;
    assert_eq!((&found[0]["id"], &found[0]["flags"]), (&json!(before), &json!(["read", "historical"])));
    // Old messages are not unread.
    let state = hamlet.register().modern().await.state;
    let unread: Vec<&Value> = state["unread_msgs"]["streams"].as_array().unwrap().iter().collect();
    assert!(unread.is_empty(), "{unread:?}");
    hamlet.unsubscribe(&channel).await;
    let body = hamlet.get("/messages", &[("message_ids", &json!([before]))]).ok().await;
    assert_eq!(body["messages"], json!([]));
}

#[tokio::test]
async fn who_cannot_read_a_topic_does_not_learn_its_new_name() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let channel = iago.create_channel("club").protected_history().with(&hamlet).await;
    let id = iago.send(&channel, "lunch", "x").await;
    let follow = async |who: &TestUser| {
        let params: crate::support::Params<'_> =
            &[("stream_id", &channel.id), ("topic", &"lunch"), ("visibility_policy", &3)];
        who.post("/user_topics", params).ok().await;
    };
    follow(&hamlet).await;
    hamlet.unsubscribe(&channel).await;
    iago.subscribe_others(&channel, &[&cordelia]).await;
    follow(&cordelia).await;
    let mut queues = [hamlet.register().modern().await, cordelia.register().modern().await];
    // A notice would be a new message, for the present subscribers.
    let without_notices: [Param<'_>; 2] =
        [("send_notification_to_new_thread", &false), ("send_notification_to_old_thread", &false)];
    let moved: [Param<'_>; 2] = [("topic", &"secret dinner"), ("propagate_mode", &"change_all")];
    iago.edit(id, &[moved, without_notices].concat()).ok().await;
    for (who, queue) in [&hamlet, &cordelia].into_iter().zip(&mut queues) {
        let events = serde_json::to_string(&queue.now().await).unwrap();
        assert!(!events.contains("secret dinner"), "{events}");
        let state = who.post("/register", &[("event_types", &json!(["user_topic"]))]).ok().await;
        assert!(!state.to_string().contains("secret dinner"), "{state}");
    }
}
