//! `POST /messages/{message_id}/typing`, and `POST /message_edit_typing`.

use crate::support::shape::fields;
use crate::support::{Queue, TestServer, TestUser};
use serde_json::{Value, json};

async fn listen(who: &TestUser) -> Queue {
    who.register().modern().events(&["typing_edit_message"]).await
}

fn typing(who: &TestUser, message: u64, op: &str) -> crate::support::Call {
    who.post(&format!("/messages/{message}/typing"), &[("op", &op)])
}

#[tokio::test]
async fn typing_while_editing_in_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = hamlet.send(&verona, "t", "x").await;
    let (mut queue, mut own, mut other) =
        (listen(&iago).await, listen(&hamlet).await, listen(&cordelia).await);
    for op in ["start", "stop"] {
        assert_eq!(fields(&typing(&hamlet, id, op).ok().await), [] as [&str; 0]);
        let event = queue.next().await;
        let expected = json!({
            "id": event["id"], "type": "typing_edit_message", "op": op, "sender_id": hamlet.id, "message_id": id,
            "recipient": {"type": "channel", "channel_id": verona.id, "topic": "t"},
        });
        assert_eq!(event, expected);
    }
    hamlet.post("/message_edit_typing", &[("message_id", &id), ("op", &"start")]).ok().await;
    assert_eq!(queue.next().await["message_id"], id);
    assert_eq!(own.now().await.len(), 3);
    assert_eq!(other.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn typing_while_editing_direct_message() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = hamlet.send_direct(&[&iago], "x").await;
    let mut queue = listen(&iago).await;
    typing(&hamlet, id, "start").ok().await;
    let mut users = [iago.id, hamlet.id];
    users.sort_unstable();
    assert_eq!(queue.next().await["recipient"], json!({"type": "direct", "user_ids": users}));
    iago.patch("/settings", &[("receives_typing_notifications", &false)]).ok().await;
    typing(&hamlet, id, "stop").ok().await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn subscriber_without_the_message_is_not_told() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let secret = iago.create_channel("secret").protected_history().with(&hamlet).await;
    let id = iago.send(&secret, "t", "before").await;
    iago.subscribe_others(&secret, &[&othello]).await;
    let (mut reader, mut newcomer) = (listen(&hamlet).await, listen(&othello).await);
    typing(&iago, id, "start").ok().await;
    assert_eq!(reader.next().await["message_id"], id);
    assert_eq!(newcomer.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn typing_while_editing_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "t", "x").await;
    let direct = hamlet.send_direct(&[&iago], "x").await;
    typing(&hamlet, id, "start").bad("You don't have permission to edit this message").await;
    typing(&hamlet, 99_999, "start").bad("Invalid message(s)").await;
    typing(&iago, id, "begin").bad("Invalid op").await;
    hamlet.patch("/settings", &[("send_private_typing_notifications", &false)]).ok().await;
    let off = "User has disabled typing notifications for direct messages";
    typing(&hamlet, direct, "start").bad(off).await;
    iago.patch("/settings", &[("send_stream_typing_notifications", &false)]).ok().await;
    typing(&iago, id, "start").bad("User has disabled typing notifications for channel messages").await;
    iago.patch("/realm", &[("allow_message_editing", &false)]).ok().await;
    typing(&iago, id, "start").bad("Your organization has turned off message editing").await;
}
