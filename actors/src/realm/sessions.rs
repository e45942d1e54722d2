//! Event queues of an organization: registration, expiry, deletion.

use super::actor::RealmActor;
use super::commands::{EndQueue, ExpireQueues, RegisterQueue, RegisteredQueue};
use crate::error::DomainError;
use crate::fanout::{Fanout, Listener};
use crate::session::{
    HolderBytes, Queue, QueueHolder, QueueStatus, Queues, Session, SessionOptions, SessionRequest,
    receives_all_public_channels,
};
use crate::shard::{Sequencer, SerialActor};
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{Audience, EventBody, EventKind, Fact, QueueFact, QueueId, QueueRecord, UserId};
use rules::narrow::EventNarrow;
use std::sync::Arc;
use std::time::Duration;

/// Ends of queues in one frame.
const ENDS_PER_FRAME: usize = 1000;

/// Delay of the next check of an account's queues after one of them was ended for their size.
const RECHECK_DELAY: Duration = Duration::from_millis(5);

/// A registration that was decided.
struct Decided {
    record: QueueRecord,
    /// The queue that is ended to make room, of the same account or of another bot of its owner.
    ended: Option<(UserId, QueueId)>,
    ids: Sequencer,
}

impl RealmActor {
    /// Advances the timers of all sessions.
    pub(super) fn tick_sessions(&self) {
        let now = self.realm.clock.monotonic();
        let (mut count, mut bytes) = (0u32, 0);
        for queue in self.registry.queues.read().values() {
            queue.tick(now);
            count += 1;
            bytes += queue.status().bytes();
        }
        let realm = self.realm.id.to_string();
        metrics::gauge!("millstream_queues", "realm" => realm.clone()).set(count);
        metrics::gauge!("millstream_queues_charged_bytes", "realm" => realm).set(bytes as f64);
    }

    /// Ends queues from before a restart whose clients did not return in time: no session runs for them
    /// that could expire. In a deactivated organization all queues end.
    pub(super) fn expire_idle_queues(&mut self, ctx: &Context<Self>) {
        let idle = self.realm.clock.monotonic().saturating_sub(self.since);
        let (is_closed, forgotten): (bool, Vec<(UserId, QueueId)>) = {
            let (running, view) = (self.registry.queues.read(), self.realm.view.read());
            let is_closed = !view.directory.realm().is_active;
            let has_unresumed_queues = view.queues.len() > running.len();
            self.realm.resume.set_has_unresumed_queues(has_unresumed_queues);
            if !has_unresumed_queues && !is_closed {
                return;
            }
            let limits = &self.realm.queue_limits;
            let is_over = |record: &QueueRecord| {
                is_closed || idle >= limits.idle_of(&record.options) && !running.contains_key(&record.id)
            };
            let over = view.queues.values().filter(|record| is_over(record));
            let over = over.filter(|record| !self.event_queues.has_ended(&record.id));
            let over = over.take(ENDS_PER_FRAME).map(|record| (record.user, record.id.clone()));
            (is_closed, over.collect())
        };
        self.end_queues(ctx, forgotten, |queue| match is_closed {
            true => DomainError::RealmDeactivated,
            false => DomainError::BadEventQueue(queue),
        });
    }

    /// Ends the oldest registrations above the limits, which may be lower than before the restart.
    pub(super) fn end_queues_past_the_bound(&mut self, ctx: &Context<Self>) {
        let directory = self.realm.directory();
        let past = self.event_queues.queues_past(&self.realm.queue_limits, |user| directory.bot_owner(user));
        for past in past.chunks(ENDS_PER_FRAME) {
            tracing::info!(
                count = past.len(),
                "event queues above the limit of an account, or of the bots of an owner, were deleted"
            );
            self.end_queues(ctx, past.to_vec(), DomainError::BadEventQueue);
        }
    }

    /// Ends queues; waiting polls get the reason. False if the ends cannot be stored: nothing changes.
    pub(super) fn end_queues(
        &mut self,
        ctx: &Context<Self>,
        queues: Vec<(UserId, QueueId)>,
        why: impl Fn(QueueId) -> DomainError,
    ) -> bool {
        let Some(ids) = self.committer.essential_ids(self.realm.id).ok().filter(|_| !queues.is_empty())
        else {
            return false;
        };
        let facts = queues.iter().map(|(_, queue)| Fact::Queue(QueueFact::Ended(queue.clone()))).collect();
        let is_accepted = self.commit(ctx, ids, facts, Box::new(|_| {}));
        if is_accepted {
            for (user, queue) in queues {
                self.detach(user, &queue, |session| session.dismiss(why(queue.clone())));
            }
        }
        is_accepted
    }

    /// Ends the session of a queue, if one runs, and removes it.
    fn detach(&self, user: UserId, queue: &QueueId, end: impl FnOnce(&Session)) {
        let running = self.registry.queues.write().remove(queue);
        self.fanout.remove(user, queue);
        if let Some(running) = running {
            end(&running);
        }
    }

