//! Events for every change of a message: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use crate::support::{Channel, Param, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];
const QUIET: Params<'static> =
    &[("send_notification_to_old_thread", &false), ("send_notification_to_new_thread", &false)];

/// Edits or moves a message without notices.
async fn edit(who: &TestUser, id: u64, params: Params<'_>) {
    let all: Vec<Param<'_>> = params.iter().chain(QUIET).copied().collect();
    who.call(Method::PATCH, &format!("/messages/{id}"), &all).ok().await;
}

async fn delete(who: &TestUser, id: u64) {
    who.delete(&format!("/messages/{id}"), &[]).ok().await;
}

fn keys(event: &Value) -> Vec<&str> {
    event.as_object().expect("an event").keys().map(String::as_str).collect()
}

#[tokio::test]
async fn edit_content_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&channel, "pens", "red").await;
    let dm = iago.send_direct(&[&hamlet], "secret").await;
    let seen = verify(&t, &ALL, async {
        edit(&iago, id, &[("content", &"/me likes blue @**King Hamlet**")]).await;
        edit(&iago, id, &[("content", &"green")]).await;
        edit(&iago, dm, &[("content", &"more secret")]).await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["update_message"; 3]);
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
    let first = &seen["hamlet"][0];
    let expected = [
        "content",
        "edit_timestamp",
        "flags",
        "id",
        "is_me_message",
        "message_id",
        "message_ids",
        "orig_content",
        "orig_rendered_content",
        "rendered_content",
        "rendering_only",
        "stream_id",
        "stream_name",
        "type",
        "user_id",
    ];
    assert_eq!(keys(first), expected);
    assert_eq!((&first["flags"], &first["is_me_message"]), (&json!(["mentioned"]), &json!(true)));
    assert_eq!(
        (&first["orig_content"], &first["orig_rendered_content"]),
        (&json!("red"), &json!("<p>red</p>"))
    );
    assert_eq!(seen["polonius"], [] as [Value; 0]);
    assert_eq!((&seen["hamlet"][1]["flags"], &seen["hamlet"][1]["content"]), (&json!([]), &json!("green")));
    assert!(seen["hamlet"][2].get("stream_id").is_none());
}

#[tokio::test]
async fn edit_events_reach_later_subscribers_with_shared_history() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let shared = iago.create_channel("shared").with(&hamlet).await;
    let protected = hamlet.create_channel("protected").protected_history().with(&iago).await;
    let (a, b) = (iago.send(&shared, "t", "a").await, hamlet.send(&protected, "t", "b").await);
    othello.subscribe(&shared).await;
    hamlet.subscribe_others(&protected, &[&othello]).await;
    hamlet.unsubscribe(&shared).await;
    let seen = verify(&t, &ALL, async {
        edit(&iago, a, &[("content", &"A")]).await;
        edit(&hamlet, b, &[("content", &"B")]).await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), ["update_message"]);
    assert_eq!(seen["othello"][0]["flags"], json!(["read"]));
    // In the public channel its recipients get the event; in the private one, all subscribers with access.
    assert_eq!(kinds(&seen, "hamlet"), ["update_message"; 2]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
}

/// The target of a move is one that a later subscriber of protected history cannot read.
#[tokio::test]
async fn move_events_reach_those_who_have_other_messages_of_the_move() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let protected = hamlet.create_channel("protected").protected_history().with(&iago).await;
    let target = hamlet.send(&protected, "old", "before").await;
    hamlet.subscribe_others(&protected, &[&othello]).await;
    let kept = hamlet.send(&protected, "old", "after").await;
    let seen = verify(&t, &ALL, async {
        edit(&hamlet, target, &[("topic", &"new"), ("propagate_mode", &"change_all")]).await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), ["update_message"]);
    let event = &seen["othello"][0];
    assert_eq!((&event["message_ids"], &event["message_id"]), (&json!([kept]), &json!(kept)));
    assert_eq!((&event["subject"], event.get("content")), (&json!("new"), None));
}

