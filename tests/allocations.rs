//! Counts what requests allocate, and fails when a count differs by more than 5 % from the recorded one
//! (`allocations/recorded.txt`): allocations take a fifth of the CPU time of a send, they grow unnoticed, and unlike times they
//! hardly vary. A binary of its own, because the counting allocator is that of the whole process, without other tests beside it.
//!
//! A count includes all that the server does meanwhile, for one client that sends one request after the other: each message is a
//! commit of its own. Debug builds are counted, as the tests run them. `MILLSTREAM_RECORD_ALLOCATIONS=1` writes the file anew.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where, and stop")]

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use millstream::config::{Config, Overrides};
use millstream::routes::development_table;
use millstream::server::{Running, Setup, serve};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::fmt::{self, Write as _};
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Difference that is accepted, because chunks, trees and maps grow in steps.
const TOLERANCE: f64 = 0.05;

/// Requests that are not counted: connections, caches and threads begin with them.
const WARM_UP: usize = 200;

/// Each count is the least of so many rounds, because sweeps and timers allocate now and then, on a busy machine in most rounds.
const ROUNDS: usize = 15;
const REQUESTS: usize = 40;

/// Polls that wait at the same time, fewer than an account's queues, and how often that is counted.
const POLLS: usize = 30;
const HELD_ROUNDS: usize = 5;

/// Allocations, with those that grow one, and bytes: what one request makes, or what one waiting poll holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Count {
    allocations: f64,
    bytes: f64,
}

/// A connection that allocates nothing while it is used.
struct Connection {
    stream: TcpStream,
    request: String,
    head: String,
    answer: Vec<u8>,
    body_from: usize,
}

impl Connection {
    fn new(running: &Running, authorization: &str) -> Self {
        let stream = TcpStream::connect(running.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        let head = format!("Host: {}\r\n{authorization}", running.address());
        let (request, answer) = (String::with_capacity(4096), vec![0; 1 << 20]);
        Self { stream, request, head, answer, body_from: 0 }
    }

    /// Sends a request without waiting for the answer.
    fn send(&mut self, method: &str, target: fmt::Arguments<'_>, form: &str) {
        self.request.clear();
        write!(self.request, "{method} /api/v1/{target} HTTP/1.1\r\n{}", self.head).unwrap();
        if !form.is_empty() {
            let kind = "application/x-www-form-urlencoded";
            write!(self.request, "Content-Type: {kind}\r\nContent-Length: {}\r\n", form.len()).unwrap();
        }
        write!(self.request, "\r\n{form}").unwrap();
        self.stream.write_all(self.request.as_bytes()).unwrap();
    }

    /// Waits for the answer, and returns its body.
    fn receive(&mut self) -> &str {
        let (mut read, mut until) = (0, usize::MAX);
        while read < until {
            let count = self.stream.read(&mut self.answer[read..]).unwrap();
            assert!(count > 0, "the connection was closed");
            read += count;
            let text = std::str::from_utf8(&self.answer[..read]).unwrap_or_default();
            if let Some((head, _)) = text.split_once("\r\n\r\n") {
                let length = number_after(head, "content-length: ").expect("a length");
                self.body_from = head.len() + 4;
                until = self.body_from + length;
            }
        }
        let text = std::str::from_utf8(&self.answer[..read]).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        &text[self.body_from..]
    }

    fn call(&mut self, method: &str, target: fmt::Arguments<'_>, form: &str) -> &str {
        self.send(method, target, form);
        self.receive()
    }
}

/// The number after the last occurrence of a text.
fn number_after(text: &str, before: &str) -> Option<usize> {
    let (_, rest) = text.rsplit_once(before)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// The string in a member of an object.
fn string_of<'j>(json: &'j str, name: &str) -> &'j str {
    let (_, rest) = json.split_once(name).expect(name);
    rest.trim_start_matches(['"', ':']).split('"').next().expect(name)
}

/// What a request allocates; `between` follows each, uncounted.
fn count(mut request: impl FnMut(), mut between: impl FnMut()) -> Count {
    for _ in 0..WARM_UP {
        request();
        between();
    }
    let (mut allocations, mut bytes) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        let mut sum = (0, 0);
        for _ in 0..REQUESTS {
            let region = Region::new(ALLOCATOR);
            request();
            let change = region.change();
            sum.0 += change.allocations + change.reallocations;
            sum.1 += change.bytes_allocated;
            between();
        }
        allocations.push(sum.0 as f64 / REQUESTS as f64);
        bytes.push(sum.1 as f64 / REQUESTS as f64);
    }
    let least = |counts: Vec<f64>| counts.into_iter().fold(f64::INFINITY, f64::min).round();
    Count { allocations: least(allocations), bytes: least(bytes) }
}

async fn start(data: &Path) -> Running {
    let flags = Overrides::default()
        .set("listen", "test", Some("127.0.0.1:0"))
        .set("data", "test", Some(data.display()))
        .set("limits.enabled", "test", Some("false"))
        .set("http.workers", "test", Some(1))
        .set("actors.shards", "test", Some(1));
    let config = Config::load(None, [], flags).unwrap();
    let routes = development_table();
    serve(Setup { config, routes, is_development: true, is_durable: true, seed: None }).await.unwrap()
}

