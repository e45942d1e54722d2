//! Killed at a random moment under 64 senders, 20 times: what was acknowledged is there, once, in order;
//! nobody saw an event of something that is not; and queues go on as if nothing had been.

use super::load::{CHANNELS, PEOPLE, Reader, Told, compare, read_back, read_back_all, send_until_gone};
use crate::support::server::assert_clean;
use crate::support::{PATIENCE, Person, ServerProcess};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

const SENDERS: usize = 64;
/// Four tests of so many rounds each.
const ROUNDS: usize = 5;

/// A generator whose seed is printed, so that a failure can be tried again: MILLSTREAM_SEED=….
struct Random(u64);

impl Random {
    fn new(number: u64) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        let given = std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or(now.as_nanos() as u64) ^ number;
        println!("MILLSTREAM_SEED={}", seed ^ number);
        Self(seed | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

struct Story {
    people: Vec<Person>,
    readers: Vec<Reader>,
    told: Told,
    since: u64,
}

/// The first start, and who listens from then on.
async fn begin(data: &Path) -> (ServerProcess, Story) {
    let server = ServerProcess::dev(data);
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let mut readers = Vec::new();
    for person in &people {
        readers.push(Reader::register(person).await);
    }
    let since = readers.iter().map(|reader| reader.since).max().expect("readers");
    (server, Story { people, readers, told: Told::default(), since })
}

/// Lets everybody send and read for a while, and kills the server in the middle of it.
async fn load_and_kill(server: ServerProcess, story: &mut Story, round: usize, random: &mut Random) {
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let person = server.again(&story.people[number % PEOPLE.len()]);
        let partner = story.people[(number / PEOPLE.len() + 1 + number) % PEOPLE.len()].id;
        senders.push(tokio::spawn(send_until_gone(person, partner, format!("r{round}.s{number:02}"))));
    }
    let arrived = Arc::new(AtomicU64::new(0));
    let mut readers = Vec::new();
    for mut reader in story.readers.drain(..) {
        reader.person = server.again(&reader.person);
        readers.push(tokio::spawn(reader.read_until_gone(arrived.clone())));
    }
    // Some of them arrived, so the moment is one under load.
    let deadline = Instant::now() + PATIENCE;
    while arrived.load(Ordering::Relaxed) == 0 {
        assert!(Instant::now() < deadline, "nothing arrives");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(random.below(400))).await;
    server.kill();
    for sender in senders {
        let told = sender.await.expect("a sender");
        story.told.acknowledged.extend(told.acknowledged);
        story.told.unanswered.extend(told.unanswered);
    }
    for reader in readers {
        story.readers.push(reader.await.expect("a reader"));
    }
}

/// After a restart: compares what everybody was told and saw with what is there.
async fn verify(server: &ServerProcess, story: &mut Story) {
    let stored = read_back_all(server, &story.people, story.since).await;
    compare(&story.told, &stored);
    for reader in &mut story.readers {
        reader.person = server.again(&reader.person);
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
        let anyone = server.again(&story.people[0]);
        let id = anyone.get("/get_stream_id", &[("stream", &name)]).ok().await["stream_id"].clone();
        let topics = anyone.get(&format!("/users/me/{id}/topics"), &[]).ok().await;
        for topic in topics["topics"].as_array().expect("topics") {
            let narrow = json!([["channel", name], ["topic", topic["name"]]]);
            let newest = anyone.messages(narrow).await.pop().expect("a topic has a message");
            assert_eq!(newest["id"], topic["max_id"], "{name} > {}", topic["name"]);
        }
    }
}

async fn killed(number: u64) {
    let mut random = Random::new(number);
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (mut server, mut story) = begin(&data).await;
    for round in 0..ROUNDS {
        load_and_kill(server, &mut story, round, &mut random).await;
        server = ServerProcess::dev(&data);
        verify(&server, &mut story).await;
        // Stopped in between, so that nobody writes while the folder is checked.
        server.terminate();
        assert!(server.wait().success());
        assert_clean(&data);
        server = ServerProcess::dev(&data);
    }
    println!("{} messages were acknowledged", story.told.acknowledged.len());
    assert!(story.told.acknowledged.len() > ROUNDS * SENDERS, "only {}", story.told.acknowledged.len());
}

#[tokio::test]
async fn at_any_moment() {
    killed(1).await;
}

#[tokio::test]
async fn at_any_other_moment() {
    killed(2).await;
}

#[tokio::test]
async fn at_yet_another_moment() {
    killed(3).await;
}

#[tokio::test]
async fn at_the_last_moment() {
    killed(4).await;
}
