//! `/users/me/muted_users/{user_id}`.

use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

fn path(whom: &TestUser) -> String {
    format!("/users/me/muted_users/{}", whom.id)
}

async fn muted(who: &TestUser) -> Value {
    who.register().await.state["muted_users"].clone()
}

/// Marks all messages as read, so that the notice of the new channel does not count.
async fn read_all(people: &[&TestUser]) {
    for person in people {
        person.post("/mark_all_as_read", &[]).ok().await;
    }
}

#[tokio::test]
async fn mute_user_marks_messages_read() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&othello).await;
    read_all(&[&hamlet, &othello]).await;
    let before = [iago.send(&channel, "t", "one").await, iago.send_direct(&[&hamlet], "two").await];
    let others = othello.send(&channel, "t", "stays unread").await;
    hamlet.post(&path(&iago), &[]).ok().await;
    let list = muted(&hamlet).await;
    assert_eq!((list.as_array().unwrap().len(), &list[0]["id"]), (1, &json!(iago.id)));
    assert!(list[0]["timestamp"].as_u64().unwrap() > 1_000_000_000, "{list}");
    let after = [
        iago.send(&channel, "t", "hey @**King Hamlet**").await,
        iago.send_direct(&[&hamlet, &othello], "four").await,
        iago.send_direct(&[&hamlet, &t.user("ZOE")], "a new conversation").await,
    ];
    let unread = hamlet.message_ids(json!([["is", "unread"]])).await;
    assert_eq!(unread, [others]);
    let messages = hamlet.messages(json!([{"operator": "sender", "operand": iago.id}])).await;
    let flags = |id: u64| messages.iter().find(|message| message["id"] == id).unwrap()["flags"].clone();
    for id in before.into_iter().chain([after[1], after[2]]) {
        assert_eq!(flags(id), json!(["read"]), "{id}");
    }
    assert_eq!(flags(after[0]), json!(["read", "mentioned"]));
    // Other users are not affected.
    let unread = othello.message_ids(json!([["is", "unread"]])).await;
    assert_eq!(unread, [before[0], others, after[0], after[1]]);
    // A read message can be marked as unread and stays unread.
    hamlet.flag("remove", "read", &[after[0]]).await;
    assert_eq!(hamlet.message_ids(json!([["is", "unread"]])).await, [others, after[0]]);
    hamlet.delete(&path(&iago), &[]).ok().await;
    assert_eq!(muted(&hamlet).await, json!([]));
    let later = iago.send(&channel, "t", "heard again").await;
    assert_eq!(hamlet.message_ids(json!([["is", "unread"]])).await, [others, after[0], later]);
}

#[tokio::test]
async fn mute_user_survives_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    read_all(&[&hamlet]).await;
    hamlet.post(&path(&iago), &[]).ok().await;
    iago.send(&channel, "t", "before").await;
    let before = muted(&hamlet).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    assert_eq!(muted(&hamlet).await, before);
    iago.send(&channel, "t", "after").await;
    assert_eq!(hamlet.message_ids(json!([["is", "unread"]])).await, [] as [u64; 0]);
}

#[tokio::test]
async fn mute_user_hides_read_receipts() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&othello).await;
    let id = othello.send(&channel, "t", "x").await;
    for who in [&iago, &hamlet] {
        who.flag("add", "read", &[id]).await;
    }
    let readers = |who: &TestUser| {
        let call = who.get(&format!("/messages/{id}/read_receipts"), &[]);
        async move { call.ok().await["user_ids"].clone() }
    };
    let both = json!([iago.id.min(hamlet.id), iago.id.max(hamlet.id)]);
    assert_eq!(readers(&othello).await, both);
    hamlet.post(&path(&othello), &[]).ok().await;
    assert_eq!(readers(&othello).await, json!([iago.id]));
    othello.post(&path(&iago), &[]).ok().await;
    assert_eq!(readers(&othello).await, json!([]));
    assert_eq!(readers(&hamlet).await, both);
}

#[tokio::test]
async fn mute_bots_and_deactivated_users() {
    let t = TestServer::start().await;
    let [hamlet, bot, ghost] = t.users(["hamlet", "default-bot", "ghost"]);
    for whom in [&bot, &ghost] {
        hamlet.post(&path(whom), &[]).ok().await;
    }
    let mut ids = [bot.id, ghost.id];
    ids.sort_unstable();
    let list = muted(&hamlet).await;
    let listed: Vec<&Value> = list.as_array().unwrap().iter().map(|muted| &muted["id"]).collect();
    assert_eq!(listed, ids);
}

#[tokio::test]
async fn mute_user_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    hamlet.post(&path(&hamlet), &[]).bad("Cannot mute self").await;
    hamlet.post("/users/me/muted_users/99999", &[]).bad("No such user").await;
    hamlet.delete("/users/me/muted_users/99999", &[]).bad("No such user").await;
    let notifier = t.realm().directory().users().find(|user| user.is_system_bot()).expect("a bot").id;
    hamlet.post(&format!("/users/me/muted_users/{notifier}"), &[]).bad("No such user").await;
    hamlet.delete(&path(&iago), &[]).bad("User is not muted").await;
    hamlet.post(&path(&iago), &[]).ok().await;
    hamlet.post(&path(&iago), &[]).bad("User already muted").await;
    assert_eq!(muted(&iago).await, json!([]), "it is one's own");
}
