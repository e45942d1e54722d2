//! Event queues of an organization: registering, continuing after a restart, time passing, ending.

use super::actor::RealmActor;
use super::messages::{EndQueue, RegisterQueue, RegisteredQueue, ResumeQueue, SendHeartbeat};
use crate::error::DomainError;
use crate::fanout::{Fanout, Listener};
use crate::session::{Close, Queue, SessionActor, SessionOptions, Tick};
use crate::shared::{QueueAddress, RealmShared};
use actix::prelude::*;
use model::{Audience, EventBody, EventKind, Fact, QueueId, QueueOptions, QueueRecord};
use rules::narrow::EventNarrow;
use std::sync::Arc;

impl RealmActor {
    /// Time has passed for every session.
    pub(super) fn tick_sessions(&self) {
        let now = self.realm.clock.now();
        for queue in self.realm.queues.read().values() {
            queue.session.do_send(Tick { now });
        }
    }

    /// Ends queues from before a restart whose clients did not come back in time: nothing runs for them
    /// that could notice. In a closed organization no client comes back.
    pub(super) fn end_forgotten_queues(&self, ctx: &Context<Self>) {
        let now = self.realm.clock.now();
        let (running, view) = (self.realm.queues.read(), self.realm.view.read());
        let is_closed = !view.directory.realm().is_active;
        if view.queues.len() <= running.len() && !is_closed {
            return;
        }
        for record in view.queues.values() {
            let idle_millis = u64::from(record.options.idle_secs_max) * 1000;
            let is_over = now.millis_since(self.since.max(record.registered)) >= idle_millis;
            let is_forgotten = is_over && !running.contains_key(&record.id);
            if (is_forgotten || is_closed) && !self.state.has_ended(&record.id) {
                ctx.address().do_send(EndQueue { queue: record.id.clone(), user: record.user, answer: None });
            }
        }
    }

    fn new_record(&self, request: &RegisterQueue) -> Result<QueueRecord, DomainError> {
        if self.fanout.queues_of(request.user) >= self.realm.queue_limits.queues_per_user_max {
            return Err(DomainError::TooManyQueues);
        }
        let ids = self.committer.ids(self.realm.id)?;
        let limits = &self.realm.queue_limits;
        let mut options = request.options.clone();
        options.idle_secs_max = options.idle_secs_max.max(limits.idle_secs).min(limits.idle_secs_max);
        Ok(QueueRecord {
            id: QueueId(crate::login::random_name()?.into()),
            user: request.user,
            registered: self.realm.clock.now(),
            // Its first event is the first one behind its own registration.
            after: model::EventNumber(ids.event.0 - 1),
            options,
        })
    }
}

/// Whether a queue is also given messages of public channels that its owner does not subscribe to: it asked for all of
/// them, or for those that match its narrow (events.md 1).
pub(crate) fn hears_all_public_channels(options: &QueueOptions) -> bool {
    options.all_public_channels || !options.narrow.is_empty()
}

/// Starts the session of a queue and lets it listen.
fn start_session(
    realm: &Arc<RealmShared>,
    fanout: &Fanout,
    actor: &Addr<RealmActor>,
    record: Arc<QueueRecord>,
    queue: Queue,
) -> Addr<SessionActor> {
    let narrow = EventNarrow::parse(&record.options.narrow).ok().filter(|narrow| !narrow.is_empty());
    let listener_kinds = record.options.kinds;
    let (id, user, all_public_channels) = (
        record.id.clone(),
        record.user,
        hears_all_public_channels(&record.options) && listener_kinds.contains(EventKind::Message),
    );
    let session = SessionActor::new(SessionOptions {
        record,
        queue,
        narrow,
        heartbeat_secs: realm.queue_limits.heartbeat_secs,
        now: realm.clock.now(),
        realm: actor.clone(),
        shared: realm.clone(),
    })
    .start();
    let listener =
        Listener { queue: id.clone(), session: session.clone(), kinds: listener_kinds, all_public_channels };
    fanout.add(user, listener);
    realm.queues.write().insert(id, QueueAddress { user, session: session.clone() });
    session
}

