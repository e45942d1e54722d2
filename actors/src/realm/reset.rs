//! Resetting an organization of a development server: everything in it is replaced.

use super::actor::RealmActor;
use super::commands::ResetRealm;
use super::event_queues::EventQueues;
use crate::error::DomainError;
use crate::presence::PresenceTable;
use crate::shard::CommitCallback;
use actix::prelude::*;

impl Handler<ResetRealm> for RealmActor {
    type Result = ();

    fn handle(&mut self, ResetRealm { frames, answer }: ResetRealm, ctx: &mut Self::Context) {
        let (realm, committer, own) = (self.realm.clone(), self.committer.clone(), ctx.address());
        let (fanout, queues) = (self.fanout.clone(), self.registry.queues.clone());
        let reset: CommitCallback = Box::new(move |result| {
            if let Err(error) = result {
                return drop(answer.send(Err(error)));
            }
            let (shared, pipeline) = (realm.clone(), committer.clone());
            let done: CommitCallback = Box::new(move |result: Result<(), DomainError>| {
                // A reset that was refused halfway is over, too.
                if result.is_ok() || pipeline.is_resetting(&shared) {
                    *shared.presence.lock() = PresenceTable::starting(shared.clock.now());
                    shared.notifications.reset();
                    shared.search.reset(&shared.view.read());
                    // Not before: a client that registers again at once would get a queue that ends, too, and a refused
                    // reset would have ended them.
                    let ended = std::mem::take(&mut *queues.write());
                    for (queue, session) in ended {
                        fanout.remove(session.record().user, &queue);
                        session.dismiss(DomainError::BadEventQueue(queue));
                    }
                    pipeline.end_reset(&shared);
                    own.do_send(ResetDone);
                }
                let _ = answer.send(result);
            });
            committer.reset_realm(&realm, frames, done);
        });
        self.committer.clone().after_pending_commits(&self.realm.clone(), reset);
    }
}

/// The organization was created again.
#[derive(Message)]
#[rtype(result = "()")]
struct ResetDone;

impl Handler<ResetDone> for RealmActor {
    type Result = ();

    fn handle(&mut self, _: ResetDone, _: &mut Self::Context) {
        self.event_queues = EventQueues::of(&self.realm.view.read());
        // Their channels and conversations may be gone; those that remain get new actors.
        self.registry.channels.write().clear();
        self.registry.directs.write().clear();
    }
}
