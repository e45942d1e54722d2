//! The server is killed between the commit of a message and the reply of an outgoing webhook: the webhook is requested
//! again, and its reply is sent once.

use crate::support::server::assert_clean;
use crate::support::{HttpStub, Params, ServerProcess, StubReply, TestUser};
use serde_json::json;
use std::path::Path;

fn serve(data: &Path) -> ServerProcess {
    ServerProcess::dev(data)
}

/// A client to an outgoing webhook bot of Hamlet's.
async fn bot_of(hamlet: &TestUser, service: &HttpStub) -> TestUser {
    let url = json!(service.url());
    let params: Params<'_> =
        &[("full_name", &"Asker"), ("short_name", &"asker"), ("bot_type", &3), ("payload_url", &url)];
    let made = hamlet.post("/bots", params).ok().await;
    TestUser { id: made["user_id"].as_u64().unwrap() as u32, full_name: "Asker".to_owned(), ..hamlet.clone() }
}

#[tokio::test]
async fn outgoing_webhook_after_kill_replies_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let hamlet = server.user("hamlet").await;
    let mut service = HttpStub::start().await;
    let bot = bot_of(&hamlet, &service).await;
    // The first request is in flight when the server is killed; the second must not wait for it.
    service.reply_always(StubReply::Hang);
    hamlet.send_direct(&[&bot], "before the crash").await;
    let key = service.next_request().await.headers["idempotency-key"].clone();
    server.kill();
    service.reply_always(StubReply::json(&json!({"content": "after the crash"})));
    let server = serve(&data);
    let hamlet = server.reconnect(&hamlet);
    let asked = service.next_request().await;
    assert_eq!(asked.json()["data"], "before the crash");
    assert_eq!(asked.headers["idempotency-key"], key, "the service can know that it was asked before");
    // Later requests and replies come after it.
    let mut queue = hamlet.register().events(&["message"]).await;
    hamlet.send_direct(&[&bot], "and then").await;
    loop {
        let event = queue.next().await;
        if event["message"]["sender_id"] == bot.id {
            break;
        }
    }
    let narrow = json!([{"operator": "dm", "operand": [bot.id]}, {"operator": "sender", "operand": bot.id}]);
    let mut said = hamlet.messages(narrow.clone()).await;
    while said.len() < 2 {
        queue.next().await;
        said = hamlet.messages(narrow.clone()).await;
    }
    // Both are complete: another kill repeats neither.
    server.kill();
    let server = serve(&data);
    let hamlet = server.reconnect(&hamlet);
    assert_eq!(hamlet.messages(narrow.clone()).await.len(), 2);
    hamlet.send_direct(&[&bot], "last").await;
    let later: Vec<_> =
        std::iter::once(service.next_request().await).chain(service.take_received()).collect();
    assert!(later.iter().all(|asked| asked.headers["idempotency-key"] != key), "{later:?}");
    assert!(later.iter().any(|asked| asked.json()["data"] == "and then"), "{later:?}");
    drop(service);
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}

#[tokio::test]
async fn outbox_command_lists_failed_webhooks() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let hamlet = server.user("hamlet").await;
    let mut service = HttpStub::start().await;
    let bot = bot_of(&hamlet, &service).await;
    service.reply_next(StubReply::Status(404, "no such bot"));
    let mut queue = hamlet.register().events(&["message"]).await;
    hamlet.send_direct(&[&bot], "hi").await;
    while !queue.next().await["message"]["content"].as_str().unwrap().contains("status code *404*") {}
    server.kill();
    let (status, said) = ServerProcess::run(&["outbox", "--data", &data.display().to_string()]);
    assert!(status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("webhook")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    for words in ["given up", &format!("the service of bot {}", bot.id), "Third party responded with 404"] {
        assert!(lines[0].contains(words), "{said}");
    }
    // No further attempt.
    service.next_request().await;
    let server = serve(&data);
    let hamlet = server.reconnect(&hamlet);
    service.reply_always(StubReply::json(&json!({"content": "here I am"})));
    let mut queue = hamlet.register().events(&["message"]).await;
    hamlet.send_direct(&[&bot], "once more").await;
    while queue.next().await["message"]["content"] != "here I am" {}
    let asked: Vec<_> = service.take_received().iter().map(|asked| asked.json()["data"].clone()).collect();
    assert_eq!(asked, ["once more"]);
}
