//! A running session: the queue of one client, and the poll that waits for its events.
//!
//! The thread of the organization delivers, the threads of requests poll. Each holds the lock for as long as it takes to move some
//! references, and no other lock meanwhile: a message to a hundred clients wakes their connections and nothing else.

use super::commands::{Poll, PollAnswer, Polled, SessionRequest};
use super::delivered::Delivered;
use super::filter::{accepts, wants};
use super::queue::{Queue, QueueError};
use super::status::{QueueHolder, QueueHolders, QueueStatus};
use crate::error::DomainError;
use crate::shared::RealmShared;
use actix::Recipient;
use model::QueueRecord;
use parking_lot::Mutex;
use rules::narrow::EventNarrow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum delay of heartbeats; each queue has its own.
const HEARTBEAT_SPREAD_MILLIS: u64 = 10_000;

/// The parts of a session.
pub struct SessionOptions {
    pub record: Arc<QueueRecord>,
    /// Its message filter; none for all messages.
    pub narrow: Option<EventNarrow>,
    /// The part of the queue's state that can be read without its lock.
    pub status: Arc<QueueStatus>,
    /// The bytes of all queues of the account, and of all bots of its owner.
    pub holders: QueueHolders,
    /// The actor that registers and ends queues.
    pub owner: Recipient<SessionRequest>,
    /// For the message filter, the clock and the limits.
    pub shared: Arc<RealmShared>,
}

/// The sender of the answer to a poll that waits.
type Waiting = oneshot::Sender<PollAnswer>;

/// Events and polls that arrive while earlier events are still being read from the log.
#[derive(Default)]
struct Resuming {
    late: Vec<Delivered>,
    poll: Option<(Poll, Waiting)>,
}

/// One client's event queue.
pub struct Session {
    options: SessionOptions,
    state: Mutex<State>,
}

/// Why there is no queue any more. The actor that started the session may not have removed it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The registration ends, too.
    Over,
    /// The registration may remain: the server stops, the events could not be read, or the client has deleted the queue.
    Closed,
}

struct State {
    queue: Result<Queue, Ended>,
    resuming: Option<Resuming>,
    waiting: Option<Waiting>,
    /// The poll is answered when all events of the group were delivered.
    is_answer_due: bool,
    /// Monotonic time at which a poll last began or ended.
    last_seen: Duration,
    /// Monotonic time at which a poll was last answered.
    last_answer: Duration,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("record", &self.options.record).finish_non_exhaustive()
    }
}

impl Session {
    /// A session without a poll. With `is_resuming` the events since the client's last one are still being read from the log;
    /// they come with [`Self::resume`].
    pub fn new(options: SessionOptions, queue: Queue, is_resuming: bool) -> Self {
        let now = options.shared.clock.monotonic();
        options.status.set_last_seen(now);
        let state = Mutex::new(State {
            queue: Ok(queue),
            resuming: is_resuming.then(Resuming::default),
            waiting: None,
            is_answer_due: false,
            last_seen: now,
            last_answer: now,
        });
        Self { options, state }
    }

    /// The registration of the queue.
    pub fn record(&self) -> &Arc<QueueRecord> {
        &self.options.record
    }

    /// The part of its state that can be read without its lock.
    pub fn status(&self) -> &QueueStatus {
        &self.options.status
    }

    /// Those that its bytes count for.
    pub fn holders(&self) -> impl Iterator<Item = QueueHolder> {
        self.options.holders.iter().map(|bytes| bytes.holder())
    }

    /// Adds an event, unless the queue does not take it. True if a poll waits for it that was not due before: call
    /// [`Self::answer_due`] when everything that was published together is delivered.
    #[must_use]
    pub fn deliver(&self, delivered: Delivered) -> bool {
        if !accepts(&self.options.record.options, &delivered.event) || !self.passes_narrow(&delivered) {
            return false;
        }
        let mut state = self.state.lock();
        let is_due = self.push(&mut state, delivered) && state.waiting.is_some() && !state.is_empty();
        is_due && !std::mem::replace(&mut state.is_answer_due, true)
    }

    fn passes_narrow(&self, delivered: &Delivered) -> bool {
        let Some(narrow) = &self.options.narrow else { return true };
        let view = self.options.shared.view.read();
        wants(narrow, &view.directory, self.options.record.user, &delivered.event, delivered.flags)
    }

