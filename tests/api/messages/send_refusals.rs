//! `POST /messages`: all errors, none of which stores a message.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

fn missing(name: &str) -> Value {
    let msg = format!("Missing '{name}' argument");
    json!({"msg": msg, "code": "REQUEST_VARIABLE_MISSING", "var_name": name})
}

async fn refuse(who: &TestUser, params: Params<'_>, msg: &str) {
    who.post("/messages", params).bad(msg).await;
}

#[tokio::test]
async fn send_missing_parameters() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    iago.post("/messages", &[("content", &"x"), ("to", &"Verona")]).refused(400, missing("type")).await;
    let params: Params<'_> = &[("type", &"stream"), ("to", &"Verona"), ("topic", &"t")];
    iago.post("/messages", params).refused(400, missing("content")).await;
    refuse(&iago, &[("type", &"smoke"), ("content", &"x")], "Invalid type").await;
    refuse(&iago, &[("type", &"stream"), ("topic", &"t"), ("content", &"x")], "Missing channel").await;
    refuse(&iago, &[("type", &"stream"), ("to", &"Verona"), ("content", &"x")], "Missing topic").await;
    let both: Params<'_> =
        &[("type", &"stream"), ("to", &"Verona"), ("topic", &"a"), ("subject", &"b"), ("content", &"x")];
    let confusing = json!({
        "msg": "Can't decide between 'topic' and 'subject' arguments",
        "code": "REQUEST_CONFUSING_VAR", "var_name1": "topic", "var_name2": "subject",
    });
    iago.post("/messages", both).refused(400, confusing).await;
    assert!(iago.message_ids(json!([["channel", "Verona"], ["topic", "t"]])).await.is_empty());
}

#[tokio::test]
async fn send_invalid_channel() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let to = |to: &'static str| async move { to };
    for (given, msg) in [
        ("[\"Verona\",\"Denmark\"]", "Expected exactly one channel"),
        ("{\"a\":1}", "Invalid data type for channel"),
        ("[[1]]", "Invalid data type for channel"),
        ("true", "Invalid data type for channel"),
    ] {
        let params: Params<'_> =
            &[("type", &"stream"), ("to", &to(given).await), ("topic", &"t"), ("content", &"x")];
        refuse(&iago, params, msg).await;
    }
    for (given, body) in [
        ("Padua", json!({"msg": "Channel 'Padua' does not exist", "stream": "Padua"})),
        ("a<b>", json!({"msg": "Channel 'a&lt;b&gt;' does not exist", "stream": "a&lt;b&gt;"})),
        ("999", json!({"msg": "Channel with ID '999' does not exist", "stream_id": 999})),
    ] {
        let mut body = body;
        body["code"] = json!("STREAM_DOES_NOT_EXIST");
        let params: Params<'_> = &[("type", &"stream"), ("to", &given), ("topic", &"t"), ("content", &"x")];
        iago.post("/messages", params).refused(400, body).await;
    }
}

#[tokio::test]
async fn send_invalid_recipients() {
    let t = TestServer::start().await;
    let [iago, ghost] = t.users(["iago", "ghost"]);
    let gone = format!("'{}' is no longer using Zulip.", ghost.api_email);
    let unknown_id = "Invalid user ID 99999";
    let mixed = format!("[{}, \"{}\"]", iago.id, iago.api_email);
    for (to, msg) in [
        ("[]", "Message must have recipients"),
        ("{\"a\":1}", "Invalid data type for recipients"),
        ("[true]", "Invalid data type for recipients"),
        (&mixed, "Recipient lists may contain emails or user IDs, but not both."),
        ("[99999]", unknown_id),
        ("[-1]", "Invalid user ID -1"),
        ("nobody@example.com", "Invalid email 'nobody@example.com'"),
        ("[\"nobody@example.com\"]", "Invalid email 'nobody@example.com'"),
        (&format!("[{}]", ghost.id), &gone),
    ] {
        refuse(&iago, &[("type", &"direct"), ("to", &to), ("content", &"x")], msg).await;
    }
    assert!(iago.message_ids(json!([["is", "dm"]])).await.is_empty());
}

#[tokio::test]
async fn send_invalid_content_or_topic() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    for (topic, content, msg) in [
        ("t", "", "Message must not be empty"),
        ("t", " \n\t ", "Message must not be empty"),
        ("t", "a\0b", "Message must not contain null bytes"),
        ("a\nb", "x", "Invalid character in topic, at position 2!"),
        ("\u{fdd0}", "x", "Invalid character in topic, at position 1!"),
        ("ab\0", "x", "Invalid character in topic, at position 3!"),
    ] {
        let params: Params<'_> =
            &[("type", &"stream"), ("to", &channel.id), ("topic", &topic), ("content", &content)];
        refuse(&iago, params, msg).await;
    }
}