    fn decide_registration(&self, request: &RegisterQueue) -> Result<Decided, DomainError> {
        let limits = &self.realm.queue_limits;
        let ended = self.ended_for(request.user)?;
        let ids = self.committer.essential_ids(self.realm.id)?;
        let mut options = request.options.clone();
        options.idle_secs_max = options.idle_secs_max.max(limits.idle_secs).min(limits.idle_secs_max);
        let record = QueueRecord {
            id: QueueId(crate::login::random_name()?.into()),
            user: request.user,
            registered: self.realm.clock.now(),
            // Its first event is the first one after its own registration.
            after: model::EventNumber(ids.event.0 - 1),
            options,
        };
        Ok(Decided { record, ended, ids })
    }

    /// The queue that is ended for one more of an account; `None` if there is room.
    fn ended_for(&self, user: UserId) -> Result<Option<(UserId, QueueId)>, DomainError> {
        let owner = self.realm.directory().bot_owner(user);
        let holders = [Some(QueueHolder::Account(user)), owner.map(QueueHolder::BotsOf)];
        for holder in holders.into_iter().flatten() {
            let own = self.queues_of(&self.users_of(holder));
            if own.len() >= holder.queues_max(&self.realm.queue_limits) {
                return self.longest_unpolled(&own).map(Some).ok_or(DomainError::TooManyQueues);
            }
        }
        Ok(None)
    }

    fn users_of(&self, holder: QueueHolder) -> Vec<UserId> {
        match holder {
            QueueHolder::Account(user) => vec![user],
            QueueHolder::BotsOf(owner) => self.realm.directory().bots_of(owner).map(|bot| bot.id).collect(),
        }
    }

    /// Those whose running queues may count for a holder: a bot may have another owner since.
    fn users_with_queues_of(&self, holder: QueueHolder) -> Vec<UserId> {
        match holder {
            QueueHolder::Account(user) => vec![user],
            QueueHolder::BotsOf(_) => self.realm.directory().bots().map(|bot| bot.id).collect(),
        }
    }

    fn queues_of(&self, users: &[UserId]) -> Vec<(UserId, &QueueId)> {
        let own = |user: UserId| self.event_queues.queues_of(user).iter().map(move |queue| (user, queue));
        users.iter().flat_map(|user| own(*user)).collect()
    }

    /// The queue whose client has been disconnected for longest: a program that restarts again and again leaves queues, and
    /// must not lock its owner out. None if all clients are connected.
    fn longest_unpolled(&self, own: &[(UserId, &QueueId)]) -> Option<(UserId, QueueId)> {
        let (running, view) = (self.registry.queues.read(), self.realm.view.read());
        let last_seen = |queue: &QueueId| -> Option<Duration> {
            match running.get(queue) {
                Some(running) if running.status().is_polled() => None,
                Some(running) => Some(running.status().last_seen()),
                // Registered before the restart and not resumed; others are being registered now.
                None => view.queues.contains_key(queue).then_some(Duration::ZERO),
            }
        };
        let unpolled = own.iter().filter_map(|(user, queue)| Some((last_seen(queue)?, (*user, *queue))));
        let (_, (user, queue)) = unpolled.min_by_key(|(last_seen, _)| *last_seen)?;
        Some((user, queue.clone()))
    }

    /// Ends the largest queue of a holder over its bound, then checks again: events that its queues share are freed only with
    /// the last of them.
    fn limit_queues(&mut self, ctx: &mut Context<Self>, held: Arc<HolderBytes>) {
        if !held.is_over(&self.realm.queue_limits) {
            return held.end_limiting();
        }
        let largest = {
            let own = self.queues_of(&self.users_with_queues_of(held.holder()));
            let running = self.registry.queues.read();
            let own = own.into_iter().filter_map(|(_, queue)| running.get(queue));
            let own = own.filter(|session| session.holders().any(|one| one == held.holder()));
            let size = |status: &QueueStatus| (status.bytes(), std::cmp::Reverse(status.last_seen()));
            own.max_by_key(|session| size(session.status())).map(|session| session.record().clone())
        };
        let Some(record) = largest else { return held.end_limiting() };
        let ended = vec![(record.user, record.id.clone())];
        if !self.end_queues(ctx, ended, DomainError::BadEventQueue) {
            return held.end_limiting();
        }
        tracing::warn!(
            queue = %record.id, holder = %held.holder(),
            "the event queues of an account, or of the bots of an owner, hold too many bytes; the largest was deleted"
        );
        metrics::counter!("millstream_queues_overflowed_total").increment(1);
        ctx.run_later(RECHECK_DELAY, move |actor, ctx| actor.limit_queues(ctx, held));
    }
}

