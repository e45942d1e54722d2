//! Outgoing webhooks: services that fail, hang, reply with invalid data, or are down.

use super::{make, make_outgoing, next_message, start};
use crate::support::{HttpStub, Queue, StubReply, TestServer, TestUser};
use serde_json::json;

/// Sends the bot a direct message; returns the notice that its owner gets.
async fn failure_notice(owner: &mut Queue, asker: &TestUser, bot: &TestUser) -> String {
    asker.send_direct(&[bot], "hi").await;
    let notice = next_message(owner, asker).await;
    assert_eq!(notice["sender_full_name"], "Notification Bot", "{notice}");
    let content = notice["content"].as_str().unwrap().to_owned();
    assert!(
        content.starts_with(&format!("A message to your bot @_**{}|{}**", bot.full_name, bot.id)),
        "{content}"
    );
    content
}

#[tokio::test]
async fn outgoing_webhook_failure_notifies_owner() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let elsewhere = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut owner = hamlet.register().events(&["message"]).await;
    for (reply, expected) in [
        (StubReply::Status(404, "no ```\nbot"), "status code *404*"),
        (StubReply::Redirect(elsewhere.url()), "status code *302*"),
        (StubReply::Ok("<html>".to_owned()), "Invalid JSON in response"),
        (StubReply::Ok("[1]".to_owned()), "Invalid response format"),
    ] {
        service.reply_next(reply.clone());
        let content = failure_notice(&mut owner, &othello, &bot).await;
        assert!(content.contains(expected), "{reply:?}: {content}");
        service.next_request().await;
        assert!(service.take_received().is_empty(), "{reply:?} is not asked again");
    }
}

#[tokio::test]
async fn outgoing_webhook_transient_failure_is_retried() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut asker = othello.register().events(&["message"]).await;
    service.reply_next(StubReply::Status(503, "in a moment"));
    service.reply_next(StubReply::json(&json!({"content": "here I am"})));
    othello.send_direct(&[&bot], "hi").await;
    assert_eq!(next_message(&mut asker, &othello).await["content"], "here I am");
    let (first, second) = (service.next_request().await, service.next_request().await);
    assert_eq!(first.headers["idempotency-key"], second.headers["idempotency-key"]);
    assert_eq!(first.body, second.body);
}

#[tokio::test]
async fn outgoing_webhook_retries_are_bounded() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut owner = hamlet.register().events(&["message"]).await;
    let mut service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    for (reply, expected) in [
        (StubReply::Status(500, "oops"), "status code *500*"),
        (StubReply::Hang, "A timeout occurred."),
        (StubReply::Disconnect, "A connection error occurred."),
    ] {
        service.reply_always(reply.clone());
        let content = failure_notice(&mut owner, &othello, &bot).await;
        assert!(content.contains(expected), "{reply:?}: {content}");
        assert_eq!(service.take_received().len(), 2, "{reply:?}");
    }
    drop(service);
    let content = failure_notice(&mut owner, &othello, &bot).await;
    assert!(content.contains("A connection error occurred. Is my bot server down?"), "{content}");
}

/// The notice links to the message only if the owner can read it.
#[tokio::test]
async fn outgoing_webhook_failure_notice_link_respects_owner_access() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    service.reply_always(StubReply::Status(404, ""));
    let mut owner = hamlet.register().events(&["message"]).await;
    let public = othello.create_channel("Verona").await;
    let secret = othello.create_channel("secret").private().with(&bot).await;
    let text = format!("@**{}** hi", bot.full_name);
    let id = othello.send(&public, "a topic", &text).await;
    let notice = next_message(&mut owner, &othello).await["content"].as_str().unwrap().to_owned();
    assert!(
        notice.contains(&format!("/#narrow/channel/{}-Verona/topic/a.20topic/near/{id})", public.id)),
        "{notice}"
    );
    othello.send(&secret, "hidden", &text).await;
    let notice = next_message(&mut owner, &othello).await["content"].as_str().unwrap().to_owned();
    assert!(notice.starts_with("A message to your bot") && !notice.contains("secret"), "{notice}");
}

/// Unless enabled, services at private addresses get no requests.
#[tokio::test]
async fn outgoing_webhook_to_private_address_is_refused() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = HttpStub::start().await;
    let mut owner = hamlet.register().events(&["message"]).await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let content = failure_notice(&mut owner, &othello, &bot).await;
    assert!(
        content.contains("does not connect to") && content.contains("webhooks.private_addresses"),
        "{content}"
    );
    let (nowhere, _) = make(&hamlet, "nowhere", &[("bot_type", &3)]).await;
    assert!(failure_notice(&mut owner, &othello, &nowhere).await.contains("has no payload URL"));
    assert!(service.take_received().is_empty());
}

/// A hanging service delays neither other services nor other requests.
#[tokio::test]
async fn outgoing_webhook_hanging_service_blocks_no_others() {
    let t = TestServer::builder().set("webhooks.private_addresses", true).start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let (dead, mut living) = (HttpStub::start().await, HttpStub::start().await);
    dead.reply_always(StubReply::Hang);
    living.reply_always(StubReply::json(&json!({"content": "pong"})));
    let silent = make_outgoing(&hamlet, &dead, 1).await;
    let url = json!(living.url());
    let (ping, _) = make(&hamlet, "ping", &[("bot_type", &3), ("payload_url", &url)]).await;
    let channel = othello.create_channel("Verona").await;
    for number in 0..40 {
        othello.send(&channel, "t", &format!("@**{}** {number}", silent.full_name)).await;
    }
    let mut queue = othello.register().events(&["message"]).await;
    othello.send_direct(&[&ping], "ping").await;
    assert_eq!(next_message(&mut queue, &othello).await["content"], "pong");
    assert_eq!(living.next_request().await.json()["data"], "ping");
}

/// The operator's list of failures matches the notices that owners got.
#[tokio::test]
async fn outgoing_webhook_failures_are_listed_for_operator() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let service = HttpStub::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut owner = hamlet.register().events(&["message"]).await;
    let given_up = || {
        let failed = t.failed_jobs();
        let of = |job: &std::sync::Arc<model::job::Job>| {
            (job.task.description(), job.failure.as_ref().expect("a reason").why.clone())
        };
        (t.waiting_jobs(model::job::TaskKind::Webhook), failed.iter().map(of).collect())
    };
    service.reply_next(StubReply::Status(404, "no such bot"));
    service.reply_next(StubReply::Ok("[1]".to_owned()));
    failure_notice(&mut owner, &othello, &bot).await;
    let (waiting, failed): (usize, Vec<(String, String)>) = given_up();
    assert_eq!((waiting, failed.len()), (0, 1), "{failed:?}");
    assert!(failed[0].0.contains(&format!("the service of bot {}", bot.id)), "{failed:?}");
    assert_eq!(failed[0].1, "Third party responded with 404");
    failure_notice(&mut owner, &othello, &bot).await;
    assert_eq!(given_up().1[1].1, "Invalid response format");
    // Successful requests are not listed.
    service.reply_next(StubReply::json(&json!({"content": "here I am"})));
    othello.send_direct(&[&bot], "hi").await;
    let mut asker = othello.register().events(&["message"]).await;
    service.reply_next(StubReply::json(&json!({"content": "still here"})));
    othello.send_direct(&[&bot], "hi").await;
    while next_message(&mut asker, &othello).await["content"] != "still here" {}
    let (waiting, failed) = given_up();
    assert_eq!((waiting, failed.len()), (0, 2), "{failed:?}");
}
