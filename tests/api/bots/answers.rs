//! Outgoing webhooks: what services are asked, and what becomes of their answers.

use super::{make, make_outgoing, next_message, shown, start};
use crate::support::shape::fields;
use crate::support::{Person, Reaction, Service};
use serde_json::{Value, json};

fn mention(bot: &Person, text: &str) -> String {
    format!("@**{}** {text}", bot.full_name)
}

#[tokio::test]
async fn a_mention_in_a_channel() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let channel = othello.create_channel("Verona").with(&hamlet).await;
    let mut queue = othello.register().events(&["message"]).await;
    service.then(Reaction::json(&json!({"content": "*four*"})));
    let id = othello.send(&channel, "numbers", &mention(&bot, "two and **two**?")).await;
    let asked = service.asked().await;
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
async fn direct_messages_and_the_older_name_of_an_answer() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut queue = othello.register().events(&["message"]).await;
    service.then(Reaction::json(&json!({"response_string": "hello"})));
    othello.send_direct(&[&hamlet, &bot], "who is there?").await;
    let body = service.asked().await.json();
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
async fn what_no_answer_comes_of() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut queue = othello.register().events(&["message"]).await;
    for silent in [
        Reaction::json(&json!({"response_not_required": true, "content": "not this"})),
        Reaction::json(&json!({})),
        Reaction::json(&json!("")),
        Reaction::json(&json!({"content": "   "})),
    ] {
        service.then(silent);
        othello.send_direct(&[&bot], "well?").await;
        service.asked().await;
    }
    service.then(Reaction::json(&json!({"content": "this"})));
    othello.send_direct(&[&bot], "well?").await;
    // The first that anybody hears is the last answer.
    assert_eq!(next_message(&mut queue, &othello).await["content"], "this");
    assert_eq!(othello.messages(json!([{"operator": "sender", "operand": bot.id}])).await.len(), 1);
}

#[tokio::test]
async fn the_form_of_the_other_chat_server() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 2).await;
    let channel = othello.create_channel("Verona").await;
    let mut queue = othello.register().events(&["message"]).await;
    service.then(Reaction::json(&json!({"text": "from over there"})));
    othello.send(&channel, "t", &mention(&bot, "hi")).await;
    let asked = service.asked().await;
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
    // It has no form for conversations between people, which the owner is told.
    let mut queue = hamlet.register().events(&["message"]).await;
    othello.send_direct(&[&bot], "psst").await;
    let notice = next_message(&mut queue, &othello).await;
    assert!(notice["content"].as_str().unwrap().contains("don't support direct messages"), "{notice}");
    assert!(service.already().is_empty());
}

/// What is sent after them is asked about first if they are not.
#[tokio::test]
async fn who_is_not_asked() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let (helper, _) = make(&othello, "helper", &[]).await;
    let public = othello.create_channel("Verona").with(&hamlet).await;
    let secret = othello.create_channel("secret").private().await;
    othello.send(&public, "t", "nobody in particular").await;
    othello.send(&public, "t", &format!("@_**{}** silently", bot.full_name)).await;
    othello.send(&public, "t", &format!("`@**{}**` quoted", bot.full_name)).await;
    othello.send(&secret, "t", &mention(&bot, "where it cannot read")).await;
    // Bots do not talk to each other for ever.
    helper.send(&public, "t", &mention(&bot, "from a bot")).await;
    helper.send_direct(&[&bot], "from a bot").await;
    othello.send(&public, "t", &mention(&bot, "at last")).await;
    assert_eq!(service.asked().await.json()["data"], json!(mention(&bot, "at last")));
    // A retired bot is not asked; one that is made anew is.
    hamlet.delete(&format!("/bots/{}", bot.id), &[]).ok().await;
    othello.send(&public, "t", &mention(&bot, "too late")).await;
    let anew = make(&hamlet, "anew", &[("bot_type", &3), ("payload_url", &service.url())]).await.0;
    othello.send(&public, "t", &mention(&anew, "in time")).await;
    assert_eq!(service.asked().await.json()["data"], json!(mention(&anew, "in time")));
    assert!(service.already().is_empty());
}

/// A reply is a message like others: it may mention people, and what it may not do it does not.
#[tokio::test]
async fn replies_keep_to_the_rules() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let nobody = t.realm().directory().group_by_name("role:moderators").unwrap().id.0;
    let closed = t.user("iago").create_channel("closed").with(&othello).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let restrict = json!({"new": nobody});
    let question = mention(&bot, "hi");
    let sent = othello.send(&closed, "t", &question).await;
    service.asked().await;
    let path = format!("/streams/{}", closed.id);
    t.user("iago").patch(&path, &[("can_send_message_group", &restrict)]).ok().await;
    service.then(Reaction::json(&json!({"content": "not here"})));
    // Asked by somebody who may still write there.
    t.user("iago").send(&closed, "t", &question).await;
    service.asked().await;
    let notice = next_message(&mut queue, &othello).await;
    let content = notice["content"].as_str().unwrap();
    assert!(content.contains("You do not have permission to post in this channel."), "{content}");
    let seen: Vec<Value> =
        t.user("iago").messages(json!([{"operator": "channel", "operand": closed.id}])).await;
    assert!(seen.iter().all(|message| message["sender_id"] != bot.id), "{sent}");
}
