//! Hundreds of things are owed to services that take connections and say nothing: only so many are asked at once, everything
//! else waits as a row, and people chat on.

use super::mail::jobs;
use crate::api::bots::make;
use crate::support::phone::{Phone, service_url};
use crate::support::smtp::{Mood, SmtpServer};
use crate::support::{Params, Person, Reaction, Service, TestServer};
use model::job::TaskKind;
use serde_json::json;

/// As `actors::outbox::schedule` has it.
const KIND_UNDER_WAY_MAX: usize = 16;
const LANE_UNDER_WAY_MAX: usize = 4;

fn waiting(t: &TestServer, kind: TaskKind) -> usize {
    t.realm().read(|view| view.jobs.waiting_count(kind))
}

/// Somebody sends, and somebody else gets it.
async fn chat(sender: &Person, reader: &Person) {
    let channel = sender.create_channel("chat").with(reader).await;
    let mut queue = reader.register().events(&["message"]).await;
    for number in 0..50 {
        sender.send(&channel, "still here", &format!("number {number}")).await;
    }
    for number in 0..50 {
        assert_eq!(queue.next().await["message"]["content"], format!("number {number}"));
    }
}

#[tokio::test]
async fn a_mail_server_that_hangs_has_four_connections_and_no_more() {
    let smtp = SmtpServer::on(0, Mood::Hangs).await;
    let t = TestServer::plan().mail(smtp.port()).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let addresses: Vec<String> = (0..300).map(|number| format!("new{number}@x.example")).collect();
    let none = json!([]);
    let params: Params<'_> = &[("invitee_emails", &addresses.join(",")), ("stream_ids", &none)];
    iago.post("/invites", params).ok().await;
    smtp.wait_for_connections(LANE_UNDER_WAY_MAX).await;
    chat(&iago, &hamlet).await;
    assert_eq!(t.realm().under_way(), LANE_UNDER_WAY_MAX);
    assert_eq!(smtp.connections(), LANE_UNDER_WAY_MAX);
    let (count, failed) = jobs(&t);
    assert!(count >= 300 && failed.is_empty(), "{count} {failed:?}");
}

#[tokio::test]
async fn services_of_bots_that_hang_are_asked_sixteen_questions_and_no_more() {
    let t = TestServer::plan()
        .set("webhooks.private_addresses", true)
        .set("webhooks.request_secs_max", 25)
        .start()
        .await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut service = Service::start().await;
    service.always(Reaction::Hang);
    let mut bots = Vec::new();
    for number in 0..8 {
        let (name, url) = (format!("asker{number}"), json!(service.url()));
        let params: Params<'_> = &[("bot_type", &3), ("payload_url", &url), ("interface_type", &1)];
        bots.push(make(&hamlet, &name, params).await.0);
    }
    for number in 0..30 {
        for bot in &bots {
            hamlet.send_direct(&[bot], &format!("question {number}")).await;
        }
    }
    for _ in 0..KIND_UNDER_WAY_MAX {
        service.asked().await;
    }
    chat(&iago, &hamlet).await;
    assert_eq!(t.realm().under_way(), KIND_UNDER_WAY_MAX);
    assert_eq!(service.already().len(), 0, "nobody else was asked");
    assert_eq!(waiting(&t, TaskKind::Webhook), 240, "and nothing is lost");
}

#[tokio::test]
async fn a_push_service_that_hangs_is_asked_four_times_and_no_more() {
    let mut service = Service::start().await;
    let t = TestServer::plan()
        .set("push.service_url", service_url(&service))
        .set("push.request_secs_max", 25)
        .start()
        .await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    Phone::new(1, "fcm").register(&hamlet, &mut service).await;
    t.outbox_is_empty().await;
    service.always(Reaction::Hang);
    for number in 0..300 {
        iago.send_direct(&[&hamlet], &format!("number {number}")).await;
    }
    for _ in 0..LANE_UNDER_WAY_MAX {
        service.asked().await;
    }
    chat(&iago, &hamlet).await;
    assert_eq!(t.realm().under_way(), LANE_UNDER_WAY_MAX);
    assert_eq!(service.already().len(), 0, "nobody else was asked");
    let waiting = waiting(&t, TaskKind::Push);
    assert!((LANE_UNDER_WAY_MAX..=350).contains(&waiting), "{waiting}");
}
