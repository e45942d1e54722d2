//! A full or failing disk: changes fail with a reason, reads go on, no acknowledged change is lost, and the server
//! recovers by itself once there is space.

use super::traffic::{AcknowledgedSends, PEOPLE, Reader, compare, read_back_all, send_until_gone};
use crate::api::pictures::png;
use crate::support::disk::SmallDisk;
use crate::support::server::assert_clean;
use crate::support::{ApiResponse, ServerProcess, TIMEOUT, TestUser, poll_for};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Small journal segments, so that the disk fills up soon.
const SMALL: (&str, &str) = ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576");
/// Disables the reserved space: only errors of the disk itself count.
const NO_RESERVE: (&str, &str) = ("MILLSTREAM_STORAGE_FREE_BYTES_MIN", "1");

fn start(data: &Path, environment: &[(&str, &str)]) -> ServerProcess {
    let data = data.display().to_string();
    let environment = [&[("MILLSTREAM_LOG_FILTER", "info"), SMALL], environment].concat();
    ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--data", &data], &environment)
}

/// Waits until `GET /health` has this status, and returns its body.
async fn health(server: &ServerProcess, status: u16) -> Value {
    poll_for("the health status changes", || async {
        let answer = server.anonymous().get("/health", &[]).await;
        (answer.status == status).then_some(answer.body)
    })
    .await
}

/// Letters that compression cannot shorten much.
fn noise(letters: usize) -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + ((state >> 32) % 26) as u8)
    };
    (0..letters).map(next).collect()
}

async fn try_send(person: &TestUser, content: &str) -> ApiResponse {
    person
        .post(
            "/messages",
            &[("type", &"stream"), ("to", &"Verona"), ("topic", &"disk"), ("content", &content)],
        )
        .await
}

fn assert_full(answer: &ApiResponse) {
    assert_eq!((answer.status, &answer.body["code"]), (503, &json!("STORAGE_FULL")), "{answer:?}");
    assert_eq!(answer.header("Retry-After"), "10.0");
}

#[tokio::test]
async fn full_disk_is_readable_and_recovers() {
    let Some(disk) = SmallDisk::mount(48) else { return };
    let server = start(&disk.data(), &[]);
    let (iago, hamlet) = (server.user("iago").await, server.user("hamlet").await);
    assert_eq!(health(&server, 200).await["storage"]["status"], "ok");
    let mut reader = Reader::register(&hamlet).await;
    let before = try_send(&iago, "before").await.ok()["id"].clone();

    disk.fill();
    let health_says = health(&server, 503).await;
    assert_eq!(health_says["code"], "STORAGE_FULL");
    assert_eq!(
        (&health_says["storage"]["status"], &health_says["storage"]["free_bytes"]),
        (&json!("low_space"), &json!(0))
    );
    assert_full(&try_send(&iago, "lost").await);
    let picture = iago.upload("/users/me/avatar", &[], &[("a.png", png())]).await;
    assert_full(&picture);
    // All reads go on: existing and new queues, messages, users.
    let mut late = Reader::register(&iago).await;
    reader.drain().await;
    assert_eq!(reader.seen, [before.as_u64().expect("an id")]);
    assert_eq!(hamlet.messages(json!([["topic", "disk"]])).await.len(), 1);
    hamlet.get("/users/me", &[]).ok().await;
    hamlet.post("/users/me/presence", &[("status", &"active")]).ok().await;

    disk.free();
    assert_eq!(health(&server, 200).await["storage"]["status"], "ok");
    let after = try_send(&iago, "after").await.ok()["id"].clone();
    reader.drain().await;
    late.drain().await;
    assert_eq!(json!(reader.seen), json!([before, after]));
    assert_eq!(json!(late.seen), json!([after]));
    iago.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&disk.data());
}

#[tokio::test]
async fn start_on_full_disk_after_kill() {
    let Some(disk) = SmallDisk::mount(48) else { return };
    let server = start(&disk.data(), &[]);
    let (iago, hamlet) = (server.user("iago").await, server.user("hamlet").await);
    let mut reader = Reader::register(&hamlet).await;
    let mut sent = Vec::new();
    for number in 0..20 {
        sent.push(try_send(&iago, &format!("m{number}")).await.ok()["id"].clone());
    }
    disk.fill();
    health(&server, 503).await;
    server.kill();
    // Twice: files that the first start could not write completely must not break the second.
    for _ in 0..2 {
        let server = start(&disk.data(), &[]);
        let log = server.log.clone();
        assert_eq!(health(&server, 503).await["code"], "STORAGE_FULL", "{log:?}");
        let (iago, hamlet) = (server.reconnect(&iago), server.reconnect(&hamlet));
        assert_full(&try_send(&iago, "lost").await);
        let found = hamlet.messages(json!([["topic", "disk"]])).await;
        assert_eq!(found.iter().map(|message| message["id"].clone()).collect::<Vec<_>>(), sent);
        reader.person = hamlet;
        reader.drain().await;
        server.kill();
    }
    assert_eq!(json!(reader.seen), json!(sent));
    // A graceful stop succeeds on a full disk.
    let server = start(&disk.data(), &[]);
    health(&server, 503).await;
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success(), "{log:?}");

    let server = start(&disk.data(), &[]);
    disk.free();
    health(&server, 200).await;
    let iago = server.reconnect(&iago);
    sent.push(try_send(&iago, "after").await.ok()["id"].clone());
    reader.person = server.reconnect(&reader.person);
    reader.drain().await;
    assert_eq!(json!(reader.seen), json!(sent));
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&disk.data());
}

