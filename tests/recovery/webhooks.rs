//! Killed between the commit of a message and its way to the service of a bot: the service is asked all the same, and
//! what it answers is said once.

use crate::support::server::assert_clean;
use crate::support::{Params, Person, Reaction, ServerProcess, Service};
use serde_json::json;
use std::path::Path;

fn serve(data: &Path) -> ServerProcess {
    ServerProcess::dev(data)
}

/// A bot of Hamlet's that asks the service; gives it as one to write to.
async fn bot_of(hamlet: &Person, service: &Service) -> Person {
    let url = json!(service.url());
    let params: Params<'_> =
        &[("full_name", &"Asker"), ("short_name", &"asker"), ("bot_type", &3), ("payload_url", &url)];
    let made = hamlet.post("/bots", params).ok().await;
    Person { id: made["user_id"].as_u64().unwrap() as u32, full_name: "Asker".to_owned(), ..hamlet.clone() }
}

#[tokio::test]
async fn a_service_is_asked_after_a_crash_and_its_answer_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let hamlet = server.user("hamlet").await;
    let mut service = Service::start().await;
    let bot = bot_of(&hamlet, &service).await;
    // The first is asked and has not answered when the server dies, the second waits for nobody.
    service.always(Reaction::Hang);
    hamlet.send_direct(&[&bot], "before the crash").await;
    let key = service.asked().await.headers["idempotency-key"].clone();
    server.kill();
    service.always(Reaction::json(&json!({"content": "after the crash"})));
    let server = serve(&data);
    let hamlet = server.again(&hamlet);
    let asked = service.asked().await;
    assert_eq!(asked.json()["data"], "before the crash");
    assert_eq!(asked.headers["idempotency-key"], key, "the service can know that it was asked before");
    // Whatever is asked and answered later comes behind it.
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
    // Both ended with their answers: another crash brings neither back.
    server.kill();
    let server = serve(&data);
    let hamlet = server.again(&hamlet);
    assert_eq!(hamlet.messages(narrow.clone()).await.len(), 2);
    hamlet.send_direct(&[&bot], "last").await;
    let later: Vec<_> = std::iter::once(service.asked().await).chain(service.already()).collect();
    assert!(later.iter().all(|asked| asked.headers["idempotency-key"] != key), "{later:?}");
    assert!(later.iter().any(|asked| asked.json()["data"] == "and then"), "{later:?}");
    drop(service);
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}

#[tokio::test]
async fn an_operator_sees_what_an_owner_was_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let hamlet = server.user("hamlet").await;
    let mut service = Service::start().await;
    let bot = bot_of(&hamlet, &service).await;
    service.then(Reaction::Refuse(404, "no such bot"));
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
    // And that is the end of it.
    service.asked().await;
    let server = serve(&data);
    let hamlet = server.again(&hamlet);
    service.always(Reaction::json(&json!({"content": "here I am"})));
    let mut queue = hamlet.register().events(&["message"]).await;
    hamlet.send_direct(&[&bot], "once more").await;
    while queue.next().await["message"]["content"] != "here I am" {}
    let asked: Vec<_> = service.already().iter().map(|asked| asked.json()["data"].clone()).collect();
    assert_eq!(asked, ["once more"]);
}