#[tokio::test]
async fn move_topic_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut ids = Vec::new();
    for text in ["a", "b @**King Hamlet**", "c"] {
        ids.push(iago.send(&channel, "pens", text).await);
    }
    let seen = verify(&t, &ALL, async {
        edit(&iago, ids[1], &[("topic", &"ink"), ("propagate_mode", &"change_later")]).await;
        edit(&iago, ids[1], &[("topic", &"INK"), ("propagate_mode", &"change_one")]).await;
        edit(&iago, ids[0], &[("topic", &"✔ pens"), ("propagate_mode", &"change_all")]).await;
        edit(&iago, ids[2], &[("topic", &""), ("propagate_mode", &"change_one")]).await;
    })
    .await;
    let received: Vec<&Value> =
        seen["hamlet"].iter().filter(|event| event["type"] == "update_message").collect();
    let first = received[0];
    assert_eq!((&first["orig_subject"], &first["subject"]), (&json!("pens"), &json!("ink")));
    assert_eq!((&first["message_ids"], &first["propagate_mode"]), (&json!(ids[1..]), &json!("change_later")));
    assert!(first.get("new_stream_id").is_none() && first.get("content").is_none(), "{first}");
    assert_eq!((&first["topic_links"], &first["flags"]), (&json!([]), &json!(["mentioned"])));
    assert_eq!(received[3]["subject"], "");
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
}

/// Messages of several users in a new channel of iago's, with hamlet and polonius subscribed.
async fn full(t: &TestServer, name: &str) -> (Channel, Vec<u64>) {
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let channel = iago.create_channel(name).with(&hamlet).with(&polonius).await;
    let mut ids = Vec::new();
    for text in ["a", "b @**King Hamlet**", "c"] {
        ids.push(iago.send(&channel, "pens", text).await);
    }
    (channel, ids)
}

async fn move_all(who: &TestUser, id: u64, to: &Channel) {
    edit(who, id, &[("stream_id", &to.id), ("propagate_mode", &"change_all")]).await;
}

#[tokio::test]
async fn move_to_public_channel_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (channel, ids) = full(&t, "Verona").await;
    let other = iago.create_channel("Rome").with(&othello).await;
    hamlet.flag("add", "starred", &[ids[1]]).await;
    let seen = verify(&t, &ALL, async { move_all(&iago, ids[0], &other).await }).await;
    let received = seen["hamlet"].iter().find(|event| event["type"] == "update_message").expect("the move");
    assert_eq!(received["new_stream_id"], json!(other.id));
    assert_eq!((&received["stream_id"], &received["stream_name"]), (&json!(channel.id), &json!("Verona")));
    assert_eq!((&received["orig_subject"], received.get("subject")), (&json!("pens"), None));
    // The guest has no access to the destination.
    assert_eq!(kinds(&seen, "polonius"), ["delete_message"]);
    let gone = &seen["polonius"][0];
    assert_eq!((&gone["message_ids"], &gone["stream_id"]), (&json!(ids), &json!(channel.id)));
    assert_eq!((&gone["topic"], &gone["message_type"]), (&json!("pens"), &json!("stream")));
    // For users subscribed to the destination only, the topic appears there.
    let received = seen["othello"].iter().find(|event| event["type"] == "update_message").expect("the move");
    assert_eq!((&received["new_stream_id"], &received["message_ids"]), (&json!(other.id), &json!(ids)));
    assert_eq!(received["flags"], json!(["read"]));
}

/// Guests of the destination have no access to the source, and the name of a private channel must not reach users who
/// do not know it.
#[tokio::test]
async fn move_event_hides_inaccessible_source_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello, polonius] = t.users(["iago", "hamlet", "othello", "polonius"]);
    let rome = iago.create_channel("Rome").with(&othello).with(&polonius).await;
    let secret = iago.create_channel("secret").shared_history().with(&hamlet).await;
    let open = iago.create_channel("Venice").await;
    for channel in [&secret, &open] {
        let id = iago.send(channel, "pens", "a").await;
        let seen = verify(&t, &ALL, async { move_all(&iago, id, &rome).await }).await;
        let is_notified = |name| kinds(&seen, name).contains(&"update_message".to_owned());
        assert_eq!(is_notified("othello"), channel.id == open.id);
        assert_eq!(is_notified("hamlet"), channel.id == secret.id);
        assert!(!is_notified("polonius"));
    }
}

