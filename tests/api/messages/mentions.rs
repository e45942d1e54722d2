//! Mentions of groups and wildcard mentions: permission, and flags of the recipients.

use crate::support::people::add;
use crate::support::{Channel, Params, TestServer, TestUser};
use model::Role;
use serde_json::{Value, json};

const CHANNEL_REFUSED: &str = "You do not have permission to use channel wildcard mentions in this channel.";
const TOPIC_REFUSED: &str = "You do not have permission to use topic wildcard mentions in this topic.";

async fn say(who: &TestUser, channel: &Channel, topic: &str, content: &str) -> crate::support::ApiResponse {
    let params: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &topic), ("content", &content)];
    who.post("/messages", params).await
}

async fn flags(who: &TestUser, id: &Value) -> Value {
    who.get(&format!("/messages/{id}"), &[]).ok().await["message"]["flags"].clone()
}

/// Creates `count` users who are subscribed to a channel.
async fn subscribers(t: &TestServer, owner: &TestUser, channel: &Channel, count: usize) -> Vec<TestUser> {
    let mut people = Vec::new();
    for number in 0..count {
        let name = format!("extra{number}");
        add(t.realm(), &name, &format!("Extra {number}"), Role::Member, None).await;
        people.push(t.user(&name));
    }
    owner.subscribe_others(channel, &people.iter().collect::<Vec<_>>()).await;
    people
}

#[tokio::test]
async fn wildcard_mention_restricted_above_15_subscribers() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let people = subscribers(&t, &iago, &verona, 13).await;
    for word in ["all", "everyone", "stream", "channel"] {
        let sent = say(&hamlet, &verona, "t", &format!("@**{word}**")).await.ok();
        assert_eq!(
            flags(&people[0], &sent["id"]).await,
            json!(["stream_wildcard_mentioned", "wildcard_mentioned"])
        );
    }
    iago.subscribe_others(&verona, &[&t.user("cordelia")]).await;
    let code = json!({"msg": CHANNEL_REFUSED, "code": "STREAM_WILDCARD_MENTION_NOT_ALLOWED"});
    for word in ["all", "everyone", "stream", "channel"] {
        say(&hamlet, &verona, "t", &format!("@**{word}**")).await.refused(400, code.clone());
    }
    // Silent mentions, quotes and code set no flags.
    for content in ["@_**all**", "`@**all**`", "```\n@**all**\n```", "```quote\n@**all**\n```"] {
        let sent = say(&hamlet, &verona, "t", content).await.ok();
        assert_eq!(flags(&people[0], &sent["id"]).await, json!([]), "{content}");
    }
    let sent = say(&iago, &verona, "t", "@**all**").await.ok();
    let everyone = json!(["stream_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&hamlet, &sent["id"]).await, everyone);
    // Allowed by the permission of the organization.
    let all = json!({"new": t.realm().directory().group_by_name("role:members").unwrap().id.0});
    iago.call(reqwest::Method::PATCH, "/realm", &[("can_mention_many_users_group", &all)]).ok().await;
    say(&hamlet, &verona, "t", "@**all**").await.ok();
}

#[tokio::test]
async fn topic_mention_includes_reactors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let people = subscribers(&t, &iago, &verona, 15).await;
    let first = people[0].send(&verona, "t", "first").await;
    for person in &people[1..7] {
        person.send(&verona, "T", "too").await;
    }
    for person in &people[7..14] {
        let path = format!("/messages/{first}/reactions");
        person.post(&path, &[("emoji_name", &"tada")]).ok().await;
    }
    // 14 users and the sender.
    let sent = say(&hamlet, &verona, "t", "@**topic**").await.ok();
    let mentioned = json!(["topic_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&people[3], &sent["id"]).await, mentioned);
    assert_eq!(flags(&people[10], &sent["id"]).await, mentioned, "reacted");
    assert_eq!(flags(&people[14], &sent["id"]).await, json!([]));
    assert_eq!(flags(&iago, &sent["id"]).await, json!([]));
    let path = format!("/messages/{first}/reactions");
    people[14].post(&path, &[("emoji_name", &"tada")]).ok().await;
    let code = json!({"msg": TOPIC_REFUSED, "code": "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"});
    say(&hamlet, &verona, "t", "@**topic**").await.refused(400, code);
    say(&hamlet, &verona, "another", "@**topic**").await.ok();
    say(&iago, &verona, "t", "@**topic**").await.ok();
    // Removing the reaction ends the participation.
    people[14].delete(&path, &[("emoji_name", &"tada")]).ok().await;
    let again = say(&hamlet, &verona, "t", "@**topic**").await;
    // Iago has sent a message to the topic by now, and counts.
    assert_eq!(again.status, 400, "{again:?}");
}

#[tokio::test]
async fn mention_flags_in_events_and_messages() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    for (content, expected) in [
        ("@**King Hamlet**", json!(["mentioned"])),
        ("@_**King Hamlet**", json!([])),
        (
            "@**all** and @**King Hamlet**",
            json!(["mentioned", "stream_wildcard_mentioned", "wildcard_mentioned"]),
        ),
        ("@**Cordelia, Lear's daughter**", json!([])),
        ("no mention", json!([])),
    ] {
        say(&iago, &verona, "t", content).await.ok();
        assert_eq!(queue.next().await["flags"], expected, "{content}");
    }
    // A mention does not deliver the message to a user who is not subscribed.
    assert!(cordelia.messages(json!([["is", "mentioned"]])).await.is_empty());
    let id = iago.send_direct(&[&hamlet], "@**all**").await;
    assert_eq!(flags(&hamlet, &json!(id)).await, json!(["stream_wildcard_mentioned", "wildcard_mentioned"]));
}

#[tokio::test]
async fn group_mention_permission_for_direct_and_channel_messages() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let only_iago = json!({"direct_members": [iago.id], "direct_subgroups": []});
    let params: Params<'_> = &[
        ("name", &"players"),
        ("description", &""),
        ("members", &json!([cordelia.id])),
        ("can_mention_group", &only_iago),
    ];
    iago.post("/user_groups/create", params).ok().await;
    let refused = "You are not allowed to mention user group 'players'.";
    let body = json!({"msg": refused, "code": "BAD_REQUEST"});
    say(&hamlet, &verona, "t", "@*players*").await.refused(400, body.clone());
    let params: Params<'_> =
        &[("type", &"direct"), ("to", &json!([cordelia.id])), ("content", &"@*players*")];
    hamlet.post("/messages", params).await.refused(400, body.clone());
    let silent = say(&hamlet, &verona, "t", "@_*players*").await.ok();
    assert_eq!(flags(&cordelia, &silent["id"]).await, json!([]));
    let aloud = say(&iago, &verona, "t", "@*players*").await.ok();
    assert_eq!(flags(&cordelia, &aloud["id"]).await, json!(["mentioned"]));
    assert_eq!(flags(&hamlet, &aloud["id"]).await, json!([]));
    // System groups cannot be mentioned.
    let refused = "You are not allowed to mention user group 'role:members'.";
    say(&iago, &verona, "t", "@*role:members*")
        .await
        .refused(400, json!({"msg": refused, "code": "BAD_REQUEST"}));
}
