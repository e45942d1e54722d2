//! The actor around the queue: holds the waiting poll, answers it, and ends when its client no longer polls.

use super::commands::{
    AnswerPoll, Close, Delivered, Dismiss, Poll, PollAnswer, Resumed, SessionRequest, Tick,
};
use super::queue::{Queue, QueueError};
use super::status::{AccountBytes, QueueStatus};
use crate::error::DomainError;
use actix::prelude::*;
use model::event::TypingPlace;
use model::{
    Directory, Event, EventBody, EventKind, EventKinds, Flags, QueueOptions, QueueRecord, TopicKey, UserId,
};
use rules::narrow::{EventNarrow, NarrowedMessage};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Capacity of a session's mailbox.
const MAILBOX_MAX: usize = 64;

/// Maximum delay of heartbeats; each queue has its own.
const HEARTBEAT_SPREAD_MILLIS: u64 = 10_000;

/// The parts of a session.
pub struct SessionOptions {
    pub record: Arc<QueueRecord>,
    pub queue: Queue,
    /// Whether the events since the client's last one are still being read from the log; they come with [`Resumed`].
    pub is_resuming: bool,
    /// Its message filter; none for all messages.
    pub narrow: Option<EventNarrow>,
    /// The part of the queue's state that other actors read.
    pub status: Arc<QueueStatus>,
    /// The bytes of all queues of the account.
    pub account: Rc<AccountBytes>,
    /// The actor that registers and ends queues.
    pub owner: Recipient<SessionRequest>,
    /// For the message filter, the clock and the limits.
    pub shared: Arc<crate::shared::RealmShared>,
}

/// Events and polls that arrive while earlier events are still being read from the log.
#[derive(Default)]
struct Resuming {
    late: Vec<Delivered>,
    poll: Option<Poll>,
}

/// One client's event queue.
pub struct SessionActor {
    options: SessionOptions,
    resuming: Option<Resuming>,
    waiting: Option<oneshot::Sender<PollAnswer>>,
    /// The waiting poll is answered when the mailbox is empty.
    is_answer_due: bool,
    /// Monotonic time at which a poll last began or ended.
    last_seen: Duration,
    /// Monotonic time at which a poll was last answered.
    last_answer: Duration,
}

impl SessionActor {
    /// A session without a poll.
    pub fn new(options: SessionOptions) -> Self {
        let now = options.shared.clock.monotonic();
        options.status.set_last_seen(now);
        let resuming = options.is_resuming.then(Resuming::default);
        Self { options, resuming, waiting: None, is_answer_due: false, last_seen: now, last_answer: now }
    }

    /// Answers the waiting poll with the pending events. They stay pending if the client has disconnected.
    fn answer(&mut self) {
        if let Some(waiting) = self.take_waiting() {
            self.last_answer = self.options.shared.clock.monotonic();
            self.seen(self.last_answer);
            let _ = waiting.send(Ok(self.options.queue.events()));
        }
    }

    /// The poll that waits for new events, or for those from the log.
    fn take_waiting(&mut self) -> Option<oneshot::Sender<PollAnswer>> {
        let early = self.resuming.as_mut().and_then(|resuming| resuming.poll.take());
        let waiting = self.waiting.take().or(early.map(|poll| poll.answer));
        self.options.status.set_polled(false);
        waiting
    }

    fn seen(&mut self, now: Duration) {
        self.last_seen = now;
        self.options.status.set_last_seen(now);
    }

    fn is_abandoned(&self) -> bool {
        let early = self.resuming.as_ref().and_then(|resuming| resuming.poll.as_ref());
        let waiting = self.waiting.as_ref().or(early.map(|poll| &poll.answer));
        waiting.is_some_and(oneshot::Sender::is_closed)
    }

    /// Adds an event; false when the queue has ended with it.
    fn push(&mut self, delivered: Delivered, ctx: &mut Context<Self>) -> bool {
        let events_max = self.options.shared.queue_limits.events_max;
        let has_room = match &mut self.resuming {
            Some(resuming) if resuming.late.len() >= events_max => false,
            Some(resuming) => {
                resuming.late.push(delivered);
                true
            }
            None => self.options.queue.push(delivered),
        };
        if !has_room {
            metrics::counter!("millstream_queues_overflowed_total").increment(1);
            tracing::warn!(queue = %self.options.record.id, "client fell behind; event queue deleted");
            self.end(ctx);
            return false;
        }
        let account = &self.options.account;
        let is_over = account.get() > self.options.shared.queue_limits.bytes_per_user_max;
        if is_over && account.begin_limiting() {
            self.options.owner.do_send(SessionRequest::Limit { user: self.options.record.user });
        }
        true
    }

    fn poll(&mut self, poll: Poll) {
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
            self.options.status.set_polled(true);
        }
    }

    /// Heartbeats of queues that were registered together are spread over ten seconds.
    fn heartbeat_delay_millis(&self) -> u64 {
        let name = self.options.record.id.0.bytes();
        name.fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % HEARTBEAT_SPREAD_MILLIS
    }

    fn end(&mut self, ctx: &mut Context<Self>) {
        let id = self.options.record.id.clone();
        if let Some(waiting) = self.take_waiting() {
            let _ = waiting.send(Err(DomainError::BadEventQueue(id.clone())));
        }
        self.options.owner.do_send(SessionRequest::End { queue: id, user: self.options.record.user });
        ctx.stop();
    }
}

