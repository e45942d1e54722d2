//! `DELETE /streams/{id}`, and unarchiving with `PATCH`.

use crate::support::{Channel, Params, TestServer, TestUser, poll_for, wait_until};
use futures_util::FutureExt;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Mutex;

#[tokio::test]
async fn archived_channel_is_read_only() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = hamlet.create_channel("Verona").with(&othello).await;
    let path = format!("/streams/{}", channel.id);
    let id = hamlet.send(&channel, "t", "x").await;
    iago.post("/default_streams", &[("stream_id", &channel.id)]).ok().await;
    assert_eq!(hamlet.delete(&path, &[]).ok().await, json!({"result": "success", "msg": ""}));

    othello.get(&path, &[]).bad("Invalid channel ID").await;
    let send: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &"t"), ("content", &"more")];
    hamlet.post("/messages", send).bad("Not authorized to send to channel 'Verona'").await;
    othello.get(&format!("/messages/{id}"), &[]).ok().await;
    let shown = othello.get("/streams", &[("include_all", &true)]).ok().await;
    assert_eq!(shown["streams"], json!([]));
    let all = othello.get("/streams", &[("exclude_archived", &false), ("include_default", &true)]).ok().await;
    assert_eq!(all["streams"][0]["is_default"], json!(false));
    assert_eq!(all["streams"][0]["is_archived"], json!(true));
    // The notice of the archiving; the name stays reserved.
    let narrow = json!([["channel", channel.name], ["topic", "channel events"]]);
    let last = othello.messages(narrow.clone()).await.pop().expect("a notice");
    assert_eq!(last["content"], "<p>Channel Verona has been archived.</p>");
    // It is read, because users no longer see the channel.
    assert_eq!(last["flags"], json!(["read"]));
    let taken = json!({
        "msg": "Channel 'verona' already exists", "code": "CHANNEL_ALREADY_EXISTS", "channel_name": "verona"
    });
    let again: Params<'_> = &[("name", &"verona"), ("subscribers", &"[]")];
    othello.post("/channels/create", again).refused(409, taken).await;
    hamlet.delete(&path, &[]).bad("Channel is already deactivated").await;
    othello.delete(&path, &[]).bad("You do not have permission to administer this channel.").await;

    // Its settings can still be changed, without notices.
    hamlet.call(Method::PATCH, &path, &[("description", &"gone")]).ok().await;
    assert_eq!(othello.messages(narrow.clone()).await.last(), Some(&last));
    hamlet.call(Method::PATCH, &path, &[("is_archived", &true)]).ok().await;
    hamlet.call(Method::PATCH, &path, &[("is_archived", &false)]).ok().await;
    let back = othello.get(&path, &[]).ok().await["stream"].clone();
    assert_eq!((&back["is_archived"], &back["subscriber_count"]), (&json!(false), &json!(2)));
    let last = othello.messages(narrow).await.pop().expect("a notice");
    assert_eq!(last["content"], "<p>Channel Verona un-archived.</p>");
    hamlet.send(&channel, "t", "more").await;
}

/// The messages in `unread_msgs` of a registration, of all channels.
async fn unread_in_channels(user: &TestUser) -> Vec<Value> {
    let topics = user.register().modern().await.state["unread_msgs"]["streams"].clone();
    let topics = topics.as_array().expect("topics").iter();
    topics.flat_map(|topic| topic["unread_message_ids"].as_array().expect("ids").clone()).collect()
}

#[tokio::test]
async fn archived_channel_becomes_read_without_its_client() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    iago.send(&channel, "t", "x").await;
    assert!(!unread_in_channels(&hamlet).await.is_empty());
    let given_up = async {
        let archived = Box::pin(
            t.realm().archive_channel(model::UserId(iago.id), i64::try_from(channel.id).expect("an id")),
        );
        assert!(archived.now_or_never().is_none());
        let is_read = async || unread_in_channels(&hamlet).await.is_empty().then_some(());
        poll_for("the channel is read", is_read).await;
    };
    tokio::task::LocalSet::new().run_until(given_up).await;
}

#[tokio::test]
async fn what_is_marked_unread_in_an_archived_channel_is_unread() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let path = format!("/streams/{}", channel.id);
    let id = iago.send(&channel, "t", "x").await;
    iago.delete(&path, &[]).ok().await;
    let unread = async || unread_in_channels(&hamlet).await;
    assert_eq!(unread().await, [] as [u64; 0], "archiving marks it as read");
    let answer = hamlet.flag("remove", "read", &[id]).await;
    assert_eq!(answer["ignored_because_not_subscribed_channels"], json!([]));
    assert_eq!(unread().await, [json!(id)]);
    let narrow: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &10),
        ("num_after", &0),
        ("narrow", &json!([["channel", channel.name], ["topic", "t"]])),
        ("op", &"remove"),
        ("flag", &"read"),
    ];
    let answer = hamlet.post("/messages/flags/narrow", narrow).ok().await;
    assert_eq!((&answer["processed_count"], &answer["updated_count"]), (&json!(1), &json!(0)));
    iago.call(Method::PATCH, &path, &[("is_archived", &false)]).ok().await;
    assert!(unread().await.contains(&json!(id)));
}

#[tokio::test]
async fn archive_channel_permissions() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let secret = hamlet.create_channel("secret").private().await;
    let nowhere = Channel { id: 999, name: "nowhere".into() };
    for (who, channel) in [(&othello, &secret), (&iago, &nowhere)] {
        who.delete(&format!("/streams/{}", channel.id), &[]).bad("Invalid channel ID").await;
    }
    iago.delete(&format!("/streams/{}", secret.id), &[]).ok().await;
}

#[tokio::test]
async fn archive_channel_races_with_sends() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let channel = hamlet.create_channel("Verona").with(&othello).await;
    let accepted = Mutex::new(Vec::new());
    let send_until_refused = || async {
        loop {
            let params: Params<'_> =
                &[("type", &"channel"), ("to", &channel.id), ("topic", &"t"), ("content", &"x")];
            let response = othello.post("/messages", params).await;
            match response.body["id"].as_u64() {
                Some(id) => accepted.lock().unwrap().push(id),
                None => return response.bad("Not authorized to send to channel 'Verona'"),
            }
        }
    };
    let path = format!("/streams/{}", channel.id);
    let archive = async {
        wait_until("messages are sent", || accepted.lock().unwrap().len() >= 8).await;
        hamlet.delete(&path, &[]).ok().await;
    };
    tokio::join!(archive, futures_util::future::join_all((0..4).map(|_| send_until_refused())));
    let narrow = json!([["channel", channel.name], ["topic", "channel events"]]);
    let notice = hamlet.message_ids(narrow).await.pop().expect("a notice");
    let accepted = accepted.into_inner().unwrap();
    assert!(accepted.iter().all(|id| *id < notice), "{accepted:?} {notice}");
}