/// What each of some waiting polls holds, without its connection and its queue.
fn held_by_poll(running: &Running, authorization: &str) -> Count {
    let mut caller = Connection::new(running, authorization);
    let mut held = Vec::new();
    for _ in 0..HELD_ROUNDS {
        let mut polls: Vec<_> = (0..POLLS).map(|_| Connection::new(running, authorization)).collect();
        let queues: Vec<_> = polls
            .iter_mut()
            .map(|poll| {
                let registered =
                    poll.call("POST", format_args!("register"), "event_types=%5B%22message%22%5D");
                string_of(registered, "\"queue_id\"").to_owned()
            })
            .collect();
        let region = Region::new(ALLOCATOR);
        for (poll, queue) in polls.iter_mut().zip(&queues) {
            poll.send("GET", format_args!("events?queue_id={queue}&last_event_id=-1"), "");
        }
        // Answered by the thread that has received the polls before.
        for _ in 0..3 {
            caller.call("GET", format_args!("users/me"), "");
        }
        let change = region.change();
        held.push((
            (change.allocations as f64 - change.deallocations as f64) / POLLS as f64,
            (change.bytes_allocated as f64 - change.bytes_deallocated as f64) / POLLS as f64,
        ));
        drop(polls);
        for queue in queues {
            caller.call("DELETE", format_args!("events?queue_id={queue}"), "");
        }
    }
    // A difference: what other threads allocate or free in a round makes it too large or too small.
    let median = |mut rounds: Vec<f64>| {
        rounds.sort_by(f64::total_cmp);
        rounds[HELD_ROUNDS / 2].round()
    };
    let (allocations, bytes) = held.into_iter().unzip();
    Count { allocations: median(allocations), bytes: median(bytes) }
}

fn counts(running: &Running) -> [(&'static str, Count); 6] {
    let mut open = Connection::new(running, "");
    let key = open.call("POST", format_args!("dev_fetch_api_key"), "username=iago%40zulip.com");
    let credentials = format!("iago@zulip.com:{}", string_of(key, "\"api_key\""));
    let authorization = format!("Authorization: Basic {}\r\n", BASE64_STANDARD.encode(&credentials));
    let mut sender = Connection::new(running, &authorization);
    let mut reader = Connection::new(running, &authorization);
    let text = "word+".repeat(40);
    let form = format!("type=stream&to=Verona&topic=allocations&content={text}");

    let send = count(|| _ = sender.call("POST", format_args!("messages"), &form), || {});
    let registered = reader.call("POST", format_args!("register"), "event_types=%5B%22message%22%5D");
    let queue = string_of(registered, "\"queue_id\"").to_owned();
    let mut last = -1i64;
    let delivery = || {
        reader.send("GET", format_args!("events?queue_id={queue}&last_event_id={last}"), "");
        sender.call("POST", format_args!("messages"), &form);
        last = number_after(reader.receive(), "\"id\":").expect("an event") as i64;
    };
    let delivery = count(delivery, || {});
    let own = count(|| _ = reader.call("GET", format_args!("users/me"), ""), || {});
    let newest = "messages?anchor=newest&num_before=99&num_after=0";
    let newest = count(|| _ = reader.call("GET", format_args!("{newest}"), ""), || {});
    let registered = std::cell::RefCell::new(String::with_capacity(256));
    let register = || {
        let answer = reader.call("POST", format_args!("register"), "apply_markdown=true");
        let mut queue = registered.borrow_mut();
        queue.clear();
        queue.push_str(string_of(answer, "\"queue_id\""));
    };
    let end = || _ = sender.call("DELETE", format_args!("events?queue_id={}", registered.borrow()), "");
    let register = count(register, end);
    [
        ("a durable send", send),
        ("a send and its delivery to a poll", delivery),
        ("users/me", own),
        ("the newest 100 messages", newest),
        ("a registration with all of the state", register),
        ("held by a poll that waits", held_by_poll(running, &authorization)),
    ]
}

/// The recorded counts: a line has allocations, bytes and the request.
fn recorded(text: &str) -> Vec<(&str, Count)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let counts = lines.map(|line| {
        let (allocations, rest) = line.split_once(' ').expect("a count");
        let (bytes, request) = rest.split_once(' ').expect("two counts");
        let number = |text: &str| text.parse().expect("a number");
        (request, Count { allocations: number(allocations), bytes: number(bytes) })
    });
    counts.collect()
}

#[test]
fn requests_allocate_what_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let running = runtime.block_on(start(&folder.path().join("data")));
    let counted = counts(&running);
    runtime.block_on(running.stop()).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/allocations/recorded.txt");
    if std::env::var_os("MILLSTREAM_RECORD_ALLOCATIONS").is_some() {
        let mut text = "# Allocations and bytes of a request, written by tests/allocations.rs.\n".to_owned();
        for (name, Count { allocations, bytes }) in counted {
            writeln!(text, "{allocations} {bytes} {name}").unwrap();
        }
        std::fs::write(&file, text).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let recorded = recorded(&text);
    let names = |(name, _): &(&str, Count)| (*name).to_owned();
    let expected: Vec<String> = counted.iter().map(names).collect();
    assert_eq!(recorded.iter().map(names).collect::<Vec<_>>(), expected);
    for ((name, before), (_, now)) in recorded.iter().zip(&counted) {
        println!("{name}: {now:?}, recorded {before:?}");
        for (now, before) in [(now.allocations, before.allocations), (now.bytes, before.bytes)] {
            assert!(now <= before * (1.0 + TOLERANCE), "{name} allocates more: {now}, recorded {before}");
            let is_close = now >= before * (1.0 - TOLERANCE);
            assert!(
                is_close,
                "{name} allocates less, {now} of {before}: record it, see the top of this file"
            );
        }
    }
}