impl Handler<RegisterQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: RegisterQueue, ctx: &mut Self::Context) {
        let (record, ids) =
            match self.new_record(&request).and_then(|r| Ok((r, self.committer.ids(self.realm.id)?))) {
                Ok(decided) => decided,
                Err(error) => return drop(request.answer.send(Err(error))),
            };
        let (realm, fanout, own) = (self.realm.clone(), self.fanout.clone(), ctx.address());
        let registered = Arc::new(record.clone());
        let answer = request.answer;
        // Runs in log order, so the session listens from exactly its registration on.
        let done = Box::new(move |result: Result<(), DomainError>| {
            let answered = result.map(|()| {
                let queue = Queue::new(registered.after.0, realm.queue_limits.events_max);
                let (id, after) = (registered.id.clone(), registered.after);
                start_session(&realm, &fanout, &own, registered, queue);
                RegisteredQueue { id, after }
            });
            let _ = answer.send(answered);
        });
        self.committer.commit(&self.realm, ids, vec![Fact::QueueRegistered(Box::new(record))], done);
    }
}

impl Handler<ResumeQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: ResumeQueue, ctx: &mut Self::Context) {
        let outcome = self.resume(&request, ctx);
        let _ = request.answer.send(outcome);
    }
}

impl RealmActor {
    /// The session of a queue that was registered before a restart: its events are those that the log
    /// has led to since what the client has.
    fn resume(&self, request: &ResumeQueue, ctx: &Context<Self>) -> Result<Addr<SessionActor>, DomainError> {
        if let Some(running) = self.realm.queues.read().get(&request.queue) {
            return Ok(running.session.clone());
        }
        let unknown = || DomainError::BadEventQueue(request.queue.clone());
        if self.state.has_ended(&request.queue) {
            return Err(unknown());
        }
        let record = self.realm.view.read().queues.get(&request.queue).cloned().ok_or_else(unknown)?;
        if record.user != request.user {
            return Err(unknown());
        }
        let after = request.last_event_id.max(record.after.0 as i64) as u64;
        let newest = self.committer.ids(self.realm.id)?.event.0;
        if after >= newest {
            return Err(DomainError::EventUnknown(request.last_event_id));
        }
        // Whoever has nothing yet may never have polled, and gets everything since the registration.
        let events_max = self.realm.queue_limits.events_max;
        let mut queue = match request.last_event_id {
            -1 => Queue::new(after, events_max),
            _ => Queue::resumed(after, events_max),
        };
        for delivered in crate::resume::events_since(&self.realm, &self.committer.log(), &record, after)? {
            if !queue.push(delivered) {
                return Err(unknown());
            }
        }
        Ok(start_session(&self.realm, &self.fanout, &ctx.address(), record, queue))
    }
}

impl Handler<EndQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, EndQueue { queue, user, answer }: EndQueue, ctx: &mut Self::Context) {
        let done = move |result: Result<(), DomainError>| {
            if let Some(answer) = answer {
                let _ = answer.send(result);
            }
        };
        let is_known = self.realm.view.read().queues.get(&queue).is_some_and(|record| record.user == user);
        let running = self.realm.queues.write().remove(&queue);
        self.fanout.remove(user, &queue);
        if let Some(running) = &running {
            running.session.do_send(Close);
        }
        if !is_known {
            return done(Err(DomainError::BadEventQueue(queue)));
        }
        match self.committer.ids(self.realm.id) {
            Err(error) => done(Err(error)),
            Ok(ids) => {
                self.commit(ctx, ids, vec![Fact::QueueEnded(queue)], Box::new(done));
            }
        }
    }
}

impl Handler<SendHeartbeat> for RealmActor {
    type Result = ();

    fn handle(&mut self, SendHeartbeat { queue }: SendHeartbeat, _: &mut Self::Context) {
        if let Err(error) = self.committer.pass(&self.realm, EventBody::Heartbeat, Audience::Queue(queue)) {
            tracing::debug!(%error, "a heartbeat was left out");
        }
    }
}
