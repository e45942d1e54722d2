//! Queues from before a restart: their sessions start when clients return, and missed events are read from the log on a
//! blocking thread.

use super::actor::RealmActor;
use super::commands::ResumeQueue;
use super::sessions::start_session;
use crate::error::DomainError;
use crate::resume::{Pass, QUEUES_MAX, ResumingQueue};
use crate::session::{Queue, Session};
use actix::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A pass over the log has ended.
#[derive(Message)]
#[rtype(result = "()")]
struct PassEnded;

impl RealmActor {
    /// The session of a queue that was registered before a restart. It receives new events at once; past events from the log
    /// follow later.
    fn resume(&mut self, request: &ResumeQueue, ctx: &Context<Self>) -> Result<Arc<Session>, DomainError> {
        if let Some(running) = self.registry.queues.read().get(&request.queue) {
            return Ok(running.clone());
        }
        let unknown = || DomainError::BadEventQueue(request.queue.clone());
        if self.event_queues.has_ended(&request.queue) {
            return Err(unknown());
        }
        let (record, upto) = {
            let view = self.realm.view.read();
            (view.queues.get(&request.queue).cloned().ok_or_else(unknown)?, view.progress.sequence)
        };
        if record.user != request.user {
            return Err(unknown());
        }
        let after = request.last_event_id.max(record.after.0 as i64) as u64;
        if after >= self.committer.next_ids(self.realm.id)?.event.0 {
            return Err(DomainError::EventUnknown(request.last_event_id));
        }
        // A client without any event may never have polled, and gets everything since the registration.
        let events_max = self.realm.queue_limits.events_max;
        let queue = match request.last_event_id {
            -1 => Queue::new(after, events_max),
            _ => Queue::resumed(after, events_max),
        };
        let session = start_session(
            &self.realm,
            &self.fanout,
            &self.registry.queues,
            ctx.address(),
            (record.clone(), queue),
            true,
        );
        self.resuming.waiting.push(ResumingQueue { record, after, upto, session: session.clone() });
        self.read_for_waiting(ctx);
        Ok(session)
    }

    /// Starts a pass for all waiting queues, unless one runs.
    fn read_for_waiting(&mut self, ctx: &Context<Self>) {
        if self.resuming.is_reading || self.resuming.waiting.is_empty() {
            return;
        }
        self.resuming.is_reading = true;
        let count = self.resuming.waiting.len().min(QUEUES_MAX);
        let queues: Vec<ResumingQueue> = self.resuming.waiting.drain(..count).collect();
        let pass = Pass::new(&self.realm, self.committer.log(), &queues);
        let (permits, own) = (self.realm.resume.permits.clone(), ctx.address());
        actix::spawn(async move {
            let permit = permits.acquire_owned().await;
            let outcomes = tokio::task::spawn_blocking(move || pass.run()).await.unwrap_or_default();
            drop(permit);
            let mut outcomes: HashMap<_, _> =
                outcomes.into_iter().map(|(record, outcome)| (record.id.clone(), outcome)).collect();
            for queue in queues {
                let outcome = outcomes.remove(&queue.record.id);
                let failed = || Err(DomainError::Storage("reading the log back was given up".to_owned()));
                queue.session.resume(outcome.unwrap_or_else(failed));
            }
            own.do_send(PassEnded);
        });
    }
}

impl Handler<ResumeQueue> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: ResumeQueue, ctx: &mut Self::Context) {
        let outcome = self.resume(&request, ctx);
        let _ = request.answer.send(outcome);
    }
}

impl Handler<PassEnded> for RealmActor {
    type Result = ();

    fn handle(&mut self, _: PassEnded, ctx: &mut Self::Context) {
        self.resuming.is_reading = false;
        self.read_for_waiting(ctx);
    }
}
