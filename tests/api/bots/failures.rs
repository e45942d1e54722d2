//! Outgoing webhooks: services that refuse, are slow, talk nonsense, or are gone.

use super::{make, make_outgoing, next_message, start};
use crate::support::{Person, Queue, Reaction, Service, TestServer};
use serde_json::json;

/// Talks to the bot; what its owner is told of it.
async fn told(owner: &mut Queue, asker: &Person, bot: &Person) -> String {
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
async fn owners_are_told_what_is_wrong() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let elsewhere = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut owner = hamlet.register().events(&["message"]).await;
    for (reaction, expected) in [
        (Reaction::Refuse(404, "no ```\nbot"), "status code *404*"),
        (Reaction::Redirect(elsewhere.url()), "status code *302*"),
        (Reaction::Say("<html>".to_owned()), "Invalid JSON in response"),
        (Reaction::Say("[1]".to_owned()), "Invalid response format"),
    ] {
        service.then(reaction.clone());
        let content = told(&mut owner, &othello, &bot).await;
        assert!(content.contains(expected), "{reaction:?}: {content}");
        service.asked().await;
        assert!(service.already().is_empty(), "{reaction:?} is not asked again");
    }
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut asker = othello.register().events(&["message"]).await;
    service.then(Reaction::Refuse(503, "in a moment"));
    service.then(Reaction::json(&json!({"content": "here I am"})));
    othello.send_direct(&[&bot], "hi").await;
    assert_eq!(next_message(&mut asker, &othello).await["content"], "here I am");
    let (first, second) = (service.asked().await, service.asked().await);
    assert_eq!(first.headers["idempotency-key"], second.headers["idempotency-key"]);
    assert_eq!(first.body, second.body);
}

#[tokio::test]
async fn and_given_up_in_the_end() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut owner = hamlet.register().events(&["message"]).await;
    let mut service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    for (reaction, expected) in [
        (Reaction::Refuse(500, "oops"), "status code *500*"),
        (Reaction::Hang, "A timeout occurred."),
        (Reaction::BreakOff, "A connection error occurred."),
    ] {
        service.always(reaction.clone());
        let content = told(&mut owner, &othello, &bot).await;
        assert!(content.contains(expected), "{reaction:?}: {content}");
        assert_eq!(service.already().len(), 2, "{reaction:?}");
    }
    drop(service);
    let content = told(&mut owner, &othello, &bot).await;
    assert!(content.contains("A connection error occurred. Is my bot server down?"), "{content}");
}

/// The owner may follow the link only where the owner may read.
#[tokio::test]
async fn a_notice_links_to_what_its_reader_may_see() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    service.always(Reaction::Refuse(404, ""));
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

/// Where it is not allowed, services inside of the server's own network are not asked.
#[tokio::test]
async fn services_inside_are_out_of_reach() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let mut service = Service::start().await;
    let mut owner = hamlet.register().events(&["message"]).await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let content = told(&mut owner, &othello, &bot).await;
    assert!(content.contains("does not connect to"), "{content}");
    let (nowhere, _) = make(&hamlet, "nowhere", &[("bot_type", &3)]).await;
    assert!(told(&mut owner, &othello, &nowhere).await.contains("has no payload URL"));
    assert!(service.already().is_empty());
}

/// A service that never answers is in nobody's way: others are asked, and everybody goes on writing.
#[tokio::test]
async fn a_dead_service_blocks_nobody() {
    let t = TestServer::plan().set("webhooks.private_addresses", true).start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let (dead, mut living) = (Service::start().await, Service::start().await);
    dead.always(Reaction::Hang);
    living.always(Reaction::json(&json!({"content": "pong"})));
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
    assert_eq!(living.asked().await.json()["data"], "ping");
}

/// Whoever runs the server sees what their people were told of, from the same moment on.
#[tokio::test]
async fn what_an_owner_was_told_of_is_among_what_was_given_up() {
    let t = start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let service = Service::start().await;
    let bot = make_outgoing(&hamlet, &service, 1).await;
    let mut owner = hamlet.register().events(&["message"]).await;
    let given_up = || {
        t.realm().read(|view| {
            let of = |job: &std::sync::Arc<model::job::Job>| {
                (job.task.words(), job.failure.as_ref().expect("a reason").why.clone())
            };
            (view.jobs.waiting_count(model::job::TaskKind::Webhook), view.jobs.failed().map(of).collect())
        })
    };
    service.then(Reaction::Refuse(404, "no such bot"));
    service.then(Reaction::Say("[1]".to_owned()));
    told(&mut owner, &othello, &bot).await;
    let (waiting, failed): (usize, Vec<(String, String)>) = given_up();
    assert_eq!((waiting, failed.len()), (0, 1), "{failed:?}");
    assert!(failed[0].0.contains(&format!("the service of bot {}", bot.id)), "{failed:?}");
    assert_eq!(failed[0].1, "Third party responded with 404");
    told(&mut owner, &othello, &bot).await;
    assert_eq!(given_up().1[1].1, "Invalid response format");
    // What was answered is not among them.
    service.then(Reaction::json(&json!({"content": "here I am"})));
    othello.send_direct(&[&bot], "hi").await;
    let mut asker = othello.register().events(&["message"]).await;
    service.then(Reaction::json(&json!({"content": "still here"})));
    othello.send_direct(&[&bot], "hi").await;
    while next_message(&mut asker, &othello).await["content"] != "still here" {}
    let (waiting, failed) = given_up();
    assert_eq!((waiting, failed.len()), (0, 2), "{failed:?}");
}
