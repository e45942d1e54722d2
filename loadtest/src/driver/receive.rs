//! Event receivers: each registers a queue, polls it like a client, and checks the events: ids ascending, none missing,
//! none twice, none changed. The delivery time is computed from the time in the content, which also identifies the message:
//! a server may store one twice under two ids, or acknowledge one with the id of another.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::arrivals::{Arrival, Arrivals};
use super::send::Messages;
use super::tasks::{FailureLimit, sleep_until};
use crate::client::{Account, Api, Failure};
use crate::error::LoadError;
use crate::http::{Connection, NumberedGet, Target, bodiless_request, encode_form};
use crate::outcome::Delivery;
use crate::output::note;
use crate::recorder::Recorder;
use crate::report::progress::CountingLine;
use crate::text::{Written, parse_content};

/// Receivers that connect and register concurrently.
const OPENERS: usize = 64;
/// After the last send: time without any event after which missing ones are given up.
const DRAIN_SILENCE: Duration = Duration::from_secs(3);
const DRAIN_WAIT: Duration = Duration::from_secs(60);
/// Within this time any server refuses a poll if it limits their rate.
const REFUSAL_WAIT: Duration = Duration::from_secs(1);
/// How long a queue's end may take, and those of all queues together, after which they expire by themselves.
const END_QUEUE_WAIT: Duration = Duration::from_secs(10);
const END_QUEUES_WAIT: Duration = Duration::from_secs(60);
/// After this time a line says that queues are being ended.
const END_QUEUES_SILENT: Duration = Duration::from_secs(5);
/// How long to wait for surplus events once all have arrived.
const DRAIN_AFTERWARDS: Duration = Duration::from_millis(100);

/// An event queue and its poll.
#[derive(Debug)]
pub struct Receiver {
    connection: Connection,
    poll: NumberedGet,
    /// The request that deletes the queue, so that no events are collected for it after the phase.
    end: Vec<u8>,
    request: Vec<u8>,
    checks: Checks,
    ended_early: bool,
    /// Whether the server did not answer that request in time.
    is_left: bool,
    /// Whether the server refused the poll before because it limits their rate, and whether the phase ended before it answered another.
    is_limited: bool,
    ended_limited: bool,
    /// Pause before each poll, of slow readers, and before the next one.
    pause: Duration,
    next_pause: Duration,
    /// Within this time the server refuses a poll if it limits their rate.
    refusal_wait: Duration,
}

/// What arrived so far, and what was wrong with it.
#[derive(Debug)]
struct Checks {
    /// The largest id of an event.
    last_event_id: i64,
    /// What arrived, by the channels that it follows.
    seen: HashMap<u64, Arrivals>,
    /// Ids of the events of any other kind or channel.
    others: HashSet<i64>,
    duplicates: u64,
    out_of_order: u64,
}

#[derive(Deserialize)]
struct EventsReply<'a> {
    #[serde(borrow)]
    events: Vec<Event<'a>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    id: i64,
    #[serde(borrow)]
    message: Option<EventMessage<'a>>,
}

#[derive(Deserialize)]
struct EventMessage<'a> {
    id: u64,
    stream_id: Option<u64>,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

/// State shared by all receivers of a phase.
#[derive(Debug, Clone)]
pub struct Reception {
    /// Times from send to receipt.
    pub recorder: Arc<Recorder>,
    /// The time from which those in contents count.
    pub epoch: Instant,
    /// Message events received so far by all receivers.
    pub received: Arc<AtomicU64>,
    /// Receivers that wait now because the server limits the rate of polls.
    pub limited: Arc<AtomicU64>,
    /// Becomes true when the receivers must stop.
    pub stop: watch::Receiver<bool>,
    /// When they have to have stopped; set before `stop`.
    pub ends_by: Arc<OnceLock<Instant>>,
    /// Becomes true when receivers that have a message may poll again.
    pub awake: watch::Receiver<bool>,
    /// Limits how many receivers delete their queues concurrently.
    pub ending: Arc<Semaphore>,
}

