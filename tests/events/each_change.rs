//! Events for every change of channels, subscriptions, folders, groups and alert words: recipients, and completeness.

use super::each_type::kinds;
use super::verify;
use super::verify::Seen;
use crate::support::{Channel, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

async fn change(who: &TestUser, channel: &Channel, params: Params<'_>) {
    who.call(Method::PATCH, &format!("/streams/{}", channel.id), params).ok().await;
}

/// The properties of a channel, or of a subscription, in the events that a user got.
fn properties(seen: &Seen, name: &str) -> Vec<String> {
    let received = seen[name].iter().filter(|event| event["op"] == "update");
    received.filter_map(|event| event["property"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn channel_property_events() {
    let t = TestServer::start().await;
    let [iago, desdemona, polonius] = t.users(["iago", "desdemona", "polonius"]);
    let channel = iago.create_channel("Verona").await;
    iago.subscribe_others(&channel, &[&polonius]).await;
    let seen = verify(&t, &ALL, async {
        change(&iago, &channel, &[("description", &"a **place**")]).await;
        change(&desdemona, &channel, &[("message_retention_days", &30)]).await;
        change(&iago, &channel, &[("topics_policy", &json!("disable_empty_topic"))]).await;
        change(&iago, &channel, &[("new_name", &"Mantua")]).await;
    })
    .await;
    let expected = ["description", "message_retention_days", "topics_policy", "name"];
    for name in ["iago", "hamlet", "polonius"] {
        assert_eq!(properties(&seen, name), expected, "{name}");
    }
    let renamed = seen["hamlet"].iter().find(|event| event["property"] == "name").unwrap();
    assert_eq!((&renamed["name"], &renamed["value"]), (&json!("Verona"), &json!("Mantua")));
    let described = seen["hamlet"].iter().find(|event| event["property"] == "description").unwrap();
    assert_eq!(described["rendered_description"], "<p>a <strong>place</strong></p>");
}

#[tokio::test]
async fn channel_post_policy_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let groups = iago.get("/user_groups", &[]).ok().await;
    let groups = groups["user_groups"].as_array().unwrap();
    let administrators = groups.iter().find(|group| group["name"] == "role:administrators").unwrap();
    let value = json!({"new": administrators["id"]});
    let seen = verify(&t, &ALL, async {
        change(&iago, &channel, &[("can_send_message_group", &value)]).await;
    })
    .await;
    let expected = ["can_send_message_group", "stream_post_policy", "is_announcement_only"];
    assert_eq!(properties(&seen, "hamlet"), expected);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
}

#[tokio::test]
async fn channel_privacy_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let seen = verify(&t, &ALL, async { change(&iago, &channel, &[("is_private", &true)]).await }).await;
    assert_eq!(properties(&seen, "hamlet"), ["invite_only"]);
    assert_eq!(kinds(&seen, "othello"), ["stream delete"]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    let seen = verify(&t, &ALL, async { change(&iago, &channel, &[("is_private", &false)]).await }).await;
    assert_eq!(properties(&seen, "hamlet"), ["invite_only"]);
    assert_eq!(kinds(&seen, "othello"), ["stream create", "subscription peer_add"]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
}

#[tokio::test]
async fn subscribers_are_new_after_sight_of_them_was_lost_and_regained() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("secret").private().with(&othello).await;
    let hamlets = json!({"new": {"direct_members": [hamlet.id], "direct_subgroups": []}});
    change(&iago, &channel, &[("can_subscribe_group", &hamlets)]).await;
    let role = async |role: u32| {
        iago.patch(&format!("/users/{}", hamlet.id), &[("role", &role)]).ok().await;
    };
    let renewed = ["stream delete", "stream create"];
    let of_channels = |seen: &Seen| -> Vec<String> {
        let kinds = kinds(seen, "hamlet").into_iter();
        kinds.filter(|kind| kind.starts_with("stream") || kind.starts_with("subscription")).collect()
    };
    let seen = verify(&t, &ALL, role(200)).await;
    assert_eq!(of_channels(&seen), [&renewed[..], &["subscription peer_add"]].concat());
    let seen = verify(&t, &ALL, role(400)).await;
    assert_eq!(of_channels(&seen), renewed);
    role(200).await;
    verify(&t, &ALL, async {
        role(400).await;
        let (names, others) = (json!([channel.name]), json!([othello.id]));
        let params: Params<'_> = &[("subscriptions", &names), ("principals", &others)];
        iago.delete("/users/me/subscriptions", params).ok().await;
        iago.subscribe_others(&channel, &[&t.user("desdemona")]).await;
        role(200).await;
    })
    .await;
}

#[tokio::test]
async fn channel_archive_and_unarchive_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&polonius).await;
    let path = format!("/streams/{}", channel.id);
    let seen = verify(&t, &ALL, async {
        iago.delete(&path, &[]).ok().await;
    })
    .await;
    for name in ALL {
        assert!(properties(&seen, name).contains(&"is_archived".to_owned()), "{name}");
    }
    let first = hamlet.get("/messages", &[("anchor", &"first_unread"), ("num_after", &1)]).ok().await;
    assert_eq!(first["anchor"], 10_000_000_000_000_000_u64, "messages in the channel are read");
    let mut old = hamlet.register().await;
    assert!(old.state["streams"].as_array().unwrap().iter().all(|one| one["stream_id"] != channel.id));
    verify(&t, &ALL, async { change(&iago, &channel, &[("is_archived", &false)]).await }).await;
    let received: Vec<String> = old.now().await.iter().map(|event| event["op"].to_string()).collect();
    assert_eq!(received[..2], ["\"create\"", "\"add\""], "{received:?}");
}

/// What is unread in an archived channel is in the state before and after it is unarchived, which therefore needs no event.
#[tokio::test]
async fn unread_of_archived_channel_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut ids = Vec::new();
    for text in ["a", "b @**King Hamlet**", "c"] {
        ids.push(iago.send(&channel, "pens", text).await);
    }
    let archive = async { drop(iago.delete(&format!("/streams/{}", channel.id), &[]).ok().await) };
    verify(&t, &ALL, archive).await;
    let seen = verify(&t, &ALL, async { drop(hamlet.flag("remove", "read", &ids[..2]).await) }).await;
    assert_eq!(seen["hamlet"][0]["messages"], json!(ids[..2]));
    let unarchive = async || change(&iago, &channel, &[("is_archived", &false)]).await;
    let seen = verify(&t, &ALL, unarchive()).await;
    assert_eq!(seen["hamlet"].iter().filter(|event| event["type"] == "update_message_flags").count(), 0);
}

