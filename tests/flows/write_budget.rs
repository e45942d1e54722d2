//! The daily limit of journal bytes per account, which exists because the journal keeps old frames.

use crate::api::bots::make;
use crate::support::{ApiResponse, Params, TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;

const HOUR_SECS: u64 = 3600;

async fn send_long(person: &TestUser, to: u32) -> ApiResponse {
    // Text that does not compress.
    let mut state = 7u64;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 33) as u8 % 26)
    });
    let (to, content) = (format!("[{to}]"), letters.take(9_600).collect::<String>());
    let params: Params<'_> = &[("type", &"direct"), ("to", &to), ("content", &content)];
    person.post("/messages", params).await
}

#[tokio::test]
async fn write_budget_limits_one_account_only() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder()
        .clock(&clock)
        .set("limits.enabled", true)
        .set("limits.api_by_user", "[]")
        .set("limits.write_bytes_by_user_daily", 50_000)
        .start()
        .await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&iago, "helper", &[]).await;
    let id = hamlet.send_direct(&[&iago], "tea?").await;
    let mut sent = 0;
    let refused = loop {
        let answer = send_long(&iago, hamlet.id).await;
        if answer.status != 200 {
            break answer;
        }
        sent += 1;
        assert!(sent < 10, "nothing is refused");
    };
    // About 10 KB each.
    assert!((4..=6).contains(&sent), "{sent}");
    assert_eq!((refused.status, refused.body["code"].as_str()), (429, Some("RATE_LIMIT_HIT")));
    let wait_secs: f64 = refused.header("Retry-After").parse().expect("a number of seconds");
    assert!((23.0..=24.0).contains(&(wait_secs / HOUR_SECS as f64)), "{wait_secs}");
    // All changes count and are refused; reads are not.
    let emoji: Params<'_> = &[("emoji_name", &"tada")];
    let refused = iago.post(&format!("/messages/{id}/reactions"), emoji).await;
    assert_eq!((refused.status, refused.body["code"].as_str()), (429, Some("RATE_LIMIT_HIT")));
    iago.get(&format!("/messages/{id}"), &[]).ok().await;
    let _queue = iago.register().await;
    let refused = send_long(&bot, hamlet.id).await;
    assert_eq!(refused.status, 429, "a bot writes on the account of its owner");
    send_long(&hamlet, iago.id).await.ok();
    clock.advance_secs(wait_secs as u64 + 1);
    send_long(&iago, hamlet.id).await.ok();
}

#[tokio::test]
async fn write_budget_off_without_limits() {
    let t = TestServer::builder().set("limits.write_bytes_by_user_daily", 1).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    for _ in 0..3 {
        send_long(&iago, hamlet.id).await.ok();
    }
}

#[tokio::test]
async fn new_direct_conversations_are_limited_and_existing_ones_go_on() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder()
        .clock(&clock)
        .set("limits.enabled", true)
        .set("limits.direct_conversations_by_user_daily", 1)
        .start()
        .await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&iago, "helper", &[]).await;
    iago.send_direct(&[&hamlet], "tea?").await;
    let to_oneself = format!("[{}]", iago.id);
    let params: Params<'_> = &[("type", &"direct"), ("to", &to_oneself), ("content", &"note")];
    let refused = iago.post("/messages", params).await;
    assert_eq!((refused.status, refused.body["code"].as_str()), (429, Some("RATE_LIMIT_HIT")));
    let wait_secs: f64 = refused.header("Retry-After").parse().expect("a number of seconds");
    assert!((23.0..=24.0).contains(&(wait_secs / HOUR_SECS as f64)), "{wait_secs}");
    let refused = send_long(&bot, hamlet.id).await;
    assert_eq!(refused.status, 429, "a bot's conversations are those of its owner");
    iago.send_direct(&[&hamlet], "now?").await;
    hamlet.send_direct(&[&iago], "yes").await;
    clock.advance_secs(wait_secs as u64 + 1);
    iago.post("/messages", params).await.ok();
}
