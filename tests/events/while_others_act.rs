//! Registering in the middle of everything: whatever moment a registration shows, the events after it lead
//! to the same end, with nothing lost between them and nothing counted twice.

use super::apply::State;
use super::verify::{compare, modern};
use crate::support::{Channel, Person, TestServer};
use serde_json::Value;

/// Writes, reads and stars for a while.
async fn write(person: Person, channel: Channel, observer: Person, number: usize) {
    for index in 0..25 {
        let topic = ["pens", "ink", "PENS"][index % 3];
        let id = person.send(&channel, topic, &format!("{number}.{index} @**all**")).await;
        match index % 5 {
            0 => drop(observer.flag("add", "read", &[id]).await),
            1 => drop(observer.flag("add", "starred", &[id]).await),
            2 => drop(person.send_direct(&[&observer], "psst").await),
            _ => {}
        }
    }
}

/// Comes and goes.
async fn wander(person: Person, channel: Channel) {
    for _ in 0..10 {
        person.subscribe(&channel).await;
        person.unsubscribe(&channel).await;
    }
}

#[tokio::test]
async fn any_moment_leads_to_the_same_end() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, othello] = t.users(["iago", "hamlet", "cordelia", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let side = iago.create_channel("Rome").await;
    let mut busy = Vec::new();
    for (number, person) in [&iago, &cordelia, &iago].into_iter().enumerate() {
        busy.push(tokio::spawn(write(person.clone(), channel.clone(), hamlet.clone(), number)));
    }
    busy.push(tokio::spawn(wander(othello.clone(), side.clone())));
    busy.push(tokio::spawn(wander(hamlet.clone(), side.clone())));
    let mut queues = Vec::new();
    while busy.iter().any(|task| !task.is_finished()) && queues.len() < 40 {
        queues.push(modern(&hamlet).await);
    }
    for task in busy {
        task.await.expect("somebody at work");
    }
    let end = modern(&hamlet).await;
    assert!(queues.len() > 5, "only {} registrations", queues.len());
    for mut queue in queues {
        let events: Vec<Value> = queue.now().await;
        let mut state = State::new(queue.state.clone(), hamlet.id);
        for event in &events {
            state.apply(event);
        }
        compare("hamlet", true, state, State::new(end.state.clone(), hamlet.id), &events);
    }
}
