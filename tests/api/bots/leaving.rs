//! Bots leave channels that their owners can read no longer.

use super::make;
use crate::api::groups;
use crate::support::{Channel, Queue, TestServer, TestUser};
use serde_json::{Value, json};

/// The channels of a bot, by name.
async fn channels_of(bot: &TestUser) -> Vec<String> {
    let body = bot.get("/users/me/subscriptions", &[]).ok().await;
    let names = body["subscriptions"].as_array().expect("a list").iter();
    let mut names: Vec<String> = names.filter_map(|one| Some(one["name"].as_str()?.to_owned())).collect();
    names.sort_unstable();
    names
}

/// The kinds of the events that a bot received since.
async fn kinds(queue: &mut Queue) -> Vec<String> {
    let events = queue.now().await;
    let kind = |event: &Value| format!("{} {}", event["type"], event["op"]).replace('"', "");
    events.iter().map(kind).collect()
}

async fn cannot_read(bot: &TestUser, sender: &TestUser, channel: &Channel) {
    let later = sender.send(channel, "plans", "for those who stayed").await;
    bot.get(&format!("/messages/{later}"), &[]).bad("Invalid message(s)").await;
}

#[tokio::test]
async fn bots_leave_channels_that_become_private_without_their_owner() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let open = iago.create_channel("open").with(&bot).await;
    let both = iago.create_channel("both").with(&bot).with(&hamlet).await;
    // Added by another subscriber, where its owner has never been.
    let invited = iago.create_channel("invited").private().with(&bot).await;
    let mut queue = bot.register().events(&["subscription", "stream"]).await;
    for channel in [&open, &both] {
        iago.patch(&format!("/streams/{}", channel.id), &[("is_private", &true)]).ok().await;
    }
    let nobody = json!({"new": {"direct_members": [], "direct_subgroups": []}});
    let path = format!("/streams/{}", invited.id);
    iago.patch(&path, &[("can_subscribe_group", &nobody), ("can_remove_subscribers_group", &nobody)])
        .ok()
        .await;
    assert_eq!(channels_of(&bot).await, ["both", "invited"]);
    let seen = kinds(&mut queue).await;
    let of_open = ["subscription remove", "stream delete"];
    let count = |kind: &str| seen.iter().filter(|one| *one == kind).count();
    assert_eq!(of_open.map(count), [1, 1], "{seen:?}");
    assert!(seen.starts_with(&of_open.map(str::to_owned)), "{seen:?}");
    cannot_read(&bot, &iago, &open).await;
}

#[tokio::test]
async fn bots_leave_when_a_permission_of_the_channel_no_longer_admits_their_owner() {
    let t = TestServer::start().await;
    let [iago, aaron, bot] = t.users(["iago", "AARON", "default-bot"]);
    let only = |who: &TestUser| json!({"direct_members": [who.id], "direct_subgroups": []});
    let granted = iago.create_channel("granted").private().set("can_subscribe_group", only(&aaron));
    let granted = granted.with(&aaron).with(&bot).await;
    aaron.unsubscribe(&granted).await;
    assert_eq!(channels_of(&bot).await, ["granted"], "the owner can read it by the group");
    let change = json!({"new": only(&iago)});
    iago.patch(&format!("/streams/{}", granted.id), &[("can_subscribe_group", &change)]).ok().await;
    assert_eq!(channels_of(&bot).await, [] as [&str; 0]);
    cannot_read(&bot, &iago, &granted).await;
}

#[tokio::test]
async fn bots_leave_when_their_owner_leaves_a_group_that_may_read() {
    let t = TestServer::start().await;
    let [iago, aaron, hamlet, bot] = t.users(["iago", "AARON", "hamlet", "default-bot"]);
    let (other_bot, _) = make(&hamlet, "rec", &[]).await;
    let team = groups::create(&iago, "team", &[&aaron, &hamlet]).await;
    let outer = groups::create_with(&iago, "outer", &[], json!({"subgroups": [team]})).await;
    let (mut channels, both) = (Vec::new(), [&bot, &other_bot]);
    for (name, group) in [("by team", team), ("by outer", outer)] {
        let private = iago.create_channel(name).private().set("can_add_subscribers_group", json!(group));
        channels.push(private.with(both[0]).with(both[1]).await);
    }
    let change = |path: &str, removed: u32| {
        let (path, removed) = (format!("/user_groups/{path}"), json!([removed]));
        let iago = &iago;
        async move { iago.post(&path, &[("delete", &removed)]).ok().await }
    };
    change(&format!("{outer}/subgroups"), team).await;
    for bot in both {
        assert_eq!(channels_of(bot).await, ["by team"]);
    }
    change(&format!("{team}/members"), aaron.id).await;
    assert_eq!(channels_of(&bot).await, [] as [&str; 0]);
    assert_eq!(channels_of(&other_bot).await, ["by team"]);
    cannot_read(&bot, &iago, &channels[0]).await;
}

#[tokio::test]
async fn bots_of_guests_leave_public_channels_without_their_owner() {
    let t = TestServer::start().await;
    let [desdemona, iago, aaron, bot] = t.users(["desdemona", "iago", "AARON", "default-bot"]);
    let open = iago.create_channel("open").with(&bot).await;
    let both = iago.create_channel("both").with(&bot).with(&aaron).await;
    let mut queue = bot.register().events(&["subscription", "stream"]).await;
    desdemona.patch(&format!("/users/{}", aaron.id), &[("role", &600)]).ok().await;
    assert_eq!(channels_of(&bot).await, ["both"]);
    let seen = kinds(&mut queue).await;
    assert_eq!(seen.iter().filter(|kind| *kind == "subscription remove").count(), 1, "{seen:?}");
    cannot_read(&bot, &iago, &open).await;
    let (names, principals) = (json!(["both"]), json!([aaron.id]));
    let removal: crate::support::Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    iago.delete("/users/me/subscriptions", removal).ok().await;
    assert_eq!(channels_of(&bot).await, [] as [&str; 0]);
    cannot_read(&bot, &iago, &both).await;
}

#[tokio::test]
async fn bots_of_a_new_owner_who_is_a_guest_leave_public_channels() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    iago.create_channel("open").with(&bot).await;
    iago.create_channel("both").with(&bot).with(&polonius).await;
    iago.patch(&format!("/bots/{}", bot.id), &[("bot_owner_id", &polonius.id)]).ok().await;
    let directory = t.realm().directory();
    let left = directory.subscriptions_of_user(model::UserId(bot.id)).filter(|(_, own)| own.is_active);
    let left: Vec<_> = left.filter_map(|(id, _)| Some(directory.channel(id)?.name.clone())).collect();
    assert_eq!(left, ["both"]);
}