#[tokio::test]
async fn send_to_restricted_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let private = iago.create_channel("secret").private().await;
    let public = iago.create_channel("Verona").await;
    let post = |to: u64| async move { to };
    let admins = json!(3);
    let quiet =
        iago.create_channel("announcements").with(&hamlet).set("can_send_message_group", admins).await;
    for (who, to, msg) in [
        (&t.user("desdemona"), private.id, "Not authorized to send to channel 'secret'"),
        (&hamlet, quiet.id, "You do not have permission to post in this channel."),
    ] {
        let params: Params<'_> =
            &[("type", &"stream"), ("to", &post(to).await), ("topic", &"t"), ("content", &"x")];
        refuse(who, params, msg).await;
    }
    // An inaccessible private channel gives the error of a missing one.
    for (who, to) in [(&hamlet, private.id), (&polonius, private.id), (&polonius, public.id)] {
        let params: Params<'_> = &[("type", &"stream"), ("to", &to), ("topic", &"t"), ("content", &"x")];
        let msg = format!("Channel with ID '{to}' does not exist");
        let missing = json!({"msg": msg, "code": "STREAM_DOES_NOT_EXIST", "stream_id": to});
        who.post("/messages", params).refused(400, missing).await;
    }
    iago.send(&quiet, "t", "administrators may").await;
}

#[tokio::test]
async fn send_topics_policy() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let named = iago.create_channel("named").set("topics_policy", json!("disable_empty_topic")).await;
    let chat = iago.create_channel("chat").set("topics_policy", json!("empty_topic_only")).await;
    let say =
        |msg: &str| json!({"msg": msg, "code": "BAD_REQUEST", "empty_topic_display_name": "general chat"});
    for (channel, topic, msg) in [
        (&named, "", "Sending messages to the general chat is not allowed in this channel."),
        (&chat, "t", "Only the general chat topic is allowed in this channel."),
    ] {
        let params: Params<'_> =
            &[("type", &"stream"), ("to", &channel.id), ("topic", &topic), ("content", &"x")];
        iago.post("/messages", params).refused(400, say(msg)).await;
    }
    iago.send(&named, "t", "x").await;
    iago.send(&chat, "", "x").await;
}

#[tokio::test]
async fn send_wildcard_mention_permission() {
    let t = TestServer::start().await;
    let (iago, hamlet) = (t.user("iago"), t.user("hamlet"));
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut many = Vec::new();
    for index in 0..14 {
        let name = format!("extra{index}");
        let id = crate::support::people::add(t.realm(), &name, &name, model::Role::Member, None).await;
        many.push(id.0);
    }
    let subscribe: Params<'_> =
        &[("subscriptions", &json!([{"name": "Verona"}])), ("principals", &json!(many[..13]))];
    iago.post("/users/me/subscriptions", subscribe).ok().await;
    // With 15 subscribers, wildcard mentions are not restricted.
    hamlet.send(&channel, "t", "@**all**").await;
    let subscribe: Params<'_> =
        &[("subscriptions", &json!([{"name": "Verona"}])), ("principals", &json!(many[13..]))];
    iago.post("/users/me/subscriptions", subscribe).ok().await;
    let params: Params<'_> =
        &[("type", &"stream"), ("to", &channel.id), ("topic", &"t"), ("content", &"hey @**everyone**")];
    let refusal = json!({
        "msg": "You do not have permission to use channel wildcard mentions in this channel.",
        "code": "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    });
    hamlet.post("/messages", params).refused(400, refusal).await;
    // Silent mentions, mentions in code and mentions by administrators are allowed.
    hamlet.send(&channel, "t", "@_**all** and `@**all**`").await;
    iago.send(&channel, "t", "@**all**").await;
    // A topic with few participants is not restricted.
    hamlet.send(&channel, "t", "@**topic**").await;
}

#[tokio::test]
async fn send_authentication_and_direct_message_permission() {
    let t = TestServer::start().await;
    let params: Params<'_> = &[("type", &"direct"), ("to", &"[1]"), ("content", &"x")];
    assert_eq!(t.anonymous().post("/messages", params).await.status, 401);
}