/// With protected history the subscribers of the destination get the messages, and the event with them.
#[tokio::test]
async fn move_event_does_not_name_a_channel_that_is_not_seen() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let team = hamlet.create_channel("team").protected_history().with(&iago).with(&othello).await;
    let secret = hamlet.create_channel("layoffs").private().await;
    let id = hamlet.send(&secret, "pens", "a").await;
    hamlet.send(&team, "ink", "newer").await;
    let mut narrowed = othello.register().modern().set("narrow", json!([["channel", "team"]])).await;
    let mut of_all = othello.register().modern().set("all_public_streams", json!(true)).await;
    let seen = verify(&t, &ALL, async { move_all(&hamlet, id, &team).await }).await;
    let name = |event: &Value| event.get("stream_name").cloned();
    // Iago administers the organization, so that he sees the channel without being in it.
    for (person, expected) in
        [("hamlet", Some(json!("layoffs"))), ("iago", Some(json!("layoffs"))), ("othello", None)]
    {
        let events: Vec<&Value> =
            seen[person].iter().filter(|event| event["type"] == "update_message").collect();
        assert_eq!((events.len(), name(events[0])), (1, expected), "{person}");
        assert_eq!(
            (&events[0]["stream_id"], &events[0]["orig_subject"]),
            (&json!(secret.id), &json!("pens"))
        );
    }
    for event in narrowed.now().await.iter().chain(&of_all.now().await) {
        assert!(!event.to_string().contains("layoffs"), "{event}");
    }
    let history = othello.get(&format!("/messages/{id}/history"), &[]).ok().await;
    assert_eq!(history["message_history"][1]["prev_stream"], json!(secret.id));
    assert!(!history.to_string().contains("layoffs"), "{history}");
}

#[tokio::test]
async fn topic_case_change_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&channel, "pens", "a").await;
    let respelled: Params<'_> = &[("topic", &"PENS"), ("propagate_mode", &"change_all")];
    let seen = verify(&t, &ALL, async { drop(iago.edit(id, respelled).ok().await) }).await;
    assert_eq!(kinds(&seen, "hamlet"), ["update_message", "message"]);
    let notice = &seen["hamlet"][1]["message"];
    assert_eq!(notice["subject"], "PENS");
    let text = notice["content"].as_str().expect("a text");
    assert!(text.contains("This topic was moved here from") && text.contains("pens"), "{text}");
}

#[tokio::test]
async fn user_topic_events_precede_move_event() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    // The author of the first message follows the topic.
    let id = iago.send(&channel, "pens", "a").await;
    let renamed: Params<'_> = &[("topic", &"ink"), ("propagate_mode", &"change_all")];
    let seen = verify(&t, &ALL, async { edit(&iago, id, renamed).await }).await;
    assert_eq!(kinds(&seen, "iago"), ["user_topic", "user_topic", "update_message"]);
    let policies: Vec<_> = seen["iago"].iter().filter(|event| event["type"] == "user_topic").collect();
    let received =
        |at: usize| (policies[at]["topic_name"].clone(), policies[at]["visibility_policy"].clone());
    assert_eq!((received(0), received(1)), ((json!("pens"), json!(0)), (json!("ink"), json!(3))));
}

#[tokio::test]
async fn move_to_private_channel_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    for (number, is_protected) in [false, true].into_iter().enumerate() {
        let (_, ids) = full(&t, &format!("open {number}")).await;
        let closed = iago.create_channel(&format!("closed {number}")).with(&othello).with(&hamlet);
        let closed =
            if is_protected { closed.protected_history().await } else { closed.shared_history().await };
        let seen = verify(&t, &ALL, async { move_all(&iago, ids[0], &closed).await }).await;
        assert!(kinds(&seen, "hamlet").contains(&"update_message".to_owned()));
        assert_eq!(kinds(&seen, "polonius"), ["delete_message"]);
        // And back, to a channel that all users can read.
        verify(&t, &ALL, async {
            let public = iago.create_channel(&format!("public {number}")).await;
            move_all(&iago, ids[0], &public).await;
        })
        .await;
    }
}

