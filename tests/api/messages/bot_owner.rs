//! Notices to the owner of a bot that sends to a missing or unread channel.

use crate::support::{Params, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

const PAUSE_SECS: u64 = 5 * 60;

async fn say(bot: &TestUser, to: &Value) -> crate::support::ApiResponse {
    let params: Params<'_> =
        &[("type", &"stream"), ("to", to), ("topic", &"alarm"), ("content", &"Fire!"), ("local_id", &"1")];
    bot.post("/messages", params).await
}

/// The notices that a user got, oldest first, as Markdown.
async fn notices(who: &TestUser) -> Vec<String> {
    let window: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &100),
        ("num_after", &0),
        ("narrow", &json!([["is", "dm"]])),
        ("apply_markdown", &false),
    ];
    let body = who.get("/messages", window).ok().await;
    let messages = body["messages"].as_array().unwrap().iter();
    let from_bot = |message: &&Value| message["sender_full_name"] == "Notification Bot";
    messages.filter(from_bot).map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn bot_owner_notified_of_missing_channel() {
    let clock = ManualClock::new(Timestamp(1_893_456_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [owner, bot] = t.users(["AARON", "default-bot"]);
    let email = &bot.email;
    let channel = owner.create_channel("Verona").await;
    assert_eq!(say(&bot, &json!(channel.id)).await.status, 200);
    assert!(notices(&owner).await.is_empty(), "the channel has a subscriber");
    owner.unsubscribe(&channel).await;
    let mut expected = Vec::new();
    for (to, status, text) in [
        (
            json!("nowhere"),
            400,
            format!(
                "Your bot `{email}` tried to send a message to channel #**nowhere**, but that channel does not \
                 exist. Click [here](#channels/new) to create it."
            ),
        ),
        (
            json!(99_999),
            400,
            format!(
                "Your bot `{email}` tried to send a message to channel ID 99999, but there is no channel with \
                 that ID."
            ),
        ),
        (
            json!("verona"),
            200,
            format!(
                "Your bot `{email}` tried to send a message to channel #**Verona**. The channel exists but does \
                 not have any subscribers."
            ),
        ),
    ] {
        expected.push(text);
        assert_eq!(say(&bot, &to).await.status, status, "{to}");
        assert_eq!(notices(&owner).await, expected);
        // No second notice within five minutes, whatever its reason.
        clock.advance_secs(PAUSE_SECS - 1);
        say(&bot, &json!("elsewhere")).await;
        assert_eq!(notices(&owner).await, expected);
        clock.advance_secs(1);
    }
}

#[tokio::test]
async fn bot_owner_notice_not_sent() {
    let t = TestServer::start().await;
    let [owner, bot, hamlet] = t.users(["AARON", "default-bot", "hamlet"]);
    let missing = json!({
        "msg": "Channel 'nowhere' does not exist", "code": "STREAM_DOES_NOT_EXIST", "stream": "nowhere",
    });
    say(&hamlet, &json!("nowhere")).await.refused(400, missing);
    assert!(notices(&hamlet).await.is_empty());
    // Errors found before the channel is looked up send no notice.
    let params: Params<'_> = &[("type", &"stream"), ("to", &"nowhere"), ("topic", &"t"), ("content", &" ")];
    bot.post("/messages", params).bad("Message must not be empty").await;
    let long = json!("x".repeat(61));
    say(&bot, &long)
        .await
        .refused(400, json!({"msg": "Channel name too long (limit: 60 characters).", "code": "BAD_REQUEST"}));
    assert!(notices(&owner).await.is_empty());
}