#[tokio::test]
async fn default_group_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let seen = verify(&t, &ALL, async {
        let names = json!(["Verona"]);
        let new: Params<'_> = &[("group_name", &"g"), ("description", &"d"), ("stream_names", &names)];
        iago.post("/default_stream_groups/create", new).ok().await;
        iago.patch("/default_stream_groups/1", &[("new_description", &"e")]).ok().await;
        let fewer: Params<'_> = &[("op", &"remove"), ("stream_names", &names)];
        iago.patch("/default_stream_groups/1/streams", fewer).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), ["default_stream_groups"; 3]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    // Guests learn of them when they become members.
    let polonius = t.user("polonius");
    verify(&t, &ALL, async {
        iago.patch(&format!("/users/{}", polonius.id), &[("role", &400)]).ok().await;
    })
    .await;
}

#[tokio::test]
async fn subscription_property_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    iago.send(&channel, "pens", "unread").await;
    let set = async |property: &str, value: Value| {
        let data = json!([{"stream_id": channel.id, "property": property, "value": value}]);
        hamlet.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
    };
    let seen = verify(&t, &["iago", "hamlet"], async {
        set("is_muted", json!(true)).await;
        set("color", json!("#123456")).await;
        set("pin_to_top", json!(true)).await;
        set("push_notifications", json!(true)).await;
        set("wildcard_mentions_notify", json!(false)).await;
        set("in_home_view", json!(true)).await;
    })
    .await;
    let mut received = properties(&seen, "hamlet");
    received.sort();
    let expected = [
        "color",
        "in_home_view",
        "in_home_view",
        "is_muted",
        "is_muted",
        "pin_to_top",
        "push_notifications",
        "wildcard_mentions_notify",
    ];
    assert_eq!(received, expected);
    assert_eq!(kinds(&seen, "iago"), [] as [&str; 0]);
    // Setting the current value sends the event again.
    let seen = verify(&t, &["iago", "hamlet"], async {
        set("in_home_view", json!(true)).await;
        set("color", json!("#123456")).await;
        set("push_notifications", json!(true)).await;
    })
    .await;
    assert_eq!(properties(&seen, "hamlet"), ["is_muted", "in_home_view", "color", "push_notifications"]);
}

#[tokio::test]
async fn user_topic_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    iago.send(&channel, "pens", "unread").await;
    let set = async |topic: &str, policy: u8| {
        let params: Params<'_> =
            &[("stream_id", &channel.id), ("topic", &topic), ("visibility_policy", &policy)];
        hamlet.post("/user_topics", params).ok().await;
    };
    let seen = verify(&t, &["iago", "hamlet"], async {
        set("pens", 1).await;
        set("PENS", 2).await;
        set("ink", 3).await;
        set("", 1).await;
        set("ink", 0).await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["user_topic"; 5]);
    assert_eq!(kinds(&seen, "iago"), [] as [&str; 0]);
}

