//! Each type of event: cause, recipients, order, and completeness of the change.

use super::verify;
use super::verify::Seen;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

/// The types and operations of a user's events, in order, without the legacy events that repeat user_topic.
pub(super) fn kinds(seen: &Seen, name: &str) -> Vec<String> {
    let kind = |event: &Value| {
        let (kind, op) = (event["type"].as_str().unwrap(), event["op"].as_str().unwrap_or(""));
        [kind, op].join(" ").trim_end().to_owned()
    };
    seen[name].iter().map(kind).filter(|kind| kind != "muted_topics").collect()
}

#[tokio::test]
async fn channel_message_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let seen = verify(&t, &ALL, async {
        iago.send(&channel, "pens", "hello @**King Hamlet**").await;
        hamlet.send(&channel, "PENS", "@**all**").await;
        hamlet.send(&channel, "", "in the empty topic").await;
    })
    .await;
    // The author of the first message follows the topic.
    assert_eq!(kinds(&seen, "iago"), ["user_topic", "message", "message", "message"]);
    assert_eq!(kinds(&seen, "hamlet"), ["user_topic", "message", "message", "user_topic", "message"]);
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    let mentioned = seen["hamlet"].iter().find(|event| event["type"] == "message").expect("a message");
    assert_eq!(mentioned["flags"], json!(["mentioned"]));
    let messages: Vec<&Value> = seen["iago"].iter().filter(|event| event["type"] == "message").collect();
    assert_eq!(messages[1]["flags"], json!(["stream_wildcard_mentioned", "wildcard_mentioned"]));
}

#[tokio::test]
async fn direct_message_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let seen = verify(&t, &ALL, async {
        iago.send_direct(&[&hamlet], "to one").await;
        iago.send_direct(&[&hamlet, &othello], "to two").await;
        hamlet.send_direct(&[&iago], "back").await;
        hamlet.send_direct(&[&hamlet], "note").await;
    })
    .await;
    assert_eq!(kinds(&seen, "iago").len(), 3);
    assert_eq!(kinds(&seen, "hamlet").len(), 4);
    assert_eq!(kinds(&seen, "othello").len(), 1);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
}

#[tokio::test]
async fn flag_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let a = iago.send(&channel, "pens", "a @**King Hamlet**").await;
    let b = iago.send(&channel, "PENS", "b").await;
    let dm = iago.send_direct(&[&hamlet], "c").await;
    let group = iago.send_direct(&[&hamlet, &t.user("othello")], "d").await;
    let seen = verify(&t, &["iago", "hamlet"], async {
        hamlet.flag("add", "read", &[a, b, dm, group]).await;
        hamlet.flag("add", "starred", &[a, dm]).await;
        hamlet.flag("remove", "starred", &[a]).await;
        hamlet.flag("remove", "read", &[a, dm, group]).await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet").len(), 4);
    assert_eq!(kinds(&seen, "iago"), [] as [&str; 0]);
    let narrow: Params<'_> = &[
        ("anchor", &"oldest"),
        ("num_before", &0),
        ("num_after", &100),
        ("narrow", &"[]"),
        ("op", &"add"),
        ("flag", &"read"),
    ];
    verify(&t, &["hamlet"], async {
        hamlet.post("/messages/flags/narrow", narrow).ok().await;
    })
    .await;
}

#[tokio::test]
async fn create_public_channel_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let seen = verify(&t, &ALL, async {
        iago.create_channel("Verona").with(&hamlet).with(&polonius).await;
    })
    .await;
    for name in ["iago", "hamlet", "polonius"] {
        let kinds = kinds(&seen, name);
        assert_eq!(kinds[..2], ["stream create", "subscription add"], "{name}");
        assert!(kinds.contains(&"message".to_owned()), "{name}: {kinds:?}");
    }
    let kinds = kinds(&seen, "othello");
    assert_eq!(kinds, ["stream create", "subscription peer_add"]);
    let add = &seen["hamlet"][1]["subscriptions"][0];
    assert!(super::apply::channels::is_personal(add), "{add}");
}

#[tokio::test]
async fn create_private_channel_events() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let seen = verify(&t, &ALL, async {
        hamlet.create_channel("secret").private().with(&cordelia).await;
    })
    .await;
    // Only administrators know that the channel exists and who is subscribed.
    assert_eq!(kinds(&seen, "iago"), ["stream create", "subscription peer_add"]);
    for name in ["othello", "polonius"] {
        assert_eq!(kinds(&seen, name), [] as [&str; 0], "{name}");
    }
}

#[tokio::test]
async fn default_stream_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let seen = verify(&t, &ALL, async {
        iago.create_channel("general").set("is_default_stream", json!(true)).await;
    })
    .await;
    assert!(kinds(&seen, "othello").contains(&"default_streams".to_owned()));
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
}

