//! Notices of moved and resolved topics: texts, recipients, and removal.

use crate::support::{Channel, Param, Params, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

const ALL: Param<'static> = ("propagate_mode", &"change_all");
const TELL_OLD: Param<'static> = ("send_notification_to_old_thread", &true);

/// The notification bot's messages in a topic as Markdown.
async fn notices(person: &TestUser, channel: &Channel, topic: &str) -> Vec<String> {
    let narrow = json!([["channel", channel.name], ["topic", topic]]);
    let window: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &100),
        ("num_after", &0),
        ("narrow", &narrow),
        ("apply_markdown", &false),
    ];
    let body = person.get("/messages", window).ok().await;
    let messages = body["messages"].as_array().expect("messages");
    let by_bot = messages.iter().filter(|message| message["sender_full_name"] == "Notification Bot");
    by_bot.map(|message| message["content"].as_str().expect("a text").to_owned()).collect()
}

fn mention(person: &TestUser) -> String {
    format!("@_**{}|{}**", person.full_name, person.id)
}

#[tokio::test]
async fn move_notices_in_old_and_new_topic() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let venice = iago.create_channel("Venice").await;
    let by = mention(&iago);
    let mut ids = Vec::new();
    for text in ["a", "b", "c", "d"] {
        ids.push(iago.send(&verona, "lunch", text).await);
    }
    iago.edit(ids[0], &[("topic", &"one"), TELL_OLD]).ok().await;
    let away = format!("A message was moved from this topic to #**Verona>one** by {by}.");
    assert_eq!(notices(&iago, &verona, "lunch").await, [away]);
    let link = format!("{}/#narrow/channel/{}-Verona/topic/one/near/{}", iago.url, verona.id, ids[0]);
    let here = format!("[A message]({link}) was moved here from #**Verona>lunch** by {by}.");
    assert_eq!(notices(&iago, &verona, "one").await, [here]);

    let later = ("propagate_mode", &"change_later" as &(dyn std::fmt::Display + Sync));
    iago.edit(ids[2], &[("topic", &"two"), TELL_OLD, later]).ok().await;
    let here = format!("3 messages were moved here from #**Verona>lunch** by {by}.");
    assert_eq!(notices(&iago, &verona, "two").await.last(), Some(&here));
    let away = format!("3 messages were moved from this topic to #**Verona>two** by {by}.");
    assert_eq!(notices(&iago, &verona, "lunch").await, [away]);

    iago.edit(ids[1], &[("stream_id", &venice.id), TELL_OLD, ALL]).ok().await;
    let here = format!("This topic was moved here from #**Verona>lunch** by {by}.");
    assert_eq!(notices(&iago, &venice, "lunch").await.last(), Some(&here));
    let away = format!("This topic was moved to #**Venice>lunch** by {by}.");
    assert_eq!(notices(&iago, &verona, "lunch").await, [away]);
}

#[tokio::test]
async fn move_notice_is_read_for_mover_only() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "lunch", "x").await;
    iago.edit(id, &[("topic", &"dinner"), ALL]).ok().await;
    let narrow = json!([["channel", "Verona"], ["topic", "dinner"]]);
    let flags = |messages: Vec<Value>| messages.last().expect("a notice")["flags"].clone();
    assert_eq!(flags(iago.messages(narrow.clone()).await), json!(["read"]));
    assert_eq!(flags(hamlet.messages(narrow).await), json!([]));
}

#[tokio::test]
async fn move_notice_for_case_change() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "lunch", "x").await;
    iago.edit(id, &[("topic", &"Lunch"), TELL_OLD, ALL]).ok().await;
    let here = format!("This topic was moved here from #**Verona>lunch** by @_**Iago|{}**.", iago.id);
    assert_eq!(notices(&iago, &verona, "lunch").await, [here]);
    // The link has the new spelling.
    let topics = iago.get(&format!("/users/me/{}/topics", verona.id), &[]).ok().await;
    assert_eq!(topics["topics"][0]["name"], "Lunch");
}

#[tokio::test]
async fn move_notice_escapes_link_names() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "a > b", "x").await;
    iago.edit(id, &[("topic", &"c"), ALL]).ok().await;
    let url = format!("#narrow/channel/{}-Verona/topic/a.20.3E.20b", verona.id);
    let here =
        format!("This topic was moved here from [#Verona &gt; a &gt; b]({url}) by {}.", mention(&iago));
    assert_eq!(notices(&iago, &verona, "c").await, [here]);
}

#[tokio::test]
async fn resolve_notice_removed_when_undone_within_a_minute() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = hamlet.send(&verona, "lunch", "x").await;
    let resolved = format!("{} has marked this topic as resolved.", mention(&iago));
    let unresolved = format!("{} has marked this topic as unresolved.", mention(&iago));
    iago.edit(id, &[("topic", &"✔ lunch"), ALL]).ok().await;
    assert_eq!(notices(&iago, &verona, "✔ lunch").await, std::slice::from_ref(&resolved));
    clock.advance_secs(59);
    iago.edit(id, &[("topic", &"lunch"), ALL]).ok().await;
    assert_eq!(notices(&iago, &verona, "lunch").await, [""; 0]);
    iago.edit(id, &[("topic", &"✔ lunch"), ALL]).ok().await;
    clock.advance_secs(60);
    iago.edit(id, &[("topic", &"lunch"), ALL]).ok().await;
    assert_eq!(notices(&iago, &verona, "lunch").await, [resolved, unresolved]);
}

#[tokio::test]
async fn resolve_notice_is_unread_for_followers() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, othello] = t.users(["iago", "hamlet", "cordelia", "othello"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).with(&othello).await;
    // Hamlet follows topics that he starts; Othello has enabled notices of all topics.
    let id = hamlet.send(&verona, "lunch", "x").await;
    let never: Params<'_> = &[("resolved_topic_notice_auto_read_policy", &"never")];
    othello.patch("/settings", never).ok().await;
    iago.edit(id, &[("topic", &"✔ lunch"), ALL]).ok().await;
    let narrow = json!([["channel", "Verona"], ["topic", "✔ lunch"]]);
    for (person, flags) in
        [(&iago, json!(["read"])), (&hamlet, json!([])), (&cordelia, json!(["read"])), (&othello, json!([]))]
    {
        let messages = person.messages(narrow.clone()).await;
        assert_eq!(messages.last().expect("a notice")["flags"], flags, "{}", person.email);
    }
}
