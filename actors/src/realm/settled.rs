//! Commands of the organization that decide from what is durable, one after the other: changes of channels,
//! folders, groups and settings. Each has a record to look at that nobody else is just changing.

use super::actor::RealmActor;
use crate::Answer;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{Directory, Fact, Timestamp};
use std::sync::Arc;

/// What a command decides from: nothing that the organization's actor decided before is missing in it.
pub(crate) struct Moment<'a> {
    /// The organization.
    pub realm: &'a Arc<RealmShared>,
    /// Everything but the messages, as of now.
    pub directory: Directory,
    /// Now.
    pub now: Timestamp,
    /// The next ids; those taken count once the facts are committed.
    pub ids: Sequencer,
}

/// A command that decides from what is durable.
pub(crate) trait SettledCommand: Send + 'static {
    /// What the caller is told when the facts are durable; at once when there are none.
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame.
    ///
    /// # Errors
    /// Whatever the command's rules refuse; nothing changes then.
    fn decide(self, moment: &mut Moment<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError>;
}

/// A command, and where its outcome goes.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Settle<C: SettledCommand> {
    /// What to decide.
    pub command: C,
    /// Gets the outcome when it is durable.
    pub answer: Answer<C::Outcome>,
}

/// Everything decided so far is published: whoever waits longest may decide.
#[derive(Message)]
#[rtype(result = "()")]
struct TakeTurn;

impl RealmActor {
    /// Runs a command behind those that wait already: at once when nothing waits and it need not wait either.
    pub(super) fn in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        needs_settled: bool,
        answer: Answer<T>,
        run: impl FnOnce(&mut Self, &mut Context<Self>, Answer<T>) + 'static,
    ) {
        if !needs_settled && self.settled.is_empty() {
            return run(self, ctx, answer);
        }
        if let Err(error) = self.settled.check_room() {
            return drop(answer.send(Err(error)));
        }
        let is_first = self.settled.push(needs_settled, Box::new(move |actor, ctx| run(actor, ctx, answer)));
        if is_first {
            self.ask_for_turn(ctx);
        }
    }

    /// After a failure the turn comes all the same: the commands find out when they ask for ids.
    fn ask_for_turn(&self, ctx: &Context<Self>) {
        let own = ctx.address();
        self.committer.when_settled(&self.realm, Box::new(move |_| own.do_send(TakeTurn)));
    }

    fn decide_settled<C: SettledCommand>(
        &mut self,
        ctx: &Context<Self>,
        command: C,
        answer: Answer<C::Outcome>,
    ) {
        let realm = self.realm.clone();
        let decided = self.committer.ids(realm.id).and_then(|ids| {
            let (directory, now) = (realm.directory(), realm.clock.now());
            let mut moment = Moment { realm: &realm, directory, now, ids };
            let (outcome, facts) = command.decide(&mut moment)?;
            Ok((moment.ids, outcome, facts))
        });
        match decided {
            Err(error) => drop(answer.send(Err(error))),
            Ok((_, outcome, facts)) if facts.is_empty() => drop(answer.send(Ok(outcome))),
            Ok((ids, outcome, facts)) => {
                let done = Box::new(move |result: Result<(), DomainError>| {
                    let _ = answer.send(result.map(|()| outcome));
                });
                self.commit(ctx, ids, facts, done);
            }
        }
    }
}

impl<C: SettledCommand> Handler<Settle<C>> for RealmActor {
    type Result = ();

    fn handle(&mut self, Settle { command, answer }: Settle<C>, ctx: &mut Self::Context) {
        self.in_order(ctx, true, answer, move |actor, ctx, answer| {
            actor.decide_settled(ctx, command, answer);
        });
    }
}

impl Handler<TakeTurn> for RealmActor {
    type Result = ();

    fn handle(&mut self, _: TakeTurn, ctx: &mut Self::Context) {
        for command in self.settled.take_turn() {
            command(self, ctx);
        }
        if !self.settled.is_empty() {
            self.ask_for_turn(ctx);
        }
    }
}
