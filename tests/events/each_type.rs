//! Every type of event: what causes it, who gets it, in which order, and that it says all of the change.

use super::verify;
use super::verify::Seen;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

/// The types and operations that somebody saw, in their order; without those that only repeat user_topic.
pub(super) fn kinds(seen: &Seen, name: &str) -> Vec<String> {
    let kind = |event: &Value| {
        let (kind, op) = (event["type"].as_str().unwrap(), event["op"].as_str().unwrap_or(""));
        [kind, op].join(" ").trim_end().to_owned()
    };
    seen[name].iter().map(kind).filter(|kind| kind != "muted_topics").collect()
}

#[tokio::test]
async fn messages_to_channels() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let seen = verify(&t, &ALL, async {
        iago.send(&channel, "pens", "hello @**King Hamlet**").await;
        hamlet.send(&channel, "PENS", "@**all**").await;
        hamlet.send(&channel, "", "in the empty topic").await;
    })
    .await;
    // Whoever starts a topic follows it.
    assert_eq!(kinds(&seen, "iago"), ["message", "user_topic", "message", "message"]);
    assert_eq!(kinds(&seen, "hamlet"), ["message", "user_topic", "message", "message", "user_topic"]);
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    assert_eq!(seen["hamlet"][0]["flags"], json!(["mentioned"]));
    let messages: Vec<&Value> = seen["iago"].iter().filter(|event| event["type"] == "message").collect();
    assert_eq!(messages[1]["flags"], json!(["stream_wildcard_mentioned", "wildcard_mentioned"]));
}

#[tokio::test]
async fn messages_to_people() {
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
async fn flags() {
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
async fn a_new_public_channel() {
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
async fn a_new_private_channel() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let seen = verify(&t, &ALL, async {
        hamlet.create_channel("secret").private().with(&cordelia).await;
    })
    .await;
    // Administrators know that it is there and who is in it; nobody else does.
    assert_eq!(kinds(&seen, "iago"), ["stream create", "subscription peer_add"]);
    for name in ["othello", "polonius"] {
        assert_eq!(kinds(&seen, name), [] as [&str; 0], "{name}");
    }
}

#[tokio::test]
async fn a_default_channel() {
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
async fn joining_and_leaving_a_public_channel() {
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
async fn removed_together() {
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
        let told = kinds(&seen, name);
        let position = told.iter().position(|kind| kind == "subscription peer_remove");
        let position = position.unwrap_or_else(|| panic!("{name}: {told:?}"));
        assert_eq!(seen[name][position]["user_ids"], json!([other.id]));
    }
}

#[tokio::test]
async fn joining_and_leaving_a_private_channel() {
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
async fn a_guest_in_a_public_channel_sees_it_while_in_it() {
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
async fn new_people() {
    // Only there is somebody who may let others in.
    let t = TestServer::plan().development().start().await;
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
async fn presence_and_typing() {
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
async fn unread_messages_of_muted_places_do_not_count() {
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
