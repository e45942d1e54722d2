//! `PATCH /messages/{id}`: the errors of moves.

use crate::support::{Param, Params, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

const WEEK: u64 = 604_800;
const ALL: Param<'static> = ("propagate_mode", &"change_all");

/// Sets a group permission of the organization.
async fn permit(owner: &TestUser, name: &'static str, group: &Value) {
    owner.patch("/realm", &[(name, &json!({"new": group}))]).ok().await;
}

async fn group_id(t: &TestServer, name: &str) -> Value {
    json!(t.realm().directory().group_by_name(name).expect("a group").id.0)
}

#[tokio::test]
async fn move_and_resolve_permissions() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let venice = iago.create_channel("Venice").await;
    let id = hamlet.send(&verona, "t", "x").await;
    let administrators = group_id(&t, "role:administrators").await;
    for name in [
        "can_move_messages_between_topics_group",
        "can_resolve_topics_group",
        "can_move_messages_between_channels_group",
    ] {
        permit(&desdemona, name, &administrators).await;
    }
    hamlet.edit(id, &[("topic", &"u")]).bad("You don't have permission to edit this message").await;
    let resolve = "You don't have permission to resolve topics in this channel.";
    hamlet.edit(id, &[("topic", &"✔ t"), ALL]).bad(resolve).await;
    let carry: Params<'_> = &[("stream_id", &venice.id)];
    hamlet.edit(id, carry).bad("You don't have permission to move this message").await;
    iago.edit(id, &[("topic", &"✔ t"), ALL]).ok().await;
    iago.edit(id, &[("topic", &"u")]).ok().await;
    iago.edit(id, carry).ok().await;
}

#[tokio::test]
async fn move_to_archived_or_restricted_channel_is_refused() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let administrators = group_id(&t, "role:administrators").await;
    let news = iago.create_channel("news").set("can_send_message_group", administrators).await;
    let secret = iago.create_channel("secret").private().await;
    let old = iago.create_channel("old").await;
    iago.delete(&format!("/streams/{}", old.id), &[]).ok().await;
    let id = hamlet.send(&verona, "t", "x").await;
    for (goal, msg) in [
        (news.id, "You do not have permission to post in this channel."),
        (secret.id, "Invalid channel ID"),
        (old.id, "Invalid channel ID"),
    ] {
        hamlet.edit(id, &[("stream_id", &goal)]).bad(msg).await;
    }
}

#[tokio::test]
async fn move_respects_topics_policy() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let named = iago.create_channel("named").set("topics_policy", json!("disable_empty_topic")).await;
    let id = iago.send(&verona, "", "x").await;
    let only_named = json!({
        "msg": "Sending messages to the general chat is not allowed in this channel.",
        "code": "BAD_REQUEST", "empty_topic_display_name": "general chat",
    });
    iago.edit(id, &[("stream_id", &named.id)]).refused(400, only_named).await;
    iago.edit(id, &[("stream_id", &named.id), ("topic", &"t")]).ok().await;
}

#[tokio::test]
async fn move_time_limit_exempts_moderators() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet, shiva] = t.users(["iago", "hamlet", "shiva"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&shiva).await;
    let venice = iago.create_channel("Venice").await;
    let first = hamlet.send(&verona, "t", "x").await;
    clock.advance_secs(WEEK + 20);
    let second = hamlet.send(&verona, "t", "y").await;
    let third = hamlet.send(&verona, "t", "z").await;
    hamlet.edit(first, &[("topic", &"u")]).ok().await;
    hamlet.edit(first, &[("topic", &"t")]).ok().await;
    clock.advance_secs(1);
    let topic = "The time limit for editing this message's topic has passed.";
    let channel = "The time limit for editing this message's channel has passed";
    hamlet.edit(first, &[("topic", &"u")]).bad(topic).await;
    hamlet.edit(first, &[("topic", &"u"), ("propagate_mode", &"change_later")]).bad(topic).await;
    hamlet.edit(first, &[("stream_id", &venice.id)]).bad(channel).await;
    // The topic also has the notices of the two moves above.
    let ids = iago.message_ids(json!([["channel", "Verona"], ["topic", "t"]])).await;
    let exceeded = json!({
        "msg": format!("You only have permission to move the {0}/{1} most recent messages in this topic.", ids.len() - 1, ids.len()),
        "code": "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        "first_message_id_allowed_to_move": second,
        "total_messages_in_topic": ids.len(),
        "total_messages_allowed_to_move": ids.len() - 1,
    });
    hamlet.edit(third, &[("topic", &"u"), ALL]).refused(400, exceeded.clone()).await;
    hamlet.edit(third, &[("stream_id", &venice.id), ALL]).refused(400, exceeded).await;
    hamlet.edit(third, &[("topic", &"✔ t"), ALL]).ok().await;
    clock.advance_secs(WEEK + 20);
    let whole = "The time limit for moving this topic has passed.";
    let ids = iago.message_ids(json!([["channel", "Verona"], ["topic", "✔ t"]])).await;
    for id in ids.iter().filter(|id| **id > third) {
        iago.delete(&format!("/messages/{id}"), &[]).ok().await;
    }
    hamlet.edit(third, &[("topic", &"u"), ALL]).bad(whole).await;
    shiva.edit(third, &[("topic", &"u"), ALL]).ok().await;
}