/// Registers one queue per account, each over its own connection. `channels` are the ids to follow, per account.
pub async fn open_receivers(
    target: &Arc<Target>,
    accounts: Vec<(Arc<Account>, Vec<u64>)>,
) -> Result<Vec<Receiver>, LoadError> {
    let line = CountingLine::new(accounts.len() as u64, "event queues");
    let part_size = accounts.len().div_ceil(OPENERS).max(1);
    let mut openers = JoinSet::new();
    for part in accounts.chunks(part_size) {
        let (part, target, line) = (part.to_vec(), target.clone(), line.clone());
        openers.spawn(async move {
            let mut opened = Vec::with_capacity(part.len());
            for (account, channels) in part {
                opened.push(Receiver::open(&target, &account, &channels).await?);
                line.add_one();
            }
            Ok::<_, LoadError>(opened)
        });
    }
    let mut receivers = Vec::with_capacity(accounts.len());
    while let Some(joined) = openers.join_next().await {
        receivers.extend(joined.map_err(|error| LoadError::Server(format!("a receiver ended: {error}")))??);
    }
    line.finish();
    Ok(receivers)
}

impl Receiver {
    async fn open(target: &Arc<Target>, account: &Account, channels: &[u64]) -> Result<Self, LoadError> {
        let mut api = Api::open(target).await?;
        let registered = api.register(account).await?;
        let queue = format!("/api/v1/events?{}", encode_form(&[("queue_id", &registered.queue_id)]));
        let authorization = Some(account.authorization.as_str());
        Ok(Self {
            connection: api.into_connection(),
            poll: NumberedGet::new(&target.host, &format!("{queue}&last_event_id="), authorization),
            end: bodiless_request("DELETE", &target.host, &queue, authorization),
            request: Vec::new(),
            checks: Checks::new(registered.last_event_id, channels),
            ended_early: false,
            is_left: false,
            is_limited: false,
            ended_limited: false,
            pause: Duration::ZERO,
            next_pause: Duration::ZERO,
            refusal_wait: REFUSAL_WAIT,
        })
    }

    /// Polls until stopped; returns itself for the evaluation.
    pub async fn run(mut self, mut reception: Reception) -> Self {
        let mut failures_in_a_row = FailureLimit::of_receiver(reception.recorder.replies_until());
        let mut stop = reception.stop.clone();
        loop {
            let asked = Instant::now();
            tokio::select! {
                () = is_set(&mut stop) => {
                    // A poll that is held for longer was not refused.
                    self.ended_limited |= self.is_limited && asked.elapsed() < self.refusal_wait + self.pause;
                    return self.end_queue(&reception).await;
                }
                outcome = self.poll_once(&mut reception) => match outcome {
                    Ok(received) => {
                        self.is_limited = false;
                        failures_in_a_row.good();
                        if received > 0 {
                            reception.rest().await;
                        }
                    }
                    Err(failure) => {
                        self.is_limited = failure.retry_after.is_some();
                        reception.recorder.record_failure(&failure.name);
                        let limited = Limited::of(&failure, &reception);
                        let goes_on = tokio::select! {
                            () = is_set(&mut stop) => {
                                self.ended_limited = self.is_limited;
                                true
                            }
                            goes_on = failures_in_a_row.pause(&failure) => goes_on,
                        };
                        drop(limited);
                        // A deleted queue cannot be restored, and neither can its events.
                        if failure.name.contains("BAD_EVENT_QUEUE_ID") || !goes_on {
                            self.ended_early = true;
                            return self;
                        }
                    }
                }
            }
        }
    }

    async fn end_queue(mut self, reception: &Reception) -> Self {
        let ends_by = *reception.ends_by.get_or_init(|| Instant::now() + END_QUEUES_WAIT);
        let ended = tokio::time::timeout_at(ends_by.into(), async {
            let _turn = reception.ending.acquire().await;
            tokio::time::timeout(END_QUEUE_WAIT, self.connection.exchange(&self.end)).await.is_ok()
        });
        // The phase is complete; a queue that cannot be deleted expires by itself.
        self.is_left = !ended.await.unwrap_or(false);
        self
    }