/// Concurrent senders while the disk fills up, without reserved space, so that writes of both the journal and the trees
/// fail. Then the space is freed.
#[tokio::test]
async fn full_disk_loses_no_acknowledged_message() {
    let Some(disk) = SmallDisk::mount(40) else { return };
    let mut server = start(&disk.data(), &[NO_RESERVE]);
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let mut readers = vec![Reader::register(&people[0]).await, Reader::register(&people[1]).await];
    let since = readers[1].since;
    let mut sends = AcknowledgedSends::default();
    disk.fill_but(3000);
    for round in 0..3 {
        let mut senders = Vec::new();
        for number in 0..8 {
            let (person, partner) =
                (people[number % PEOPLE.len()].clone(), people[(number + 1) % PEOPLE.len()].id);
            senders.push(tokio::spawn(send_until_gone(person, partner, format!("r{round}.{number:02}"))));
        }
        health(&server, 503).await;
        if round % 2 == 0 {
            disk.free();
            health(&server, 200).await;
            disk.fill_but(1500);
            health(&server, 503).await;
        }
        // In the last round the server is killed, in the others stopped.
        if round == 2 {
            server.kill();
        } else {
            let log = server.log.clone();
            server.terminate();
            assert!(server.wait().success(), "{log:?}");
        }
        for sender in senders {
            let own = sender.await.expect("a sender");
            sends.acknowledged.extend(own.acknowledged);
            sends.unanswered.extend(own.unanswered);
        }
        server = start(&disk.data(), &[NO_RESERVE]);
        disk.free();
        health(&server, 200).await;
        people = people.iter().map(|person| server.reconnect(person)).collect();
        let stored = read_back_all(&server, &people, since).await;
        compare(&sends, &stored);
        for reader in &mut readers {
            reader.person = server.reconnect(&reader.person);
            reader.drain().await;
            let readable = super::traffic::read_back(&reader.person, reader.since).await;
            assert_eq!(reader.seen, readable.into_keys().collect::<Vec<_>>(), "round {round}");
        }
        disk.fill_but(1500);
    }
    disk.free();
    health(&server, 200).await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&disk.data());
}

#[tokio::test]
async fn tree_write_failure_is_detected_and_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = start(&data, &[]);
    let (iago, hamlet) = (server.user("iago").await, server.user("hamlet").await);
    let mut reader = Reader::register(&hamlet).await;
    // Journal segments have 1 MiB each; the trees are one growing file.
    let database = data.join("state/db");
    let mut sent = Vec::new();
    // All messages stay in memory, so they may not be shortened much in the trees.
    let text = noise(7500);
    while std::fs::metadata(&database).expect("the trees").len() <= 1 << 20 {
        sent.push(try_send(&iago, &text).await.ok()["id"].clone());
    }
    server.limit_files(Some(std::fs::metadata(&database).expect("the trees").len()));
    let deadline = Instant::now() + TIMEOUT * 2;
    let refused = loop {
        let answer = try_send(&iago, &text).await;
        if answer.status != 200 {
            break answer;
        }
        sent.push(answer.body["id"].clone());
        assert!(Instant::now() < deadline, "the trees grow beyond the limit");
    };
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("STORAGE_UNAVAILABLE")), "{refused:?}");
    let says = health(&server, 503).await;
    assert_eq!(says["storage"]["status"], "trees_failed", "{says}");
    // Acknowledged messages can be read although the trees could not be written.
    let found = hamlet.messages(json!([["topic", "disk"]])).await;
    assert_eq!(found.last().map(|message| message["id"].clone()), sent.last().cloned());
    server.limit_files(None);
    health(&server, 200).await;
    sent.push(try_send(&iago, "after").await.ok()["id"].clone());
    reader.drain().await;
    assert_eq!(json!(reader.seen), json!(sent));
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}