/// Starts the session of a queue, which receives events from now on.
pub(super) fn start_session(
    realm: &Arc<RealmShared>,
    fanout: &Fanout,
    queues: &Queues,
    owner: Addr<RealmActor>,
    (record, queue): (Arc<QueueRecord>, Queue),
    is_resuming: bool,
) -> Arc<Session> {
    let narrow = EventNarrow::parse(&record.options.narrow).ok().filter(|narrow| !narrow.is_empty());
    let (id, user, kinds) = (record.id.clone(), record.user, record.options.kinds);
    let all_public_channels =
        receives_all_public_channels(&record.options) && kinds.contains(EventKind::Message);
    let (holders, status) = (fanout.holders_of(user), Arc::new(QueueStatus::default()));
    let queue = queue.charged(holders.clone(), status.clone());
    let options =
        SessionOptions { record, narrow, status, holders, owner: owner.recipient(), shared: realm.clone() };
    let session = Arc::new(Session::new(options, queue, is_resuming));
    fanout.add(user, Listener { queue: id.clone(), session: session.clone(), kinds, all_public_channels });
    queues.write().insert(id, session.clone());
    session
}

impl Handler<RegisterQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: RegisterQueue, ctx: &mut Self::Context) {
        let Decided { record, ended, ids } = match self.decide_registration(&request) {
            Ok(decided) => decided,
            Err(error) => return drop(request.answer.send(Err(error))),
        };
        let (realm, fanout, own) = (self.realm.clone(), self.fanout.clone(), ctx.address());
        let queues = self.registry.queues.clone();
        let registered = Arc::new(record.clone());
        let answer = request.answer;
        // Runs in log order, so the session listens from exactly its registration on.
        let done = Box::new(move |result: Result<(), DomainError>| {
            let answered = result.map(|()| {
                let queue = Queue::new(registered.after.0, realm.queue_limits.events_max);
                let (id, after) = (registered.id.clone(), registered.after);
                start_session(&realm, &fanout, &queues, own, (registered, queue), false);
                RegisteredQueue { id, after }
            });
            let _ = answer.send(answered);
        });
        let mut facts: Vec<Fact> =
            ended.iter().map(|(_, queue)| Fact::Queue(QueueFact::Ended(queue.clone()))).collect();
        facts.push(Fact::Queue(QueueFact::Registered(Box::new(record))));
        if self.commit(ctx, ids, facts, done)
            && let Some((holder, ended)) = ended
        {
            metrics::counter!("millstream_queues_replaced_total").increment(1);
            self.detach(holder, &ended, |session| session.dismiss(DomainError::BadEventQueue(ended.clone())));
        }
    }
}

impl RealmActor {
    /// Ends a queue for its owner or its session; a waiting poll is answered first.
    fn end_queue(
        &mut self,
        ctx: &Context<Self>,
        queue: QueueId,
        user: UserId,
        done: impl FnOnce(Result<(), DomainError>) + 'static,
    ) {
        let is_known = self.realm.view.read().queues.get(&queue).is_some_and(|record| record.user == user);
        self.detach(user, &queue, Session::close);
        if !is_known || self.event_queues.has_ended(&queue) {
            return done(Err(DomainError::BadEventQueue(queue)));
        }
        match self.committer.essential_ids(self.realm.id) {
            Err(error) => done(Err(error)),
            Ok(ids) => {
                self.commit(ctx, ids, vec![Fact::Queue(QueueFact::Ended(queue))], Box::new(done));
            }
        }
    }
}

impl Handler<EndQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, EndQueue { queue, user, answer }: EndQueue, ctx: &mut Self::Context) {
        self.end_queue(ctx, queue, user, |result| {
            if let Some(answer) = answer {
                let _ = answer.send(result);
            }
        });
    }
}

impl Handler<ExpireQueues> for RealmActor {
    type Result = ();

    fn handle(&mut self, ExpireQueues { queue, answer }: ExpireQueues, ctx: &mut Self::Context) {
        let queues: Vec<(UserId, QueueId)> = {
            let view = self.realm.view.read();
            let asked = |record: &&Arc<QueueRecord>| queue.as_ref().is_none_or(|queue| record.id == *queue);
            let open =
                view.queues.values().filter(asked).filter(|record| !self.event_queues.has_ended(&record.id));
            open.map(|record| (record.user, record.id.clone())).collect()
        };
        let mut ended = 0;
        for part in queues.chunks(ENDS_PER_FRAME) {
            if self.end_queues(ctx, part.to_vec(), DomainError::BadEventQueue) {
                ended += part.len();
            }
        }
        let _ = answer.send(Ok(ended));
    }
}

impl Handler<SessionRequest> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: SessionRequest, ctx: &mut Self::Context) {
        match request {
            SessionRequest::End { queue, user } => self.end_queue(ctx, queue, user, drop),
            SessionRequest::Detach { queue, user } => self.detach(user, &queue, Session::close),
            SessionRequest::Limit(held) => self.limit_queues(ctx, held),
            SessionRequest::Heartbeat { queue } => {
                let audience = Audience::Queue(queue);
                if let Err(error) =
                    self.committer.publish_ephemeral(&self.realm, EventBody::Heartbeat, audience)
                {
                    tracing::debug!(%error, "a heartbeat was skipped");
                }
            }
        }
    }
}
