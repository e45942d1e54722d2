//! Outgoing webhooks: the requests to the service, and what becomes of its replies.

use super::{make, make_outgoing, next_message, shown, start};
use crate::support::shape::fields;
use crate::support::{HttpStub, StubReply, TestUser};
use serde_json::json;

fn mention(bot: &TestUser, text: &str) -> String {
    format!("@**{}** {text}", bot.full_name)
}

#[tokio::test]
async fn outgoing_webhook_request_for_channel_mention() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let channel = othello.create_channel("Verona").with(&hamlet).await;
    let mut queue = othello.register().events(&["message"]).await;
    service.reply_next(StubReply::json(&json!({"content": "*four*"})));
    let id = othello.send(&channel, "numbers", &mention(&bot, "two and **two**?")).await;
    let asked = service.next_request().await;
    assert_eq!(asked.path, "/hook");
    assert_eq!(asked.headers["content-type"], "application/json");
    assert!(!asked.headers["idempotency-key"].is_empty());
    let body = asked.json();
    assert_eq!(fields(&body), ["bot_email", "bot_full_name", "data", "message", "token", "trigger"]);
    assert_eq!(body["bot_email"], json!(bot.email));
    assert_eq!(body["bot_full_name"], json!(bot.full_name));
    assert_eq!(body["data"], json!(mention(&bot, "two and **two**?")));
    assert_eq!(body["trigger"], "mention");
    assert_eq!(body["token"], shown(&hamlet, &bot).await.unwrap()["services"][0]["token"]);
    let message = &body["message"];
    assert_eq!((&message["id"], &message["stream_id"]), (&json!(id), &json!(channel.id)));
    assert_eq!((&message["type"], &message["subject"]), (&json!("stream"), &json!("numbers")));
    assert_eq!((&message["display_recipient"], &message["content"]), (&json!("Verona"), &body["data"]));
    assert_eq!(
        (&message["sender_id"], &message["content_type"]),
        (&json!(othello.id), &json!("text/x-markdown"))
    );
    assert!(message["rendered_content"].as_str().unwrap().contains("<strong>two</strong>"), "{message}");
    assert!(message["avatar_url"].is_string() && message.get("flags").is_none(), "{message}");
    let reply = next_message(&mut queue, &othello).await;
    assert_eq!((&reply["sender_id"], &reply["stream_id"]), (&json!(bot.id), &json!(channel.id)));
    assert_eq!((&reply["subject"], &reply["client"]), (&json!("numbers"), &json!("OutgoingWebhookResponse")));
    assert_eq!(reply["content"], "*four*");
}

#[tokio::test]
async fn outgoing_webhook_for_direct_message_and_response_string() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut queue = othello.register().events(&["message"]).await;
    service.reply_next(StubReply::json(&json!({"response_string": "hello"})));
    othello.send_direct(&[&hamlet, &bot], "who is there?").await;
    let body = service.next_request().await.json();
    assert_eq!((&body["trigger"], &body["data"]), (&json!("direct_message"), &json!("who is there?")));
    assert_eq!(body["message"]["type"], "private");
    let reply = next_message(&mut queue, &othello).await;
    assert_eq!((&reply["sender_id"], &reply["content"]), (&json!(bot.id), &json!("hello")));
    let people: Vec<u64> = reply["display_recipient"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_u64().unwrap())
        .collect();
    let mut expected = vec![u64::from(othello.id), hamlet.id.into(), bot.id.into()];
    expected.sort_unstable();
    assert_eq!(people, expected);
}

#[tokio::test]
async fn outgoing_webhook_replies_that_send_no_message() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut queue = othello.register().events(&["message"]).await;
    for silent in [
        StubReply::json(&json!({"response_not_required": true, "content": "not this"})),
        StubReply::json(&json!({})),
        StubReply::json(&json!("")),
        StubReply::json(&json!({"content": "   "})),
    ] {
        service.reply_next(silent);
        othello.send_direct(&[&bot], "well?").await;
        service.next_request().await;
    }
    service.reply_next(StubReply::json(&json!({"content": "this"})));
    othello.send_direct(&[&bot], "well?").await;
    // Each of these sent nothing, so the first message after them is the reply to the last request.
    assert_eq!(next_message(&mut queue, &othello).await["content"], "this");
    assert_eq!(othello.messages(json!([{"operator": "sender", "operand": bot.id}])).await.len(), 1);
}

