//! Counts the allocations of requests, and fails when one takes more than 5 % more than recorded. Allocations were a fifth of
//! the CPU of a send, they grow unnoticed, and unlike times they hardly vary. Its own binary, because the allocator that
//! counts is one for the whole process, and without other tests beside it.
//!
//! A count includes everything that the server does meanwhile, for a client that sends one request after the other: every
//! message is a commit of its own. What differs in a release build is not recorded.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where, and stop")]

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use millstream::config::{Config, Overrides};
use millstream::routes::development_table;
use millstream::server::{Running, Setup, serve};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpStream;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations of each request, as they were counted last, in debug builds. To be lowered when a change saves some.
const RECORDED: [(&str, f64); 4] = [
    ("a send", 0.0),
    ("a send and its delivery to a poll", 0.0),
    ("users/me", 0.0),
    ("the newest 100 messages", 0.0),
];

/// Growth that is accepted, because chunks, trees and maps grow in steps.
const TOLERANCE: f64 = 1.05;

/// Requests that are not counted: connections, caches and threads begin with them.
const WARM_UP: usize = 300;

/// Each count is the median of so many rounds, because sweeps and timers allocate now and then.
const ROUNDS: usize = 15;
const REQUESTS: usize = 40;

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
    fn send(&mut self, method: &str, target: std::fmt::Arguments<'_>, form: &str) {
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

    fn call(&mut self, method: &str, target: std::fmt::Arguments<'_>, form: &str) -> &str {
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

/// The median number of allocations of a request.
fn count(mut request: impl FnMut()) -> f64 {
    (0..WARM_UP).for_each(|_| request());
    let mut rounds: Vec<f64> = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let region = Region::new(ALLOCATOR);
        (0..REQUESTS).for_each(|_| request());
        rounds.push(region.change().allocations as f64 / REQUESTS as f64);
    }
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

async fn start(data: &std::path::Path) -> Running {
    let flags = Overrides::default()
        .set("listen", "test", Some("127.0.0.1:0"))
        .set("data", "test", Some(data.display()))
        .set("limits.enabled", "test", Some("false"))
        .set("http.workers", "test", Some(1))
        .set("actors.shards", "test", Some(1));
    let config = Config::load(None, [], flags).unwrap();
    let routes = development_table();
    serve(Setup { config, routes, is_development: true, is_durable: false, seed: None }).await.unwrap()
}

fn counts(running: &Running) -> [f64; 4] {
    let mut open = Connection::new(running, "");
    let key = open.call("POST", format_args!("dev_fetch_api_key"), "username=iago%40zulip.com");
    let credentials = format!("iago@zulip.com:{}", string_of(key, "\"api_key\""));
    let authorization = format!("Authorization: Basic {}\r\n", BASE64_STANDARD.encode(&credentials));
    let mut sender = Connection::new(running, &authorization);
    let mut reader = Connection::new(running, &authorization);
    let text = "word+".repeat(40);
    let form = format!("type=stream&to=Verona&topic=allocations&content={text}");

    let sends = count(|| _ = sender.call("POST", format_args!("messages"), &form));
    let registered = reader.call("POST", format_args!("register"), "event_types=%5B%22message%22%5D");
    let queue = string_of(registered, "\"queue_id\"").to_owned();
    let mut last = -1i64;
    let deliveries = count(|| {
        reader.send("GET", format_args!("events?queue_id={queue}&last_event_id={last}"), "");
        sender.call("POST", format_args!("messages"), &form);
        last = number_after(reader.receive(), "\"id\":").expect("an event") as i64;
    });
    let own = count(|| _ = reader.call("GET", format_args!("users/me"), ""));
    let newest = "messages?anchor=newest&num_before=99&num_after=0";
    let pages = count(|| _ = reader.call("GET", format_args!("{newest}"), ""));
    [sends, deliveries, own, pages]
}

#[test]
fn allocations_of_requests_do_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let running = runtime.block_on(start(&folder.path().join("data")));
    let counted = counts(&running);
    runtime.block_on(running.stop()).unwrap();
    let found: Vec<_> = RECORDED.iter().zip(counted).map(|((name, _), counted)| (*name, counted)).collect();
    if cfg!(debug_assertions) {
        for ((name, recorded), counted) in RECORDED.iter().zip(counted) {
            assert!(
                counted <= recorded * TOLERANCE,
                "{name}: {counted}, recorded {recorded}; all: {found:?}"
            );
        }
    }
    println!("{found:?}");
}