/// Whether a queue also gets messages of public channels that its owner does not subscribe to: all of them, or those that
/// match its narrow (docs/api/events.md#message).
pub(crate) fn hears_all_public_channels(options: &QueueOptions) -> bool {
    options.all_public_channels || !options.narrow.is_empty()
}

/// Whether a queue gets an event of a type that it takes (docs/api/events.md#client-capabilities).
pub(crate) fn accepts(options: &QueueOptions, event: &Event) -> bool {
    if !event.clients.include(&options.capabilities) {
        return false;
    }
    match &event.body {
        EventBody::Typing { place: TypingPlace::Channel { .. }, .. } => {
            options.capabilities.stream_typing_notifications
        }
        // Superseded by `user_topic` events: only for clients that did not ask for those by name.
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

impl Handler<Delivered> for SessionActor {
    type Result = ();

    fn handle(&mut self, delivered: Delivered, ctx: &mut Self::Context) {
        if !accepts(&self.options.record.options, &delivered.event) {
            return;
        }
        if let Some(narrow) = &self.options.narrow
            && !wants(
                narrow,
                &self.options.shared.view.read().directory,
                self.options.record.user,
                &delivered.event,
                delivered.flags,
            )
        {
            return;
        }
        let is_due = self.push(delivered, ctx) && self.waiting.is_some() && !self.options.queue.is_empty();
        // Events of one group of frames follow each other: one answer with all of them costs as much as one for the first.
        if is_due && !std::mem::replace(&mut self.is_answer_due, true) {
            ctx.notify(AnswerPoll);
        }
    }
}

impl Handler<AnswerPoll> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: AnswerPoll, _: &mut Self::Context) {
        self.is_answer_due = false;
        // Meanwhile it may have been answered, and another one may wait for further events.
        if !self.options.queue.is_empty() {
            self.answer();
        }
    }
}

impl Handler<Poll> for SessionActor {
    type Result = ();

    fn handle(&mut self, poll: Poll, _: &mut Self::Context) {
        // A second poll ends the first one with the pending events.
        self.answer();
        self.seen(self.options.shared.clock.monotonic());
        match &mut self.resuming {
            Some(resuming) => {
                resuming.poll = Some(poll);
                self.options.status.set_polled(true);
            }
            None => self.poll(poll),
        }
    }
}

impl Handler<Resumed> for SessionActor {
    type Result = ();

    fn handle(&mut self, Resumed(result): Resumed, ctx: &mut Self::Context) {
        let Some(resuming) = self.resuming.take() else { return };
        self.options.status.set_polled(false);
        let poll = match (result, resuming.poll) {
            (Ok(events), poll) => {
                self.seen(self.options.shared.clock.monotonic());
                let late = resuming.late.into_iter();
                for delivered in events.into_iter().chain(late) {
                    if !self.push(delivered, ctx) {
                        let id = self.options.record.id.clone();
                        drop(poll.map(|poll| poll.answer.send(Err(DomainError::BadEventQueue(id)))));
                        return;
                    }
                }
                poll
            }
            (Err(error), poll) => {
                let is_over = matches!(error, DomainError::BadEventQueue(_));
                drop(poll.map(|poll| poll.answer.send(Err(error))));
                if is_over {
                    return self.end(ctx);
                }
                // The registration remains: the next poll tries again.
                let (queue, user) = (self.options.record.id.clone(), self.options.record.user);
                self.options.owner.do_send(SessionRequest::Detach { queue, user });
                return ctx.stop();
            }
        };
        if let Some(poll) = poll {
            self.poll(poll);
        }
    }
}

impl Handler<Tick> for SessionActor {
    type Result = ();

    fn handle(&mut self, Tick { now }: Tick, ctx: &mut Self::Context) {
        // A client that hung up no longer waits; the idle time runs from here.
        if self.is_abandoned() {
            drop(self.take_waiting());
            self.seen(now);
        }
        if !self.options.status.is_polled() {
            let limits = &self.options.shared.queue_limits;
            if now.saturating_sub(self.last_seen) >= limits.idle_of(&self.options.record.options) {
                self.end(ctx);
            }
            return;
        }
        if self.resuming.is_some() {
            return;
        }
        let silence = Duration::from_secs(self.options.shared.queue_limits.heartbeat_secs.into())
            + Duration::from_millis(self.heartbeat_delay_millis());
        if now.saturating_sub(self.last_answer.max(self.last_seen)) >= silence {
            self.options.owner.do_send(SessionRequest::Heartbeat { queue: self.options.record.id.clone() });
            // Requested once; the answer to the poll sets it again.
            self.last_answer = now;
        }
    }
}

#[cfg(feature = "cluster")]
impl Handler<super::Release> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: super::Release, _: &mut Self::Context) {
        self.answer();
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

    fn handle(&mut self, Dismiss(why): Dismiss, ctx: &mut Self::Context) {
        if let Some(waiting) = self.take_waiting() {
            let _ = waiting.send(Err(why));
        }
        ctx.stop();
    }
}