#[tokio::test]
async fn subscribe_public_channel_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    iago.send(&channel, "before", "x").await;
    let seen = verify(&t, &ALL, async { hamlet.subscribe(&channel).await }).await;
    assert_eq!(kinds(&seen, "hamlet"), ["subscription add"]);
    assert_eq!(kinds(&seen, "iago"), ["subscription peer_add"]);
    assert_eq!(kinds(&seen, "othello"), ["subscription peer_add"]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    iago.send(&channel, "unread", "x").await;
    let seen = verify(&t, &ALL, async { hamlet.unsubscribe(&channel).await }).await;
    assert_eq!(kinds(&seen, "hamlet")[0], "subscription remove");
    assert_eq!(kinds(&seen, "iago"), ["subscription peer_remove"]);
    let again = verify(&t, &ALL, async { hamlet.subscribe(&channel).await }).await;
    assert_eq!(kinds(&again, "hamlet"), ["subscription add"]);
}

#[tokio::test]
async fn unsubscribe_several_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&othello).await;
    let seen = verify(&t, &ALL, async {
        let both = json!([hamlet.id, othello.id]);
        let params: Params<'_> = &[("subscriptions", &json!([channel.name])), ("principals", &both)];
        iago.delete("/users/me/subscriptions", params).ok().await;
    })
    .await;
    for (name, other) in [("hamlet", &othello), ("othello", &hamlet)] {
        let received = kinds(&seen, name);
        let position = received.iter().position(|kind| kind == "subscription peer_remove");
        let position = position.unwrap_or_else(|| panic!("{name}: {received:?}"));
        assert_eq!(seen[name][position]["user_ids"], json!([other.id]));
    }
}

#[tokio::test]
async fn subscribe_private_channel_events() {
    let t = TestServer::start().await;
    let [hamlet, othello, polonius] = t.users(["hamlet", "othello", "polonius"]);
    let channel = hamlet.create_channel("secret").private().await;
    let seen = verify(&t, &ALL, async {
        hamlet.subscribe_others(&channel, &[&othello, &polonius]).await;
    })
    .await;
    for name in ["othello", "polonius"] {
        assert_eq!(kinds(&seen, name)[..2], ["stream create", "subscription add"], "{name}");
    }
    hamlet.send(&channel, "t", "unread for both").await;
    let seen = verify(&t, &ALL, async {
        othello.unsubscribe(&channel).await;
        polonius.unsubscribe(&channel).await;
    })
    .await;
    for name in ["othello", "polonius"] {
        let kinds = kinds(&seen, name);
        let position = |kind: &str| kinds.iter().position(|known| known == kind);
        assert!(position("subscription remove") < position("stream delete"), "{name}: {kinds:?}");
        assert!(position("stream delete").is_some(), "{name}: {kinds:?}");
    }
    let left = kinds(&seen, "hamlet");
    assert_eq!(left, ["subscription peer_remove", "subscription peer_remove"]);
}

#[tokio::test]
async fn guest_sees_public_channel_while_subscribed() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    let channel = iago.create_channel("Verona").await;
    let seen = verify(&t, &ALL, async { iago.subscribe_others(&channel, &[&polonius]).await }).await;
    assert_eq!(kinds(&seen, "polonius")[..2], ["stream create", "subscription add"]);
    let seen = verify(&t, &ALL, async { polonius.unsubscribe(&channel).await }).await;
    let kinds = kinds(&seen, "polonius");
    assert!(kinds.contains(&"stream delete".to_owned()), "{kinds:?}");
}

#[tokio::test]
async fn new_user_events() {
    // Only a development server has a user who may create users.
    let t = TestServer::builder().development().start().await;
    let desdemona = t.user("desdemona");
    let params: Params<'_> =
        &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    let seen = verify(&t, &ALL, async {
        desdemona.post("/users", params).ok().await;
    })
    .await;
    let kinds = kinds(&seen, "hamlet");
    assert_eq!(kinds[0], "realm_user add");
    assert!(kinds.contains(&"user_group add_members".to_owned()), "{kinds:?}");
    assert!(kinds.contains(&"subscription peer_add".to_owned()), "{kinds:?}");
}

#[tokio::test]
async fn presence_and_typing_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let seen = verify(&t, &ALL, async {
        let params: Params<'_> = &[("status", &"active"), ("ping_only", &true), ("new_user_input", &true)];
        hamlet.post("/users/me/presence", params).ok().await;
        iago.post("/typing", &[("op", &"start"), ("to", &json!([hamlet.id]))]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["presence", "typing start"]);
    assert_eq!(kinds(&seen, "othello"), ["presence"]);
}

#[tokio::test]
async fn unread_count_excludes_muted() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    for name in ["one", "two"] {
        iago.send(&channel, name, "x").await;
    }
    verify(&t, &["hamlet"], async {
        hamlet.send(&channel, "mine", "I follow this").await;
        iago.send(&channel, "mine", "an answer").await;
    })
    .await;
}
