//! Who may read a file: each kind of conversation with each role, before and after the message that names it is moved, edited or
//! deleted. A file is readable for its owner, and for exactly those who can read a message that names it.

use crate::api::uploads::upload;
use crate::support::channel::ChannelBuilder;
use crate::support::{Channel, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

/// Users by role, none of whom is the owner of the file: guest, member, moderator, administrator, owner, bot.
const READERS: [&str; 6] = ["polonius", "hamlet", "shiva", "iago", "desdemona", "default-bot"];

/// A kind of channel, and who of the readers is subscribed before the message is sent, and after it.
struct Kind {
    name: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
}

const KINDS: [Kind; 5] = [
    Kind { name: "public", before: &["polonius"], after: &[] },
    Kind { name: "public without guest", before: &[], after: &[] },
    Kind { name: "web-public", before: &[], after: &[] },
    Kind { name: "private, shared history", before: &["hamlet"], after: &["shiva"] },
    Kind { name: "private, protected history", before: &["hamlet", "polonius"], after: &["shiva"] },
];

fn configure(kind: &Kind, builder: ChannelBuilder) -> ChannelBuilder {
    match kind.name {
        "web-public" => builder.set("is_web_public", json!(true)),
        "private, shared history" => builder.shared_history(),
        "private, protected history" => builder.protected_history(),
        _ => builder,
    }
}

/// Asserts that a file is readable for exactly those who can read its message: in every way to read it.
async fn check(t: &TestServer, what: &str, url: &str, message: Option<u64>) -> usize {
    let mut readers = 0;
    for name in READERS {
        let person = t.user(name);
        let can_read = match message {
            Some(message) => person.get(&format!("/messages/{message}"), &[]).await.status == 200,
            None => false,
        };
        let expected = if can_read { 200 } else { 403 };
        let download = url.replace("/user_uploads/", "/user_uploads/download/");
        let api = format!("/api/v1{url}");
        for path in [url, &download, &api] {
            let answer = person.bare(Method::GET, path).await;
            assert_eq!(answer.status, expected, "{what}: {path} as {name}");
            assert!(can_read || !answer.body.to_string().contains("hello"), "{what}: {path} as {name}");
        }
        let part = person.bare(Method::GET, url).header("Range", "bytes=0-0").await.status;
        assert_eq!(part, if can_read { 206 } else { 403 }, "{what}: a part as {name}");
        readers += usize::from(can_read);
    }
    assert_eq!(t.user("othello").fetch(url).await.0, 200, "{what}: its owner");
    readers
}

async fn subscribe(owner: &TestUser, t: &TestServer, channel: &Channel, names: &[&str]) {
    for name in names {
        owner.subscribe_others(channel, &[&t.user(name)]).await;
    }
}

#[tokio::test]
async fn file_is_readable_with_its_message() {
    let t = TestServer::start().await;
    let [othello, desdemona] = t.users(["othello", "desdemona"]);
    let web: Value = json!(true);
    desdemona.patch("/realm", &[("enable_spectator_access", &web)]).ok().await;
    for kind in &KINDS {
        // Only owners create web-public channels.
        let creator = if kind.name == "web-public" { &desdemona } else { &othello };
        let channel = configure(kind, creator.create_channel(kind.name).with(&othello)).await;
        subscribe(&othello, &t, &channel, kind.before).await;
        let url = upload(&othello, "a.txt", b"hello").await;
        check(&t, &format!("{}, no message", kind.name), &url, None).await;
        let message = othello.send(&channel, "t", &format!("[a]({url})")).await;
        subscribe(&othello, &t, &channel, kind.after).await;
        let readers = check(&t, kind.name, &url, Some(message)).await;
        let anonymous = t.anonymous().fetch(&url).await.0;
        assert_eq!(anonymous, if kind.name == "web-public" { 200 } else { 401 }, "{}", kind.name);
        let expected = match kind.name {
            "public" | "web-public" => 6,
            "public without guest" => 5,
            _ => 2,
        };
        assert_eq!(readers, expected, "{}", kind.name);
        othello.edit(message, &[("content", &"no more")]).ok().await;
        check(&t, &format!("{}, edited", kind.name), &url, None).await;
        let again = othello.send(&channel, "t", &format!("[a]({url})")).await;
        check(&t, &format!("{}, again", kind.name), &url, Some(again)).await;
        othello.delete(&format!("/messages/{again}"), &[]).await;
        let left = othello.get(&format!("/messages/{again}"), &[]).await.status == 200;
        check(&t, &format!("{}, deleted", kind.name), &url, left.then_some(again)).await;
    }
}

#[tokio::test]
async fn file_follows_its_message_to_another_channel() {
    let t = TestServer::start().await;
    let [othello, desdemona, hamlet] = t.users(["othello", "desdemona", "hamlet"]);
    let open = othello.create_channel("open").await;
    let shut = othello.create_channel("shut").protected_history().with(&desdemona).await;
    let url = upload(&othello, "a.txt", b"hello").await;
    let message = othello.send(&open, "t", &format!("[a]({url})")).await;
    assert_eq!(check(&t, "open", &url, Some(message)).await, 5);
    desdemona.edit(message, &[("stream_id", &shut.id)]).ok().await;
    check(&t, "moved to a private channel", &url, Some(message)).await;
    assert_eq!(hamlet.fetch(&url).await.0, 403);
    let later = t.user("iago");
    othello.subscribe_others(&shut, &[&later]).await;
    check(&t, "with a later subscriber", &url, Some(message)).await;
    desdemona.edit(message, &[("stream_id", &open.id)]).ok().await;
    assert_eq!(check(&t, "moved back", &url, Some(message)).await, 5);
}

#[tokio::test]
async fn file_of_direct_messages_is_for_participants() {
    let t = TestServer::start().await;
    let [othello, hamlet, iago] = t.users(["othello", "hamlet", "iago"]);
    let url = upload(&othello, "a.txt", b"hello").await;
    let message = othello.send_direct(&[&hamlet, &t.user("polonius")], &format!("[a]({url})")).await;
    assert_eq!(check(&t, "a group", &url, Some(message)).await, 2);
    // A deactivated account reads nothing, also with the key in the URL.
    t.user("desdemona").delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert_eq!(hamlet.fetch(&url).await.0, 401);
    let with_key = format!("{url}?api_key={}", hamlet.key);
    assert_eq!(t.anonymous().bare(Method::GET, &with_key).await.status, 401);
    assert_eq!(iago.fetch(&url).await.0, 403);
}