#[tokio::test]
async fn delete_message_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (channel, ids) = full(&t, "Verona").await;
    let dm = hamlet.send_direct(&[&iago], "x").await;
    hamlet.flag("add", "starred", &[ids[1]]).await;
    let seen = verify(&t, &ALL, async {
        delete(&iago, ids[1]).await;
        delete(&iago, dm).await;
        iago.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &"pens")]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "polonius"), ["delete_message"; 2]);
    let received = &seen["hamlet"];
    assert_eq!((&received[0]["message_ids"], &received[0]["topic"]), (&json!([ids[1]]), &json!("pens")));
    assert_eq!(
        (&received[1]["message_type"], &received[1]["message_ids"]),
        (&json!("private"), &json!([dm]))
    );
    assert_eq!(received[2]["message_ids"], json!([ids[0], ids[2]]));
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
}

#[tokio::test]
async fn delete_event_reaches_deleter_outside_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet, desdemona] = t.users(["iago", "hamlet", "desdemona"]);
    let (channel, ids) = full(&t, "Verona").await;
    iago.send(&channel, "before", "x").await;
    let seen = verify(&t, &["desdemona", "iago", "othello"], async {
        delete(&desdemona, ids[1]).await;
        let topic: Params<'_> = &[("topic_name", &"pens")];
        desdemona.post(&format!("/streams/{}/delete_topic", channel.id), topic).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
    let received = &seen["desdemona"];
    assert_eq!(kinds(&seen, "desdemona"), ["delete_message", "delete_message"]);
    assert_eq!((&received[0]["message_ids"], &received[0]["topic"]), (&json!([ids[1]]), &json!("pens")));
    assert_eq!(received[1]["message_ids"], json!([ids[0], ids[2]]));
    // One event each, for users who starred the message as well as for subscribers.
    let id = hamlet.send(&channel, "stars", "x").await;
    desdemona.flag("add", "starred", &[id]).await;
    let seen = verify(&t, &["desdemona"], async { delete(&desdemona, id).await }).await;
    assert_eq!(kinds(&seen, "desdemona"), ["delete_message"]);
}

#[tokio::test]
async fn delete_oldest_message_updates_first_message_id() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let first = iago.messages(json!([["channel", "Verona"]])).await[0]["id"].as_u64().unwrap();
    let next = iago.send(&channel, "pens", "next").await;
    let seen = verify(&t, &["iago", "hamlet"], async {
        delete(&iago, first).await;
        delete(&iago, next).await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["stream update", "stream update"]);
    let values: Vec<&Value> = seen["hamlet"].iter().map(|event| &event["value"]).collect();
    assert_eq!(values, [&json!(next), &Value::Null]);
    assert_eq!(kinds(&seen, "iago"), ["delete_message", "stream update", "delete_message", "stream update"]);
}

#[tokio::test]
async fn delete_events_in_protected_history() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("protected").protected_history().with(&hamlet).await;
    let a = iago.send(&channel, "t", "a").await;
    iago.subscribe_others(&channel, &[&othello]).await;
    let b = iago.send(&channel, "t", "b").await;
    hamlet.unsubscribe(&channel).await;
    let (mut plain, mut gone) = (othello.register().await, hamlet.register().await);
    let seen = verify(&t, &["desdemona", "iago", "othello"], async {
        iago.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &"t")]).ok().await;
    })
    .await;
    assert_eq!(seen["iago"][0]["message_ids"], json!([a, b]));
    assert_eq!(seen["othello"][0]["message_ids"], json!([b]));
    // A direct message proves that the queue does receive events.
    iago.send_direct(&[&hamlet], "after the deletion").await;
    let types: Vec<Value> = gone.now().await.iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["message"]);
    assert!(!kinds(&seen, "desdemona").contains(&"delete_message".to_owned()));
    assert_eq!(plain.next().await["message_id"], b);
}

