//! Graceful shutdown: accepted requests are completed, held polls are answered, and the next start replays nothing.

use super::traffic::{AcknowledgedSends, PEOPLE, compare, read_back_all, send_until_gone};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TIMEOUT, TestUser};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn graceful_shutdown_answers_accepted_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let mut people: Vec<TestUser> = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let since = people[0].register().await.state["max_message_id"].as_u64().expect("the newest message");
    let mut polls = Vec::new();
    for person in &people {
        // Polls for events that do not occur here.
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
    tokio::time::timeout(TIMEOUT, queue.poll(false)).await.expect("they send");
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.terminate();
    let mut sends = AcknowledgedSends::default();
    for sender in senders {
        let own = sender.await.expect("a sender");
        sends.acknowledged.extend(own.acknowledged);
        sends.unanswered.extend(own.unanswered);
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
    compare(&sends, &stored);
    // Every stored message was acknowledged.
    assert_eq!(stored.len(), sends.acknowledged.len());
    let log = server.log.lock().expect("a log").clone();
    assert!(log.contains("replayed=0"), "{log}");
}

#[tokio::test]
async fn graceful_shutdown_with_idle_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    // Far longer than `wait` waits, so that an idle connection that delayed the shutdown would fail the test.
    let environment = [("MILLSTREAM_HTTP_STOP_SECS_MAX", "3600"), ("MILLSTREAM_LOG_FILTER", "info")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--data", &data], &environment);
    // The client keeps its connection open.
    let _iago = server.user("iago").await;
    server.terminate();
    // The last line.
    server.wait_for_log("stopped");
    let log = server.log.clone();
    assert!(server.wait().success());
    let log = log.lock().expect("a log").clone();
    // Lines of the library about its own threads.
    for line in ["worker", "accept thread", "Actix"] {
        assert!(!log.contains(line), "{line}: {log}");
    }
}