    /// Returns the number of new messages.
    async fn poll_once(&mut self, reception: &mut Reception) -> Result<u64, Failure> {
        self.poll.fill(&mut self.request, self.checks.last_event_id);
        let exchanged = if self.pause.is_zero() {
            self.connection.exchange(&self.request).await
        } else {
            tokio::time::sleep(self.next_pause).await;
            self.next_pause = self.pause;
            self.connection.exchange_rested(&self.request).await
        };
        let reply = exchanged?;
        let now = Instant::now();
        if reply.status != 200 {
            return Err(Failure::of(&reply));
        }
        let (bytes, mut received) = (reply.body.len(), 0);
        let parsed: EventsReply = serde_json::from_slice(reply.body).map_err(|_| "malformed events")?;
        for event in &parsed.events {
            // This run has not written a time that is still to come.
            let read = |content: &str| parse_content(content, reception.epoch).filter(|it| it.sent <= now);
            if let Some(written) = self.checks.take(event, read) {
                received += 1;
                reception.received.fetch_add(1, Ordering::Relaxed);
                reception.recorder.record_success(written.sent, bytes);
            }
        }
        Ok(received)
    }

    /// Adds what this receiver got of the messages that were sent to a result; the reasons of failed receipts are recorded.
    fn evaluate(&self, sent: &Messages, delivery: &mut Delivery, recorder: &Recorder) {
        for (channel_id, seen) in &self.checks.seen {
            delivery.deliveries += seen.count();
            for message in sent.get(channel_id).into_iter().flatten() {
                match seen.check(message) {
                    Ok(true) => {}
                    // The server may have it.
                    Ok(false) if self.ended_limited => delivery.unfetched_events += 1,
                    Ok(false) => delivery.lost_events += 1,
                    Err(reason) => recorder.record_failure(reason),
                }
            }
        }
        delivery.receivers += 1;
        delivery.duplicate_events += self.checks.duplicates;
        delivery.out_of_order_events += self.checks.out_of_order;
        delivery.ended_receivers += u64::from(self.ended_early);
    }
}

impl Checks {
    fn new(last_event_id: i64, channels: &[u64]) -> Self {
        let seen = channels.iter().map(|id| (*id, Arrivals::default())).collect();
        Self { last_event_id, seen, others: HashSet::new(), duplicates: 0, out_of_order: 0 }
    }

    /// Checks an event. Returns what was written if it has a message of this run that was not there before.
    fn take(&mut self, event: &Event<'_>, read: impl Fn(&str) -> Option<Written>) -> Option<Written> {
        let is_late = event.id <= self.last_event_id;
        self.last_event_id = self.last_event_id.max(event.id);
        let message = event.message.as_ref();
        let seen = message.and_then(|message| self.seen.get_mut(&message.stream_id?));
        let (arrival, written) = match message.zip(seen) {
            Some((message, seen)) => {
                let written = read(&message.content);
                (seen.add(message.id, written.as_ref().map(|it| it.hash)), written)
            }
            None if self.others.insert(event.id) => (Arrival::New, None),
            None => (Arrival::Duplicate, None),
        };
        // An event that was not there before is not a duplicate, whatever its id.
        match arrival {
            Arrival::Duplicate => {
                self.duplicates += 1;
                return None;
            }
            Arrival::New | Arrival::Late => {
                self.out_of_order += u64::from(is_late || arrival == Arrival::Late)
            }
        }
        written
    }
}

/// Counts a receiver that waits because the server limits the rate of polls, as long as it may ask again.
struct Limited(Option<Arc<AtomicU64>>);

