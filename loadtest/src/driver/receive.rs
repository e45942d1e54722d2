//! Event receivers: each registers a queue, polls it like a client, and checks the events: ids ascending, none missing,
//! none twice, none changed. The delivery time is computed from the time in the content, which also identifies the message:
//! a server may store one twice under two ids, or acknowledge one with the id of another.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::arrivals::{Arrival, Arrivals};
use super::send::Messages;
use super::tasks::FailureLimit;
use crate::client::{Account, Api, Failure};
use crate::error::LoadError;
use crate::http::{Connection, NumberedGet, Target, bodiless_request, encode_form};
use crate::outcome::Delivery;
use crate::recorder::Recorder;
use crate::report::progress::counting_bar;
use crate::text::parse_content;

/// Receivers that connect and register concurrently.
const OPENERS: usize = 64;
/// After the last send: time without any event after which missing ones are given up.
const DRAIN_SILENCE: Duration = Duration::from_secs(3);
const DRAIN_WAIT: Duration = Duration::from_secs(60);
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
    last_event_id: i64,
    /// What arrived, by the channels that it follows.
    seen: HashMap<u64, Arrivals>,
    duplicates: u64,
    out_of_order: u64,
    ended_early: bool,
    /// Pause before each poll, of slow readers, and before the next one.
    pause: Duration,
    next_pause: Duration,
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
    /// Becomes true when the receivers must stop.
    pub stop: watch::Receiver<bool>,
    /// Limits how many receivers delete their queues concurrently.
    pub ending: Arc<Semaphore>,
}

