//! Registrations during concurrent changes: the state of each registration with the following events applied leads to
//! the same result, so no event is lost between them and none is applied twice.

use super::apply::State;
use super::verify::{compare, modern};
use crate::support::{Channel, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of registrations during the changes.
const REGISTRATIONS: usize = 12;

type Stop = Arc<AtomicBool>;

async fn edit(who: &TestUser, id: u64, params: Params<'_>) {
    who.call(Method::PATCH, &format!("/messages/{id}"), params).ok().await;
}

/// Sends, reads, stars, edits, moves and deletes messages until stopped.
async fn write(person: TestUser, channel: Channel, observer: TestUser, number: usize, stop: Stop) {
    let mut index = 0;
    while index < 12 || !stop.load(Ordering::Relaxed) {
        let topic = ["pens", "ink", "PENS"][index % 3];
        let id = person.send(&channel, topic, &format!("{number}.{index} @**all**")).await;
        match index % 8 {
            0 => drop(observer.flag("add", "read", &[id]).await),
            1 => drop(observer.flag("add", "starred", &[id]).await),
            2 => drop(person.send_direct(&[&observer], "psst").await),
            3 => edit(&person, id, &[("content", &"changed")]).await,
            4 => edit(&person, id, &[("topic", &"paper"), ("propagate_mode", &"change_one")]).await,
            5 => drop(person.delete(&format!("/messages/{id}"), &[]).ok().await),
            6 => {
                // Another client may have moved the rest of the topic already.
                let all: Params<'_> = &[("topic", &"quills"), ("propagate_mode", &"change_all")];
                drop(person.call(Method::PATCH, &format!("/messages/{id}"), all).await);
            }
            _ => {}
        }
        index += 1;
    }
}

/// Unsubscribes and subscribes until stopped.
async fn toggle_subscription(person: TestUser, channel: Channel, stop: Stop) {
    while !stop.load(Ordering::Relaxed) {
        person.subscribe(&channel).await;
        person.unsubscribe(&channel).await;
    }
}

#[tokio::test]
async fn register_during_concurrent_changes_is_consistent() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, othello] = t.users(["iago", "hamlet", "cordelia", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let side = iago.create_channel("Rome").await;
    let stop = Stop::default();
    let mut busy = Vec::new();
    for (number, person) in [&iago, &cordelia, &iago].into_iter().enumerate() {
        busy.push(tokio::spawn(write(person.clone(), channel.clone(), hamlet.clone(), number, stop.clone())));
    }
    busy.push(tokio::spawn(toggle_subscription(othello.clone(), side.clone(), stop.clone())));
    busy.push(tokio::spawn(toggle_subscription(hamlet.clone(), side.clone(), stop.clone())));
    let mut queues = Vec::new();
    while queues.len() < REGISTRATIONS {
        queues.push(modern(&hamlet).await);
    }
    stop.store(true, Ordering::Relaxed);
    for task in busy {
        task.await.expect("a concurrent task");
    }
    let end = modern(&hamlet).await;
    for mut queue in queues {
        let events: Vec<Value> = queue.now().await;
        let mut state = State::new(queue.state.clone(), hamlet.id);
        for event in &events {
            state.apply(event);
        }
        compare("hamlet", true, state, State::new(end.state.clone(), hamlet.id), &events);
    }
}
