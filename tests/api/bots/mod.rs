//! Bots: mirrors `src/api/bots`, and outgoing webhooks.

mod answers;
mod config;
mod create;
mod failures;
mod keys;
mod leaving;
mod retire;
mod storage;
mod update;

use crate::support::{HttpStub, Param, Params, TestServer, TestUser};
use serde_json::{Value, json};

/// Creates a bot; returns its client and the response.
pub async fn make(owner: &TestUser, short_name: &str, more: Params<'_>) -> (TestUser, Value) {
    let full_name = format!("{short_name} the bot");
    let mut params: Vec<Param<'_>> = vec![("full_name", &full_name), ("short_name", &short_name)];
    params.extend(more);
    let body = owner.post("/bots", &params).ok().await;
    let email = format!("{short_name}-bot@zulipdev.com");
    let bot = TestUser {
        id: body["user_id"].as_u64().unwrap() as u32,
        key: body["api_key"].as_str().unwrap().to_owned(),
        api_email: email.clone(),
        email,
        full_name,
        ..owner.clone()
    };
    (bot, body)
}

/// Starts a server whose outgoing webhooks may reach this machine, with a short timeout and two attempts.
pub async fn start() -> TestServer {
    let plan = TestServer::builder().set("webhooks.private_addresses", true);
    plan.set("webhooks.request_secs_max", 1).set("webhooks.tries_max", 2).start().await
}

/// Creates an outgoing webhook bot.
pub async fn make_outgoing(owner: &TestUser, service: &HttpStub, interface: u8) -> TestUser {
    let (kind, url) = (3, json!(service.url()));
    let params: Params<'_> = &[("bot_type", &kind), ("payload_url", &url), ("interface_type", &interface)];
    make(owner, "asker", params).await.0
}

/// The bot in the `realm_bots` that a user's registration returns.
pub async fn shown(person: &TestUser, bot: &TestUser) -> Option<Value> {
    let queue = person.register().events(&["realm_bot"]).await;
    let bots = queue.state["realm_bots"].as_array().unwrap().clone();
    bots.into_iter().find(|known| known["user_id"] == bot.id)
}

/// Waits for the next message that was not sent by `not_by`.
pub async fn next_message(queue: &mut crate::support::Queue, not_by: &TestUser) -> Value {
    loop {
        let event = queue.next().await;
        if event["type"] == "message" && event["message"]["sender_id"] != not_by.id {
            return event["message"].clone();
        }
    }
}