#[tokio::test]
async fn outgoing_webhook_slack_format() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 2).await;
    let channel = othello.create_channel("Verona").await;
    let mut queue = othello.register().events(&["message"]).await;
    service.reply_next(StubReply::json(&json!({"text": "from over there"})));
    othello.send(&channel, "t", &mention(&bot, "hi")).await;
    let asked = service.next_request().await;
    assert_eq!(asked.headers["content-type"], "application/x-www-form-urlencoded");
    for (name, value) in [
        ("channel_id", format!("C{}", channel.id)),
        ("channel_name", "Verona".to_owned()),
        ("user_id", format!("U{}", othello.id)),
        ("user_name", othello.full_name.clone()),
        ("text", mention(&bot, "hi")),
        ("trigger_word", "mention".to_owned()),
        ("service_id", bot.id.to_string()),
    ] {
        assert_eq!(asked.field(name), value, "{name}");
    }
    assert_eq!(asked.field("timestamp"), asked.field("thread_ts"));
    assert_eq!(asked.field("token").len(), 32);
    assert_eq!(next_message(&mut queue, &othello).await["content"], "from over there");
    // The Slack format has no direct messages; the owner is notified of that.
    let mut queue = hamlet.register().events(&["message"]).await;
    othello.send_direct(&[&bot], "psst").await;
    let notice = next_message(&mut queue, &othello).await;
    assert!(notice["content"].as_str().unwrap().contains("don't support direct messages"), "{notice}");
    assert!(service.take_received().is_empty());
}

/// Each case is followed by a message that triggers the webhook, which must be the first request.
#[tokio::test]
async fn outgoing_webhook_not_triggered() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let (helper, _) = make(&othello, "helper", &[]).await;
    let public = othello.create_channel("Verona").with(&hamlet).await;
    let secret = othello.create_channel("secret").private().await;
    othello.send(&public, "t", "no mention").await;
    othello.send(&public, "t", &format!("@_**{}** silently", bot.full_name)).await;
    othello.send(&public, "t", &format!("`@**{}**` quoted", bot.full_name)).await;
    othello.send(&secret, "t", &mention(&bot, "where it cannot read")).await;
    // Bots do not trigger each other.
    helper.send(&public, "t", &mention(&bot, "from a bot")).await;
    helper.send_direct(&[&bot], "from a bot").await;
    othello.send(&public, "t", &mention(&bot, "at last")).await;
    assert_eq!(service.next_request().await.json()["data"], json!(mention(&bot, "at last")));
    // A deactivated bot is not triggered; one created afterwards is.
    hamlet.delete(&format!("/bots/{}", bot.id), &[]).ok().await;
    othello.send(&public, "t", &mention(&bot, "too late")).await;
    let anew = make(&hamlet, "anew", &[("bot_type", &3), ("payload_url", &service.url())]).await.0;
    othello.send(&public, "t", &mention(&anew, "in time")).await;
    assert_eq!(service.next_request().await.json()["data"], json!(mention(&anew, "in time")));
    assert!(service.take_received().is_empty());
}

/// A reply is an ordinary message of the bot: it may mention users, and needs the bot's permission to send.
#[tokio::test]
async fn outgoing_webhook_reply_needs_bot_permission() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let moderators = t.realm().directory().group_by_name("role:moderators").unwrap().id.0;
    let closed = t.user("iago").create_channel("closed").with(&othello).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let restrict = json!({"new": moderators});
    let question = mention(&bot, "hi");
    let mut sent = vec![othello.send(&closed, "t", &question).await];
    service.next_request().await;
    let path = format!("/streams/{}", closed.id);
    t.user("iago").patch(&path, &[("can_send_message_group", &restrict)]).ok().await;
    service.reply_next(StubReply::json(&json!({"content": "not here"})));
    // Triggered in a channel where the bot may still send.
    sent.push(t.user("iago").send(&closed, "t", &question).await);
    service.next_request().await;
    let notice = next_message(&mut queue, &othello).await;
    let content = notice["content"].as_str().unwrap();
    assert!(content.contains("You do not have permission to post in this channel."), "{content}");
    let seen = t.user("iago").message_ids(json!([["channel", "closed"], ["topic", "t"]])).await;
    assert_eq!(seen, sent, "the bot sent no message");
}