impl Limited {
    fn of(failure: &Failure, reception: &Reception) -> Self {
        let waits = failure.retry_after.is_some() && Instant::now() < reception.recorder.replies_until();
        let limited = waits.then(|| reception.limited.clone());
        limited.iter().for_each(|count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        Self(limited)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        self.0.iter().for_each(|count| {
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn is_set(flag: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which also means to stop.
    let _ = flag.wait_for(|flag| *flag).await;
}

impl Reception {
    /// Waits until receivers may poll again, or must stop.
    async fn rest(&mut self) {
        if *self.awake.borrow() {
            return;
        }
        tokio::select! {
            () = is_set(&mut self.stop) => {}
            () = is_set(&mut self.awake) => {}
        }
    }
}

/// The tasks of all receivers.
#[derive(Debug)]
pub struct Receivers {
    tasks: JoinSet<Receiver>,
    stop: watch::Sender<bool>,
    ends_by: Arc<OnceLock<Instant>>,
    awake: watch::Sender<bool>,
    received: Arc<AtomicU64>,
    limited: Arc<AtomicU64>,
    recorder: Arc<Recorder>,
    pause: Duration,
}

impl Receivers {
    /// Starts the polls of all receivers.
    pub fn start(receivers: Vec<Receiver>, recorder: &Arc<Recorder>, epoch: Instant) -> Self {
        Self::start_slow(receivers, recorder, epoch, Duration::ZERO)
    }

    /// Starts polls of which each has one reply with messages, until the receivers are woken.
    pub fn start_resting(receivers: Vec<Receiver>, recorder: &Arc<Recorder>, epoch: Instant) -> Self {
        let polling = Self::start(receivers, recorder, epoch);
        polling.awake.send_replace(false);
        polling
    }

    /// Lets receivers that rest poll again.
    pub fn wake(&self) {
        self.awake.send_replace(true);
    }

    /// Starts polls with a pause before each.
    pub fn start_slow(
        receivers: Vec<Receiver>,
        recorder: &Arc<Recorder>,
        epoch: Instant,
        pause: Duration,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (awake, woken) = watch::channel(true);
        let (received, limited) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (ending, ends_by) = (Arc::new(Semaphore::new(OPENERS)), Arc::new(OnceLock::new()));
        let mut tasks = JoinSet::new();
        let count = u32::try_from(receivers.len().max(1)).unwrap_or(u32::MAX);
        for (number, mut receiver) in (0..).zip(receivers) {
            // Evenly spread, so that they do not all poll at once.
            (receiver.pause, receiver.next_pause) = (pause, pause * number / count);
            let reception = Reception {
                recorder: recorder.clone(),
                epoch,
                received: received.clone(),
                limited: limited.clone(),
                stop: stopped.clone(),
                awake: woken.clone(),
                ending: ending.clone(),
                ends_by: ends_by.clone(),
            };
            tasks.spawn(receiver.run(reception));
        }
        Self { tasks, stop, ends_by, awake, received, limited, recorder: recorder.clone(), pause }
    }

    /// Waits like `receive`, and then for surplus events.
    pub async fn drain(&self, expected: u64) {
        if self.receive(expected).await {
            tokio::time::sleep(DRAIN_AFTERWARDS).await;
        }
    }

    /// Waits until `expected` messages have arrived in total, or none arrives any more although no receiver waits for the end of a
    /// rate limit; returns whether they have.
    pub async fn receive(&self, expected: u64) -> bool {
        let begun = Instant::now();
        let mut progress = (begun, 0);
        loop {
            let received = self.received.load(Ordering::Relaxed);
            if received != progress.1 || self.limited.load(Ordering::Relaxed) > 0 {
                progress = (Instant::now(), received);
            }
            if received >= expected {
                return true;
            }
            if progress.0.elapsed() > DRAIN_SILENCE + self.pause || begun.elapsed() > DRAIN_WAIT {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Stops the receivers, and compares what they received with what was sent.
    pub async fn finish(self, sent: &Messages) -> Delivery {
        self.finish_within(sent, END_QUEUES_WAIT).await.0
    }

    /// Returns also how many queues were not deleted in time.
    async fn finish_within(mut self, sent: &Messages, wait: Duration) -> (Delivery, u64) {
        let begun = Instant::now();
        self.ends_by.get_or_init(|| begun + wait);
        // If all receivers have ended already, the message has no recipient.
        let _ = self.stop.send(true);
        let messages = sent.values().map(|messages| messages.len() as u64).sum();
        let mut delivery = Delivery { messages, ..Delivery::default() };
        let (mut left, mut says_at) = (0, Some(begun + END_QUEUES_SILENT));
        while !self.tasks.is_empty() {
            tokio::select! {
                joined = self.tasks.join_next() => {
                    let Some(Ok(receiver)) = joined else { continue };
                    left += u64::from(receiver.is_left);
                    receiver.evaluate(sent, &mut delivery, &self.recorder);
                }
                () = sleep_until(says_at) => {
                    says_at = None;
                    let (count, most) = (self.tasks.len(), wait.as_secs_f64());
                    note(format!("event queues not deleted yet: {count}; waiting for up to {most} s in all"));
                }
            }
        }
        if left > 0 {
            note(format!(
                "event queues not deleted in time: {left}; they expire on the server by themselves"
            ));
        }
        (delivery, left)
    }
}

#[cfg(test)]
mod tests;
