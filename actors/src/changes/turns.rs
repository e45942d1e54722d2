//! How an actor takes turns: a change waits until everything decided before it is durable, and what comes
//! behind it waits for it, so that the commands of a channel or conversation have one order.

use super::{Change, ChangeCommand, Home, Moment, Routed, Verdict};
use crate::Answer;
use crate::error::DomainError;
use crate::shard::{Committer, Done, Sequencer, SettledQueue};
use crate::shared::RealmShared;
use actix::prelude::*;
use model::Fact;
use std::rc::Rc;
use std::sync::Arc;

/// Everything decided so far is published: whoever waits longest may decide.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct TakeTurn;

/// An actor whose commands take turns.
pub(crate) trait TakesTurns: Actor<Context = Context<Self>> + Handler<TakeTurn> {
    /// The commands that wait.
    fn waiting(&mut self) -> &mut SettledQueue<Self>;

    /// The organization.
    fn realm(&self) -> &Arc<RealmShared>;

    /// The way to the disk.
    fn committer(&self) -> &Rc<Committer>;

    /// What it decides for.
    fn home(&self) -> Home<'_>;

    /// Commits what was decided, and remembers it.
    fn commit_change(&mut self, ids: Sequencer, facts: Vec<Fact>, done: Done);

    /// Runs a command behind those that wait already: at once when nothing waits and it need not wait either.
    fn in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        needs_settled: bool,
        answer: Answer<T>,
        run: impl FnOnce(&mut Self, Answer<T>) + 'static,
    ) {
        if !needs_settled && self.waiting().is_empty() {
            return run(self, answer);
        }
        if let Err(error) = self.waiting().check_room() {
            return drop(answer.send(Err(error)));
        }
        let run = Box::new(move |actor: &mut Self, _: &mut Context<Self>| run(actor, answer));
        if self.waiting().push(needs_settled, run) {
            self.ask_for_turn(ctx);
        }
    }

    /// After a failure the turn comes all the same: the commands find out when they ask for ids.
    fn ask_for_turn(&self, ctx: &Context<Self>) {
        let own = ctx.address();
        self.committer().when_settled(self.realm(), Box::new(move |_| own.do_send(TakeTurn)));
    }

    /// Runs the commands whose turn it is.
    fn take_turn(&mut self, ctx: &mut Context<Self>) {
        for command in self.waiting().take_turn() {
            command(self, ctx);
        }
        if !self.waiting().is_empty() {
            self.ask_for_turn(ctx);
        }
    }

    /// Queues a change and decides it when its turn has come.
    fn change<C: ChangeCommand>(&mut self, ctx: &mut Context<Self>, change: Change<C>) {
        let Change { command, answer } = change;
        self.in_order(ctx, true, answer, move |actor, answer| actor.decide_change(&*command, answer));
    }

    /// Decides a change now.
    fn decide_change<C: ChangeCommand>(&mut self, command: &C, answer: Answer<Routed<C::Outcome>>) {
        let realm = self.realm().clone();
        let decided = self.committer().ids(realm.id).and_then(|ids| {
            let view = realm.view.read();
            let now = realm.clock.now();
            let is_changing = |channel| self.committer().channel_ahead(realm.id, channel).is_some();
            let (home, is_changing) = (self.home(), &is_changing);
            let mut moment = Moment { realm: &realm, view: &view, home, now, ids, is_changing };
            let verdict = command.decide(&mut moment)?;
            Ok((moment.ids, verdict))
        });
        match decided {
            Err(error) => drop(answer.send(Err(error))),
            Ok((_, Verdict::Elsewhere)) => drop(answer.send(Ok(Routed::Elsewhere))),
            Ok((_, Verdict::Decided(outcome, facts))) if facts.is_empty() => {
                let _ = answer.send(Ok(Routed::Done(outcome)));
            }
            Ok((ids, Verdict::Decided(outcome, facts))) => {
                let done = Box::new(move |result: Result<(), DomainError>| {
                    let _ = answer.send(result.map(|()| Routed::Done(outcome)));
                });
                self.commit_change(ids, facts, done);
            }
        }
    }
}
