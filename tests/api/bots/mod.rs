//! Bots: mirrors `src/api/bots`, and what outgoing webhooks do.

mod answers;
mod create;
mod failures;
mod keys;
mod retire;
mod update;

use crate::support::{Params, Person, Service, TestServer};
use serde_json::{Value, json};

/// Makes a bot of `owner`'s; gives it as a caller, and the answer.
pub async fn make(owner: &Person, short_name: &str, more: Params<'_>) -> (Person, Value) {
    let full_name = format!("{short_name} the bot");
    let mut params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
        vec![("full_name", &full_name), ("short_name", &short_name)];
    params.extend(more);
    let body = owner.post("/bots", &params).ok().await;
    let email = format!("{short_name}-bot@zulipdev.com");
    let bot = Person {
        id: body["user_id"].as_u64().unwrap() as u32,
        key: body["api_key"].as_str().unwrap().to_owned(),
        api_email: email.clone(),
        email,
        full_name,
        ..owner.clone()
    };
    (bot, body)
}

/// A server whose bots may ask services of this machine, quickly given up.
pub async fn start() -> TestServer {
    let plan = TestServer::plan().set("webhooks.private_addresses", true);
    plan.set("webhooks.request_secs_max", 1).set("webhooks.tries_max", 2).start().await
}

/// A bot that asks a service.
pub async fn make_outgoing(owner: &Person, service: &Service, interface: u8) -> Person {
    let (kind, url) = (3, json!(service.url()));
    let params: Params<'_> = &[("bot_type", &kind), ("payload_url", &url), ("interface_type", &interface)];
    make(owner, "asker", params).await.0
}

/// A bot as those see it who look after it.
pub async fn shown(person: &Person, bot: &Person) -> Option<Value> {
    let queue = person.register().events(&["realm_bot"]).await;
    let bots = queue.state["realm_bots"].as_array().unwrap().clone();
    bots.into_iter().find(|known| known["user_id"] == bot.id)
}

/// The next message that a queue brings which is not by `person`.
pub async fn next_message(queue: &mut crate::support::Queue, not_by: &Person) -> Value {
    loop {
        let event = queue.next().await;
        if event["type"] == "message" && event["message"]["sender_id"] != not_by.id {
            return event["message"].clone();
        }
    }
}