    /// Answers the poll that waits with all events of a group: one answer with all of them costs as much as one for the
    /// first.
    pub fn answer_due(&self) {
        let mut state = self.state.lock();
        state.is_answer_due = false;
        // Meanwhile it may have been answered, and another one may wait for further events.
        if !state.is_empty() {
            self.answer(&mut state);
        }
    }

    /// Acknowledges events, and asks for more. A poll that waits already is answered with the pending events.
    ///
    /// # Errors
    /// `EventsPruned`, `EventUnknown`; `BadEventQueue` or `Stopping` if the session has ended.
    pub fn poll(&self, poll: Poll) -> Result<Polled, DomainError> {
        let now = self.options.shared.clock.monotonic();
        let mut state = self.state.lock();
        self.answer(&mut state);
        self.seen(&mut state, now);
        if state.resuming.is_none()
            && let Some(answer) = self.acknowledge(&mut state, &poll)
        {
            return answer.map(Polled::Events);
        }
        let (answer, answered) = oneshot::channel();
        match &mut state.resuming {
            Some(resuming) => resuming.poll = Some((poll, answer)),
            None => state.waiting = Some(answer),
        }
        self.options.status.set_polled(true);
        Ok(Polled::Waiting(answered))
    }

    /// Adds the events since the client's last one, for a queue that was registered before a restart, and those that were
    /// delivered meanwhile; the poll that waits for them is answered.
    pub fn resume(&self, result: Result<Vec<Delivered>, DomainError>) {
        let now = self.options.shared.clock.monotonic();
        let mut state = self.state.lock();
        let Some(Resuming { late, poll }) = state.resuming.take() else { return };
        self.options.status.set_polled(false);
        let events = match result {
            Ok(events) => events,
            Err(error) => return self.give_up(&mut state, poll, error),
        };
        self.seen(&mut state, now);
        for delivered in events.into_iter().chain(late) {
            if !self.push(&mut state, delivered) {
                let ended = DomainError::BadEventQueue(self.options.record.id.clone());
                return drop(poll.map(|(_, answer)| answer.send(Err(ended))));
            }
        }
        let Some((poll, answer)) = poll else { return };
        match self.acknowledge(&mut state, &poll) {
            Some(answered) => drop(answer.send(answered)),
            None => {
                state.waiting = Some(answer);
                self.options.status.set_polled(true);
            }
        }
    }

    /// The events could not be read: the queue ends, or its registration remains and the next poll tries again.
    fn give_up(&self, state: &mut State, poll: Option<(Poll, Waiting)>, error: DomainError) {
        let is_over = matches!(error, DomainError::BadEventQueue(_));
        drop(poll.map(|(_, answer)| answer.send(Err(error))));
        if is_over {
            return self.end(state);
        }
        state.queue = Err(Ended::Closed);
        self.options.owner.do_send(SessionRequest::Detach {
            queue: self.options.record.id.clone(),
            user: self.options.record.user,
        });
    }

    /// Time has passed: requests a heartbeat if one is due, and ends the queue if its client does not poll.
    pub fn tick(&self, now: Duration) {
        let mut state = self.state.lock();
        if state.queue.is_err() {
            return;
        }
        // A client that hung up no longer waits; the idle time runs from here.
        if state.is_abandoned() {
            drop(self.take_waiting(&mut state));
            self.seen(&mut state, now);
        }
        let limits = &self.options.shared.queue_limits;
        if !self.options.status.is_polled() {
            if now.saturating_sub(state.last_seen) >= limits.idle_of(&self.options.record.options) {
                self.end(&mut state);
            }
            return;
        }
        if state.resuming.is_some() {
            return;
        }
        let silence = Duration::from_secs(limits.heartbeat_secs.into())
            + Duration::from_millis(self.heartbeat_delay_millis());
        if now.saturating_sub(state.last_answer.max(state.last_seen)) >= silence {
            self.options.owner.do_send(SessionRequest::Heartbeat { queue: self.options.record.id.clone() });
            // Requested once; the answer to the poll sets it again.
            state.last_answer = now;
        }
    }

    /// Answers the poll that waits with what there is; its client asks again.
    pub fn release(&self) {
        self.answer(&mut self.state.lock());
    }

