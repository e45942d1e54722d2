//! Told to stop: no accepted request is cut, polls are answered, and the next start has nothing to repair.

use super::load::{PEOPLE, Told, compare, read_back_all, send_until_gone};
use crate::support::server::assert_clean;
use crate::support::{PATIENCE, Person, ServerProcess};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn everything_accepted_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let mut people: Vec<Person> = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let since = people[0].register().await.state["max_message_id"].as_u64().expect("the newest message");
    let mut polls = Vec::new();
    for person in &people {
        // They wait for what does not happen here.
        let queue = person.register().events(&["reaction"]).await;
        polls.push(tokio::spawn(async move { queue.poll(false).await }));
    }
    let mut senders = Vec::new();
    for number in 0..16 {
        let (person, partner) =
            (people[number % PEOPLE.len()].clone(), people[(number + 1) % PEOPLE.len()].id);
        senders.push(tokio::spawn(send_until_gone(person, partner, format!("s{number:02}"))));
    }
    let queue = people[0].register().events(&["message"]).await;
    tokio::time::timeout(PATIENCE, queue.poll(false)).await.expect("they send");
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.terminate();
    let mut told = Told::default();
    for sender in senders {
        let own = sender.await.expect("a sender");
        told.acknowledged.extend(own.acknowledged);
        told.unanswered.extend(own.unanswered);
    }
    for poll in polls {
        assert_eq!(poll.await.expect("a poll").ok()["events"], json!([]));
    }
    let log = server.log.clone();
    let status = server.wait();
    let log = log.lock().expect("a log").clone();
    assert!(status.success(), "{status}: {log}");
    assert_clean(&data);
    let server = ServerProcess::dev(&data);
    let stored = read_back_all(&server, &people, since).await;
    compare(&told, &stored);
    // Whatever was stored was also answered.
    assert_eq!(stored.len(), told.acknowledged.len());
    let log = server.log.lock().expect("a log").clone();
    assert!(log.contains("replayed=0"), "{log}");
}

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::dev(&folder.path().join("data"));
    server.user("iago").await;
    let started = std::time::Instant::now();
    server.terminate();
    assert!(server.wait().success());
    assert!(started.elapsed() < PATIENCE / 2, "an open connection does not hold it up");
}