#[tokio::test]
async fn alert_word_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &["iago", "hamlet"], async {
        hamlet.post("/users/me/alert_words", &[("alert_words", &json!(["skull", "Yorick"]))]).ok().await;
        hamlet.delete("/users/me/alert_words", &[("alert_words", &json!(["skull"]))]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["alert_words", "alert_words"]);
    assert_eq!(seen["hamlet"][1]["alert_words"], json!(["Yorick"]));
    assert_eq!(kinds(&seen, "iago"), [] as [&str; 0]);
}

#[tokio::test]
async fn channel_folder_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let create = async |name: &str| {
        let params: Params<'_> = &[("name", &name), ("description", &"*some*")];
        let made = iago.post("/channel_folders/create", params).ok().await;
        made["channel_folder_id"].as_u64().unwrap()
    };
    let seen = verify(&t, &ALL, async {
        let (a, b) = (create("Cities").await, create("Plays").await);
        let update = async |id: u64, params: Params<'_>| {
            iago.call(Method::PATCH, &format!("/channel_folders/{id}"), params).ok().await;
        };
        update(a, &[("name", &"Towns"), ("description", &"**others**")]).await;
        iago.call(Method::PATCH, "/channel_folders", &[("order", &json!([b, a]))]).ok().await;
        change(&iago, &channel, &[("folder_id", &a)]).await;
        change(&iago, &channel, &[("folder_id", &"null")]).await;
        update(a, &[("is_archived", &true)]).await;
    })
    .await;
    let expected = [
        "channel_folder add",
        "channel_folder add",
        "channel_folder update",
        "channel_folder reorder",
        "stream update",
        "stream update",
        "channel_folder update",
    ];
    assert_eq!(kinds(&seen, "hamlet"), expected);
    let of_folders: Vec<&str> =
        expected.into_iter().filter(|kind| kind.starts_with("channel_folder")).collect();
    assert_eq!(kinds(&seen, "polonius"), of_folders);
}

#[tokio::test]
async fn user_group_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let create = async |name: &str, members: &[u32]| {
        let members = json!(members);
        let params: Params<'_> = &[("name", &name), ("description", &"x"), ("members", &members)];
        iago.post("/user_groups/create", params).ok().await["group_id"].as_u64().unwrap()
    };
    let seen = verify(&t, &ALL, async {
        let group = create("actors", &[hamlet.id]).await;
        let inner = create("moors", &[othello.id]).await;
        let path = format!("/user_groups/{group}");
        iago.call(Method::PATCH, &path, &[("name", &"players"), ("description", &"y")]).ok().await;
        let only_iago = json!({"new": {"direct_members": [iago.id], "direct_subgroups": []}});
        iago.call(Method::PATCH, &path, &[("can_mention_group", &only_iago)]).ok().await;
        let members = json!([othello.id]);
        iago.post(&format!("{path}/members"), &[("add", &members)]).ok().await;
        iago.post(&format!("{path}/members"), &[("delete", &members)]).ok().await;
        let subgroups = json!([inner]);
        iago.post(&format!("{path}/subgroups"), &[("add", &subgroups)]).ok().await;
        iago.post(&format!("{path}/subgroups"), &[("delete", &subgroups)]).ok().await;
        iago.post(&format!("{path}/deactivate"), &[]).ok().await;
        iago.call(Method::PATCH, &path, &[("deactivated", &false)]).ok().await;
    })
    .await;
    let received = kinds(&seen, "polonius");
    for kind in ["add", "update", "add_members", "remove_members", "add_subgroups", "remove_subgroups"] {
        assert!(received.contains(&format!("user_group {kind}")), "{kind}: {received:?}");
    }
    assert!(!received.contains(&"user_group remove".to_owned()), "{received:?}");
}

#[tokio::test]
async fn group_permission_gives_channel_access_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = hamlet.create_channel("secret").private().await;
    let params: Params<'_> =
        &[("name", &"players"), ("description", &""), ("members", &json!([iago.id, hamlet.id]))];
    let group = iago.post("/user_groups/create", params).ok().await["group_id"].as_u64().unwrap();
    change(&hamlet, &channel, &[("can_subscribe_group", &json!({"new": group}))]).await;
    let members = format!("/user_groups/{group}/members");
    let seen = verify(&t, &ALL, async {
        iago.post(&members, &[("add", &json!([othello.id]))]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), ["user_group add_members", "stream create"]);
    assert_eq!(kinds(&seen, "polonius"), ["user_group add_members"]);
    let seen = verify(&t, &ALL, async {
        iago.post(&members, &[("delete", &json!([othello.id]))]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "othello"), ["user_group remove_members", "stream delete"]);
}
