//! The server is killed at a random time under 64 senders, 20 times: acknowledged messages exist once and in order, no
//! client saw an event of a message that does not exist, and queues continue without a gap.

use super::rounds::{Random, rounds};
use super::traffic::{
    AcknowledgedSends, CHANNELS, PEOPLE, Reader, compare, read_back, read_back_all, send_until_gone,
};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TIMEOUT, TestUser};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SENDERS: usize = 64;
/// Rounds in each of the six tests.
const ROUNDS: usize = 5;

struct Run {
    people: Vec<TestUser>,
    readers: Vec<Reader>,
    sends: AcknowledgedSends,
    since: u64,
}

/// Starts a server on a folder.
type Launch = fn(&Path) -> ServerProcess;

/// A server that writes checkpoints and seals segments every few messages.
fn with_checkpoints(data: &Path) -> ServerProcess {
    let environment = [
        ("MILLSTREAM_LOG_FILTER", "info"),
        ("MILLSTREAM_STORAGE_CHECKPOINT_FRAMES", "100"),
        ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"),
    ];
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &environment,
    )
}

/// Starts the server for the first time and registers the readers.
async fn start(server: ServerProcess) -> (ServerProcess, Run) {
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let mut readers = Vec::new();
    for person in &people {
        readers.push(Reader::register(person).await);
    }
    let since = readers.iter().map(|reader| reader.since).max().expect("readers");
    (server, Run { people, readers, sends: AcknowledgedSends::default(), since })
}

/// Sends and reads for a random time, and kills the server meanwhile.
async fn load_and_kill(server: ServerProcess, run: &mut Run, round: usize, random: &mut Random) {
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let person = server.reconnect(&run.people[number % PEOPLE.len()]);
        let partner = run.people[(number / PEOPLE.len() + 1 + number) % PEOPLE.len()].id;
        senders.push(tokio::spawn(send_until_gone(person, partner, format!("r{round}.s{number:02}"))));
    }
    let arrived = Arc::new(AtomicU64::new(0));
    let mut readers = Vec::new();
    for mut reader in run.readers.drain(..) {
        reader.person = server.reconnect(&reader.person);
        readers.push(tokio::spawn(reader.read_until_gone(arrived.clone())));
    }
    // Wait for the first event, so that the kill happens under load.
    let deadline = Instant::now() + TIMEOUT;
    while arrived.load(Ordering::Relaxed) == 0 {
        assert!(Instant::now() < deadline, "nothing arrives");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(random.below(400))).await;
    server.kill();
    for sender in senders {
        let sends = sender.await.expect("a sender");
        run.sends.acknowledged.extend(sends.acknowledged);
        run.sends.unanswered.extend(sends.unanswered);
    }
    for reader in readers {
        run.readers.push(reader.await.expect("a reader"));
    }
}

/// After a restart, compares the acknowledged sends and received events with the stored messages.
async fn verify(server: &ServerProcess, run: &mut Run) {
    let stored = read_back_all(server, &run.people, run.since).await;
    compare(&run.sends, &stored);
    for reader in &mut run.readers {
        reader.person = server.reconnect(&reader.person);
        reader.drain().await;
        for (id, content) in &reader.contents {
            let there = stored.get(id).map(|message| message["content"].as_str().expect("content"));
            assert_eq!(there, Some(content.as_str()), "{} saw message {id}", reader.person.email);
        }
        let own = read_back(&reader.person, reader.since).await;
        let own: Vec<u64> = own.into_keys().collect();
        assert_eq!(reader.seen, own, "{} sees each once, in order, none missing", reader.person.email);
    }
    for name in CHANNELS {
        let anyone = server.reconnect(&run.people[0]);
        let id = anyone.get("/get_stream_id", &[("stream", &name)]).ok().await["stream_id"].clone();
        let topics = anyone.get(&format!("/users/me/{id}/topics"), &[]).ok().await;
        for topic in topics["topics"].as_array().expect("topics") {
            let narrow = json!([["channel", name], ["topic", topic["name"]]]);
            let newest = anyone.messages(narrow).await.pop().expect("a topic has a message");
            assert_eq!(newest["id"], topic["max_id"], "{name} > {}", topic["name"]);
        }
    }
}

async fn run_rounds(number: u64, launch: Launch) {
    let mut random = Random::new(number);
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (mut server, mut run) = start(launch(&data)).await;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        load_and_kill(server, &mut run, round, &mut random).await;
        server = launch(&data);
        verify(&server, &mut run).await;
        // Stopped in between, so that the folder can be checked while no process writes to it.
        server.terminate();
        assert!(server.wait().success());
        assert_clean(&data);
        server = launch(&data);
    }
    println!("{} messages were acknowledged", run.sends.acknowledged.len());
    assert!(run.sends.acknowledged.len() > rounds * SENDERS, "only {}", run.sends.acknowledged.len());
}

#[tokio::test]
async fn kill_seed_1() {
    run_rounds(1, ServerProcess::dev).await;
}

#[tokio::test]
async fn kill_seed_2() {
    run_rounds(2, ServerProcess::dev).await;
}

#[tokio::test]
async fn kill_seed_3() {
    run_rounds(3, ServerProcess::dev).await;
}

#[tokio::test]
async fn kill_seed_4() {
    run_rounds(4, ServerProcess::dev).await;
}

#[tokio::test]
async fn kill_with_checkpoints_seed_5() {
    run_rounds(5, with_checkpoints).await;
}

#[tokio::test]
async fn kill_with_checkpoints_seed_6() {
    run_rounds(6, with_checkpoints).await;
}