    /// Ends the session; a poll that waits is answered first.
    pub fn close(&self) {
        let mut state = self.state.lock();
        self.answer(&mut state);
        state.queue = Err(Ended::Closed);
    }

    /// Ends the session; a poll that waits gets the reason.
    pub fn dismiss(&self, why: DomainError) {
        let mut state = self.state.lock();
        if let Some(waiting) = self.take_waiting(&mut state) {
            let _ = waiting.send(Err(why));
        }
        state.queue = Err(Ended::Over);
    }

    /// Answers the poll that waits with the pending events. They stay pending if the client has disconnected.
    fn answer(&self, state: &mut State) {
        if let Some(waiting) = self.take_waiting(state) {
            state.last_answer = self.options.shared.clock.monotonic();
            let now = state.last_answer;
            self.seen(state, now);
            let _ = waiting.send(Ok(state.events()));
        }
    }

    /// The poll that waits for new events, or for those from the log.
    fn take_waiting(&self, state: &mut State) -> Option<Waiting> {
        let early = state.resuming.as_mut().and_then(|resuming| resuming.poll.take());
        let waiting = state.waiting.take().or(early.map(|(_, answer)| answer));
        self.options.status.set_polled(false);
        waiting
    }

    fn seen(&self, state: &mut State, now: Duration) {
        state.last_seen = now;
        self.options.status.set_last_seen(now);
    }

    /// Adds an event; false when the queue has ended with it, or before.
    fn push(&self, state: &mut State, delivered: Delivered) -> bool {
        let events_max = self.options.shared.queue_limits.events_max;
        let State { queue, resuming, .. } = state;
        let Ok(queue) = queue else { return false };
        let has_room = match resuming {
            Some(resuming) if resuming.late.len() >= events_max => false,
            Some(resuming) => {
                resuming.late.push(delivered);
                true
            }
            None => queue.push(delivered),
        };
        if !has_room {
            metrics::counter!("millstream_queues_overflowed_total").increment(1);
            tracing::warn!(queue = %self.options.record.id, "client fell behind; event queue deleted");
            self.end(state);
            return false;
        }
        for held in self.options.holders.iter() {
            if held.is_over(&self.options.shared.queue_limits) && held.begin_limiting() {
                self.options.owner.do_send(SessionRequest::Limit(held.clone()));
            }
        }
        true
    }

    /// Drops what the client has. The answer to its poll, unless that has to wait.
    fn acknowledge(&self, state: &mut State, poll: &Poll) -> Option<PollAnswer> {
        let queue = match &mut state.queue {
            Ok(queue) => queue,
            Err(Ended::Over) => return Some(Err(DomainError::BadEventQueue(self.options.record.id.clone()))),
            Err(Ended::Closed) => return Some(Err(DomainError::Stopping)),
        };
        if let Some(last) = poll.last_event_id
            && let Err(error) = queue.acknowledge(last, poll.newest)
        {
            return Some(Err(match error {
                QueueError::Pruned(newest) => DomainError::EventsPruned(newest),
                QueueError::Unknown(id) => DomainError::EventUnknown(id),
            }));
        }
        if !poll.dont_block && queue.is_empty() {
            return None;
        }
        let events = queue.events();
        state.last_answer = state.last_seen;
        Some(Ok(events))
    }

    /// Heartbeats of queues that were registered together are spread over ten seconds.
    fn heartbeat_delay_millis(&self) -> u64 {
        let name = self.options.record.id.0.bytes();
        name.fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % HEARTBEAT_SPREAD_MILLIS
    }

    fn end(&self, state: &mut State) {
        let id = self.options.record.id.clone();
        if let Some(waiting) = self.take_waiting(state) {
            let _ = waiting.send(Err(DomainError::BadEventQueue(id.clone())));
        }
        state.queue = Err(Ended::Over);
        self.options.owner.do_send(SessionRequest::End { queue: id, user: self.options.record.user });
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.queue.as_ref().map_or(true, Queue::is_empty)
    }

    fn events(&self) -> Vec<Delivered> {
        self.queue.as_ref().map(Queue::events).unwrap_or_default()
    }

    fn is_abandoned(&self) -> bool {
        let early = self.resuming.as_ref().and_then(|resuming| resuming.poll.as_ref());
        let waiting = self.waiting.as_ref().or(early.map(|(_, answer)| answer));
        waiting.is_some_and(oneshot::Sender::is_closed)
    }
}
