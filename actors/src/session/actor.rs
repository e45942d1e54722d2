//! The actor around the queue: holds the waiting poll, answers it, and ends when nobody comes any more.

use super::messages::{Close, Deliver, Dismiss, Poll, PollAnswer, Tick};
use super::queue::{Delivered, Queue, QueueError};
use crate::error::DomainError;
use crate::realm::{EndQueue, RealmActor};
use actix::prelude::*;
use model::event::TypingPlace;
use model::{
    Directory, Event, EventBody, EventKind, EventKinds, Flags, QueueOptions, QueueRecord, Timestamp,
    TopicKey, UserId,
};
use rules::narrow::{EventNarrow, NarrowedMessage};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Events and polls that may wait for one session; `try_send` from the edge is refused past it.
const MAILBOX_MAX: usize = 64;

/// Heartbeats are late by up to so much, each queue by its own time.
const HEARTBEAT_SPREAD_MILLIS: u64 = 10_000;

/// What a session needs to know.
pub struct SessionOptions {
    /// What was registered.
    pub record: Arc<QueueRecord>,
    /// The queue: new, or rebuilt after a restart.
    pub queue: Queue,
    /// Its message filter; none for all messages.
    pub narrow: Option<EventNarrow>,
    /// Seconds of silence after which a heartbeat is sent.
    pub heartbeat_secs: u32,
    /// Now.
    pub now: Timestamp,
    /// Who ends the queue.
    pub realm: Addr<RealmActor>,
    /// Looks up a channel's name for the filter.
    pub shared: Arc<crate::shared::RealmShared>,
}

/// One client's event queue.
pub struct SessionActor {
    options: SessionOptions,
    waiting: Option<oneshot::Sender<PollAnswer>>,
    /// When a poll last began or ended.
    last_seen: Timestamp,
    /// When a poll was last given something.
    last_answer: Timestamp,
}

impl SessionActor {
    /// A session nobody polls yet.
    pub fn new(options: SessionOptions) -> Self {
        let now = options.now;
        Self { options, waiting: None, last_seen: now, last_answer: now }
    }

    /// Gives the waiting poll what there is. A client that went away keeps its events.
    fn answer(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.last_answer = self.options.shared.clock.now();
            self.last_seen = self.last_answer;
            let _ = waiting.send(Ok(self.options.queue.events()));
        }
    }

    /// Heartbeats of queues that were registered together are spread over ten seconds.
    fn heartbeat_delay_millis(&self) -> u64 {
        let name = self.options.record.id.0.bytes();
        name.fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % HEARTBEAT_SPREAD_MILLIS
    }

    fn end(&mut self, ctx: &mut Context<Self>) {
        let id = self.options.record.id.clone();
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.send(Err(DomainError::BadEventQueue(id.clone())));
        }
        self.options.realm.do_send(EndQueue { queue: id, user: self.options.record.user, answer: None });
        ctx.stop();
    }
}

/// Whether a queue is given an event that its types contain (events.md 2 and 3).
pub(crate) fn accepts(options: &QueueOptions, event: &Event) -> bool {
    if !event.clients.include(&options.capabilities) {
        return false;
    }
    match &event.body {
        EventBody::Typing { place: TypingPlace::Channel { .. }, .. } => {
            options.capabilities.stream_typing_notifications
        }
        // For those only that do not ask by name for what came after it.
        EventBody::MutedTopics(_) => {
            options.kinds == EventKinds::ALL || !options.kinds.contains(EventKind::UserTopic)
        }
        _ => true,
    }
}

/// Whether an event passes a queue's message filter. Other events always do.
pub(crate) fn wants(
    narrow: &EventNarrow,
    directory: &Directory,
    owner: UserId,
    event: &Event,
    flags: Flags,
) -> bool {
    let EventBody::Message { message, context } = &event.body else { return true };
    let channel = message.place.channel();
    let key = TopicKey::new(message.place.topic());
    narrow.matches(&NarrowedMessage {
        message,
        channel_name: context.channel_name.as_deref(),
        sender_email: &rules::permissions::users::api_email(directory, &context.sender),
        flags,
        policy: channel.map(|channel| directory.topic_policy(owner, channel, &key)).unwrap_or_default(),
        is_channel_muted: channel
            .and_then(|channel| directory.subscription(channel, owner))
            .is_some_and(|subscription| subscription.is_muted),
    })
}

impl Actor for SessionActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
    }
}

impl Handler<Deliver> for SessionActor {
    type Result = ();

    fn handle(&mut self, message: Deliver, ctx: &mut Self::Context) {
        if !accepts(&self.options.record.options, &message.event) {
            return;
        }
        if let Some(narrow) = &self.options.narrow
            && !wants(
                narrow,
                &self.options.shared.view.read().directory,
                self.options.record.user,
                &message.event,
                message.flags,
            )
        {
            return;
        }
        let Deliver { event, flags, local_id } = message;
        if !self.options.queue.push(Delivered { event, flags, local_id }) {
            metrics::counter!("millstream_queues_overflowed_total").increment(1);
            tracing::warn!(queue = %self.options.record.id, "client fell behind, queue dropped");
            return self.end(ctx);
        }
        if self.waiting.is_some() && !self.options.queue.is_empty() {
            self.answer();
        }
    }
}

impl Handler<Poll> for SessionActor {
    type Result = ();

    fn handle(&mut self, poll: Poll, _: &mut Self::Context) {
        // A second poll ends the first with whatever is there.
        self.answer();
        self.last_seen = self.options.shared.clock.now();
        if let Some(last) = poll.last_event_id
            && let Err(error) = self.options.queue.acknowledge(last, poll.newest)
        {
            let error = match error {
                QueueError::Pruned(newest) => DomainError::EventsPruned(newest),
                QueueError::Unknown(id) => DomainError::EventUnknown(id),
            };
            let _ = poll.answer.send(Err(error));
            return;
        }
        if poll.dont_block || !self.options.queue.is_empty() {
            self.last_answer = self.last_seen;
            let _ = poll.answer.send(Ok(self.options.queue.events()));
        } else {
            self.waiting = Some(poll.answer);
        }
    }
}

impl Handler<Tick> for SessionActor {
    type Result = ();

    fn handle(&mut self, Tick { now }: Tick, ctx: &mut Self::Context) {
        // A client that hung up no longer waits; the idle time runs from here.
        if self.waiting.as_ref().is_some_and(oneshot::Sender::is_closed) {
            self.waiting = None;
            self.last_seen = now;
        }
        if self.waiting.is_none() {
            let idle_millis = u64::from(self.options.record.options.idle_secs_max) * 1000;
            if now.millis_since(self.last_seen) >= idle_millis {
                self.end(ctx);
            }
            return;
        }
        let silence_millis = u64::from(self.options.heartbeat_secs) * 1000 + self.heartbeat_delay_millis();
        if now.millis_since(self.last_answer.max(self.last_seen)) >= silence_millis {
            self.options.realm.do_send(crate::realm::SendHeartbeat { queue: self.options.record.id.clone() });
            // Asked for once; the answer to the poll sets it again.
            self.last_answer = now;
        }
    }
}

impl Handler<Close> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Close, ctx: &mut Self::Context) {
        self.answer();
        ctx.stop();
    }
}

impl Handler<Dismiss> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Dismiss, ctx: &mut Self::Context) {
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.send(Err(DomainError::UserDeactivated));
        }
        ctx.stop();
    }
}
