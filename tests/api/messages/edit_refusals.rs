//! `PATCH /messages/{id}`: the errors of edits.

use crate::support::{Params, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::json;

const NOT_PERMITTED: &str = "You don't have permission to edit this message";

async fn realm(owner: &TestUser, name: &'static str, value: &str) {
    owner.patch("/realm", &[(name, &value)]).ok().await;
}

#[tokio::test]
async fn edit_inaccessible_message() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let verona = iago.create_channel("Verona").await;
    let secret = iago.create_channel("secret").private().await;
    let [open, hidden] = [iago.send(&verona, "t", "x").await, iago.send(&secret, "t", "x").await];
    let direct = iago.send_direct(&[&t.user("cordelia")], "x").await;
    let edit: Params<'_> = &[("content", &"y")];
    for (who, id) in [(&hamlet, hidden), (&hamlet, direct), (&polonius, open), (&hamlet, 99_999)] {
        who.edit(id, edit).bad("Invalid message(s)").await;
    }
    iago.delete(&format!("/streams/{}", verona.id), &[]).ok().await;
    iago.edit(open, edit).bad("Invalid message(s)").await;
}

#[tokio::test]
async fn edit_author_and_age_limits() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = hamlet.send(&verona, "t", "x").await;
    let edit: Params<'_> = &[("content", &"y")];
    iago.edit(id, edit).bad(NOT_PERMITTED).await;
    clock.advance_secs(621);
    hamlet.edit(id, edit).bad("The time limit for editing this message has passed").await;
    realm(&desdemona, "message_content_edit_limit_seconds", "601").await;
    hamlet.edit(id, edit).ok().await;
    realm(&desdemona, "allow_message_editing", "false").await;
    hamlet.edit(id, edit).bad("Your organization has turned off message editing").await;
    iago.edit(id, edit).bad("Your organization has turned off message editing").await;
}

#[tokio::test]
async fn edit_parameter_combinations() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let venice = iago.create_channel("Venice").await;
    let id = iago.send(&verona, "t", "x").await;
    let direct = iago.send_direct(&[&hamlet], "x").await;
    let goal = venice.id;
    for (params, msg) in [
        (&[][..], "Nothing to change"),
        (&[("topic", &"t" as _)][..], "Nothing to change"),
        (
            &[("content", &"y"), ("propagate_mode", &"change_all")],
            "Invalid propagate_mode without topic edit",
        ),
        (&[("topic", &"u"), ("propagate_mode", &"change_some")], "Invalid propagate_mode"),
        (&[("topic", &"✔")], "General chat cannot be marked as resolved"),
        (&[("topic", &" ✔ general chat ")], "General chat cannot be marked as resolved"),
        (&[("topic", &"a\u{7}b")], "Invalid character in topic, at position 2!"),
        (&[("content", &"y"), ("stream_id", &goal)], "Cannot change message content while changing channel"),
        (&[("content", &"a\0b")], "Message must not contain null bytes"),
        (&[("stream_id", &99_999)], "Invalid channel ID"),
        (&[("stream_id", &-1)], "Invalid channel ID"),
        (&[("stream_id", &"x")], "stream_id is not valid JSON"),
        (&[("send_notification_to_old_thread", &1)], "send_notification_to_old_thread is not a boolean"),
    ] as [(Params<'_>, &str); 13]
    {
        iago.edit(id, params).bad(msg).await;
    }
    iago.edit(direct, &[("stream_id", &goal)]).bad("Direct messages cannot be moved to channels.").await;
    iago.edit(direct, &[("topic", &"u")]).bad("Direct messages cannot have topics.").await;
    let poll = iago.send(&verona, "t", "/poll Lunch?").await;
    iago.edit(poll, &[("content", &"y")]).bad("Widgets cannot be edited.").await;
    iago.edit(poll, &[("topic", &"u")]).ok().await;
}

#[tokio::test]
async fn edit_wildcard_mention_permission() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let others = t.users(["cordelia", "othello", "prospero", "ZOE", "AARON", "shiva"]);
    let mut verona = iago.create_channel("Verona").with(&hamlet).with(&desdemona);
    for other in &others {
        verona = verona.with(other);
    }
    let verona = verona.await;
    let id = hamlet.send(&verona, "t", "x").await;
    hamlet.edit(id, &[("content", &"@**all** @**topic**")]).ok().await;
    for number in 0..7 {
        let name = format!("extra{number}");
        crate::support::people::add(t.realm(), &name, &name, model::Role::Member, None).await;
        let extra = t.user(&name);
        extra.subscribe(&verona).await;
        extra.send(&verona, "t", "x").await;
    }
    for other in &others {
        other.send(&verona, "t", "x").await;
    }
    let refused = |code: &str, what: &str, place: &str| json!({"msg": format!("You do not have permission to use {what} wildcard mentions in this {place}."), "code": code});
    let channel = refused("STREAM_WILDCARD_MENTION_NOT_ALLOWED", "channel", "channel");
    hamlet.edit(id, &[("content", &"@**all**")]).refused(400, channel).await;
    for late in [&iago, &desdemona] {
        late.send(&verona, "t", "x").await;
    }
    let topic = refused("TOPIC_WILDCARD_MENTION_NOT_ALLOWED", "topic", "topic");
    hamlet.edit(id, &[("content", &"@**topic**")]).refused(400, topic).await;
    let by_role = "You are not allowed to mention user group 'role:administrators'.";
    hamlet.edit(id, &[("content", &"@*role:administrators*")]).bad(by_role).await;
}