/// Registers one queue per account, each over its own connection. `channels` are the ids to follow, per account.
pub async fn open_receivers(
    target: &Arc<Target>,
    accounts: Vec<(Arc<Account>, Vec<u64>)>,
) -> Result<Vec<Receiver>, LoadError> {
    let bar = counting_bar(accounts.len() as u64, "event queues");
    let part_size = accounts.len().div_ceil(OPENERS).max(1);
    let mut openers = JoinSet::new();
    for part in accounts.chunks(part_size) {
        let (part, target, bar) = (part.to_vec(), target.clone(), bar.clone());
        openers.spawn(async move {
            let mut opened = Vec::with_capacity(part.len());
            for (account, channels) in part {
                opened.push(Receiver::open(&target, &account, &channels).await?);
                bar.inc(1);
            }
            Ok::<_, LoadError>(opened)
        });
    }
    let mut receivers = Vec::with_capacity(accounts.len());
    while let Some(joined) = openers.join_next().await {
        receivers.extend(joined.map_err(|error| LoadError::Server(format!("a receiver ended: {error}")))??);
    }
    bar.finish_and_clear();
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
            last_event_id: registered.last_event_id,
            seen: channels.iter().map(|id| (*id, Arrivals::default())).collect(),
            duplicates: 0,
            out_of_order: 0,
            ended_early: false,
            pause: Duration::ZERO,
            next_pause: Duration::ZERO,
        })
    }

    /// Polls until stopped; returns itself for the evaluation.
    pub async fn run(mut self, mut reception: Reception) -> Self {
        let mut failures_in_a_row = FailureLimit::of_receiver(reception.recorder.replies_until());
        let mut stop = reception.stop.clone();
        loop {
            tokio::select! {
                () = stopped(&mut stop) => return self.end_queue(&reception.ending).await,
                outcome = self.poll_once(&mut reception) => match outcome {
                    Ok(()) => failures_in_a_row.good(),
                    Err(failure) => {
                        reception.recorder.record_failure(&failure.name);
                        let goes_on = tokio::select! {
                            () = stopped(&mut stop) => true,
                            goes_on = failures_in_a_row.pause(&failure) => goes_on,
                        };
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

    async fn end_queue(mut self, ending: &Semaphore) -> Self {
        let _turn = ending.acquire().await;
        // The phase is complete; a queue that cannot be deleted expires by itself.
        let _ = self.connection.exchange(&self.end).await;
        self
    }

    async fn poll_once(&mut self, reception: &mut Reception) -> Result<(), Failure> {
        self.poll.fill(&mut self.request, self.last_event_id);
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
        let bytes = reply.body.len();
        let parsed: EventsReply = serde_json::from_slice(reply.body).map_err(|_| "malformed events")?;
        for event in &parsed.events {
            if event.id <= self.last_event_id {
                self.duplicates += 1;
                continue;
            }
            self.last_event_id = event.id;
            let Some(message) = &event.message else { continue };
            let Some(channel) = message.stream_id else { continue };
            let Some(seen) = self.seen.get_mut(&channel) else { continue };
            // This run has not written a time that is still to come.
            let written = parse_content(&message.content, reception.epoch).filter(|it| it.sent <= now);
            match seen.add(message.id, written.map(|it| it.hash)) {
                Arrival::New => {}
                Arrival::Duplicate => {
                    self.duplicates += 1;
                    continue;
                }
                Arrival::Late => self.out_of_order += 1,
            }
            if let Some(written) = written {
                reception.received.fetch_add(1, Ordering::Relaxed);
                reception.recorder.record_success(written.sent, bytes);
            }
        }
        Ok(())
    }

    /// Adds what this receiver got of the messages that were sent to a result; the reasons of failed receipts are recorded.
    fn evaluate(&self, sent: &Messages, delivery: &mut Delivery, recorder: &Recorder) {
        for (channel_id, seen) in &self.seen {
            delivery.deliveries += seen.count();
            for message in sent.get(channel_id).into_iter().flatten() {
                match seen.check(message) {
                    Ok(true) => {}
                    Ok(false) => delivery.lost_events += 1,
                    Err(reason) => recorder.record_failure(reason),
                }
            }
        }
        delivery.receivers += 1;
        delivery.duplicate_events += self.duplicates;
        delivery.out_of_order_events += self.out_of_order;
        delivery.ended_receivers += u64::from(self.ended_early);
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which also means to stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// The tasks of all receivers.
#[derive(Debug)]
pub struct Receivers {
    tasks: JoinSet<Receiver>,
    stop: watch::Sender<bool>,
    received: Arc<AtomicU64>,
    recorder: Arc<Recorder>,
    pause: Duration,
}

impl Receivers {
    /// Starts the polls of all receivers.
    pub fn start(receivers: Vec<Receiver>, recorder: &Arc<Recorder>, epoch: Instant) -> Self {
        Self::start_slow(receivers, recorder, epoch, Duration::ZERO)
    }

    /// Starts polls with a pause before each.
    pub fn start_slow(
        receivers: Vec<Receiver>,
        recorder: &Arc<Recorder>,
        epoch: Instant,
        pause: Duration,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let received = Arc::new(AtomicU64::new(0));
        let ending = Arc::new(Semaphore::new(OPENERS));
        let mut tasks = JoinSet::new();
        let count = u32::try_from(receivers.len().max(1)).unwrap_or(u32::MAX);
        for (number, mut receiver) in (0..).zip(receivers) {
            // Evenly spread, so that they do not all poll at once.
            (receiver.pause, receiver.next_pause) = (pause, pause * number / count);
            let reception = Reception {
                recorder: recorder.clone(),
                epoch,
                received: received.clone(),
                stop: stopped.clone(),
                ending: ending.clone(),
            };
            tasks.spawn(receiver.run(reception));
        }
        Self { tasks, stop, received, recorder: recorder.clone(), pause }
    }

    /// Waits until `expected` messages have arrived in total, or none arrives any more.
    pub async fn drain(&self, expected: u64) {
        let begun = Instant::now();
        let mut progress = (begun, 0);
        loop {
            let received = self.received.load(Ordering::Relaxed);
            if received != progress.1 {
                progress = (Instant::now(), received);
            }
            if received >= expected {
                tokio::time::sleep(DRAIN_AFTERWARDS).await;
                return;
            }
            if progress.0.elapsed() > DRAIN_SILENCE + self.pause || begun.elapsed() > DRAIN_WAIT {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Stops the receivers, and compares what they received with what was sent.
    pub async fn finish(mut self, sent: &Messages) -> Delivery {
        // If all receivers have ended already, the message has no recipient.
        let _ = self.stop.send(true);
        let messages = sent.values().map(|messages| messages.len() as u64).sum();
        let mut delivery = Delivery { messages, ..Delivery::default() };
        while let Some(joined) = self.tasks.join_next().await {
            let Ok(receiver) = joined else { continue };
            receiver.evaluate(sent, &mut delivery, &self.recorder);
        }
        delivery
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_other_types_and_escaped_contents_are_read() {
        let body = br#"{"result":"success","events":[{"id":1,"type":"heartbeat"},
            {"id":2,"type":"message","flags":[],"message":{"id":9,"stream_id":3,"content":"a \"b\""}},
            {"id":3,"type":"message","message":{"id":10,"content":"to people"}}]}"#;
        let parsed: EventsReply = serde_json::from_slice(body).unwrap();
        assert_eq!(parsed.events.len(), 3);
        let message = parsed.events[1].message.as_ref().unwrap();
        assert_eq!((message.id, message.stream_id, message.content.as_ref()), (9, Some(3), "a \"b\""));
    }
}