#[tokio::test]
async fn delete_events_without_bulk_capability() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (channel, ids) = full(&t, "Verona").await;
    let mut plain = hamlet.register().await;
    iago.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &"pens")]).ok().await;
    iago.send_direct(&[&hamlet], "and then").await;
    let events = plain.now().await;
    let received: Vec<u64> = events.iter().filter_map(|event| event["message_id"].as_u64()).collect();
    assert_eq!(received, ids);
    assert!(events.iter().all(|event| event.get("message_ids").is_none()), "{events:?}");
    // A client that acknowledges only part of them gets the rest again.
    let mut plain = hamlet.register().await;
    let more = [iago.send(&channel, "ink", "1").await, iago.send(&channel, "ink", "2").await];
    iago.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &"ink")]).ok().await;
    let events = plain.now().await;
    let first = events.iter().find(|event| event["message_id"] == more[0]).unwrap();
    plain.last_event_id = first["id"].as_i64().unwrap();
    let again = plain.poll(true).await.ok();
    let received: Vec<u64> =
        again["events"].as_array().unwrap().iter().filter_map(|event| event["message_id"].as_u64()).collect();
    assert!(received.ends_with(&more[1..]), "{received:?}");
}

#[tokio::test]
async fn reaction_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (_, ids) = full(&t, "Verona").await;
    let dm = hamlet.send_direct(&[&iago], "x").await;
    let react = async |id: u64| {
        hamlet.post(&format!("/messages/{id}/reactions"), &[("emoji_name", &"tada")]).ok().await;
    };
    let seen = verify(&t, &ALL, async {
        react(ids[0]).await;
        react(dm).await;
        hamlet.delete(&format!("/messages/{}/reactions", ids[0]), &[("emoji_name", &"tada")]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "iago"), ["reaction add", "reaction add", "reaction remove"]);
    assert_eq!(kinds(&seen, "polonius"), ["reaction add", "reaction remove"]);
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
    let mut received = seen["iago"][0].clone();
    received.as_object_mut().unwrap().remove("id");
    let expected = json!({
        "type": "reaction", "op": "add", "message_id": ids[0], "user_id": hamlet.id, "emoji_name": "tada",
        "emoji_code": "1f389", "reaction_type": "unicode_emoji",
        "user": {"user_id": hamlet.id, "email": hamlet.api_email, "full_name": "King Hamlet"},
    });
    assert_eq!(received, expected);
}

#[tokio::test]
async fn submessage_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let poll = iago.send(&channel, "pens", "/poll Which?\nred\nblue").await;
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1}).to_string();
    let params: Params<'_> = &[("message_id", &poll), ("msg_type", &"widget"), ("content", &vote)];
    let seen = verify(&t, &ALL, async {
        hamlet.post("/submessage", params).ok().await;
    })
    .await;
    let expected = ["content", "id", "message_id", "msg_type", "sender_id", "submessage_id", "type"];
    assert_eq!(keys(&seen["iago"][0]), expected);
    assert_eq!((&seen["iago"][0]["type"], &seen["iago"][0]["content"]), (&json!("submessage"), &json!(vote)));
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
}

#[tokio::test]
async fn realm_and_user_setting_events() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let seen = verify(&t, &["desdemona", "hamlet", "polonius"], async {
        let params: Params<'_> = &[
            ("name", &"The Globe"),
            ("message_content_edit_limit_seconds", &json!("unlimited")),
            ("topics_policy", &"disable_empty_topic"),
        ];
        desdemona.call(Method::PATCH, "/realm", params).ok().await;
        let own: Params<'_> =
            &[("full_name", &"Hamlet"), ("twenty_four_hour_time", &true), ("enable_sounds", &false)];
        hamlet.call(Method::PATCH, "/settings", own).ok().await;
    })
    .await;
    let received = kinds(&seen, "polonius");
    assert!(received.contains(&"realm update_dict".to_owned()), "{received:?}");
    assert!(received.contains(&"realm_user update".to_owned()), "{received:?}");
    assert!(!received.contains(&"user_settings update".to_owned()), "{received:?}");
    let own = kinds(&seen, "hamlet");
    assert_eq!(own.iter().filter(|kind| *kind == "user_settings update").count(), 2, "{own:?}");
}
