//! Each client receives the messages of a channel in the order of their ids, none missing and none twice, with
//! concurrent senders and with reconnects of its long poll.

use crate::support::{Channel, Queue, TIMEOUT, TestServer, TestUser};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SENDERS: usize = 8;
const MESSAGES_EACH: usize = 25;

/// Sends to both channels alternately; returns id and channel of each message.
async fn send_many(person: TestUser, channels: [Channel; 2], number: usize) -> Vec<(u64, u64)> {
    let mut sent = Vec::new();
    for index in 0..MESSAGES_EACH {
        let channel = &channels[(number + index) % 2];
        sent.push((person.send(channel, "t", &format!("{number}.{index}")).await, channel.id));
    }
    sent
}

/// Reads until `last` arrived in each channel. Like clients on bad networks, it sometimes disconnects during a poll or
/// polls again without acknowledging.
async fn read_all(mut queue: Queue, count: usize, hangs_up: bool) -> Vec<(u64, u64)> {
    let mut seen: Vec<(u64, u64)> = Vec::new();
    let mut round = 0_u32;
    while seen.len() < count {
        round += 1;
        if hangs_up && round.is_multiple_of(3) {
            // Disconnected before or while the response is written, so nothing was acknowledged.
            let poll = queue.poll(false);
            let _ = tokio::time::timeout(std::time::Duration::from_millis(u64::from(round % 7)), poll).await;
        }
        let answer = tokio::time::timeout(TIMEOUT, queue.poll(false)).await.expect("an event");
        queue.take(answer);
        for event in queue.taken() {
            if event["type"] == "message" {
                let message = &event["message"];
                seen.push((message["id"].as_u64().unwrap(), message["stream_id"].as_u64().unwrap()));
            }
        }
    }
    seen
}

#[tokio::test]
async fn message_order_is_equal_for_all_clients() {
    let t = TestServer::start().await;
    let names = ["iago", "hamlet", "cordelia", "othello"];
    let people = t.users(names);
    let [iago, hamlet, cordelia, othello] = &people;
    let a = iago.create_channel("a").with(hamlet).with(cordelia).with(othello).await;
    let b = iago.create_channel("b").with(hamlet).with(cordelia).with(othello).await;
    let mut readers = Vec::new();
    for (index, person) in people.iter().cycle().take(8).enumerate() {
        let queue = person.register().events(&["message"]).await;
        readers.push(tokio::spawn(read_all(queue, SENDERS * MESSAGES_EACH, index % 2 == 1)));
    }
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let person = people[number % people.len()].clone();
        senders.push(tokio::spawn(send_many(person, [a.clone(), b.clone()], number)));
    }
    let mut sent = Vec::new();
    for sender in senders {
        let own = sender.await.unwrap();
        assert!(own.is_sorted(), "one after the other, ids grow: {own:?}");
        sent.extend(own);
    }
    sent.sort_unstable();
    for reader in readers {
        // Sorted by id across all channels, and exactly the messages that were sent.
        assert_eq!(reader.await.unwrap(), sent);
    }
    for channel in [&a, &b] {
        let stored = iago.message_ids(json!([["channel", channel.name], ["topic", "t"]])).await;
        let expected: Vec<u64> = sent.iter().filter(|(_, id)| *id == channel.id).map(|(id, _)| *id).collect();
        assert_eq!(stored, expected);
    }
}

#[tokio::test]
async fn local_echo_ids_under_concurrent_sends() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let mut queue = iago.register().events(&["message"]).await;
    let mut waiting: BTreeMap<u64, String> = BTreeMap::new();
    let noise = tokio::spawn({
        let channel = channel.clone();
        async move {
            for number in 0..30 {
                hamlet.send(&channel, "noise", &number.to_string()).await;
            }
        }
    });
    for number in 0..30 {
        let local_id = format!("{number}.5");
        let params: crate::support::Params<'_> = &[
            ("type", &"channel"),
            ("to", &channel.id),
            ("topic", &"t"),
            ("content", &number),
            ("queue_id", &queue.id),
            ("local_id", &local_id),
        ];
        let id = iago.post("/messages", params).ok().await["id"].as_u64().unwrap();
        waiting.insert(id, local_id);
    }
    noise.await.unwrap();
    let events = queue.now().await;
    assert_eq!(events.len(), 60);
    for event in events {
        let id = event["message"]["id"].as_u64().unwrap();
        let local_id = event.get("local_message_id").and_then(Value::as_str).map(str::to_owned);
        assert_eq!(local_id, waiting.remove(&id), "{event}");
    }
    assert!(waiting.is_empty());
}
