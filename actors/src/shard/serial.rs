//! The serial queue of an actor: its commands are decided one after another, in the order in which they came.
//!
//! Most decisions run before earlier ones are durable, on what their actor remembers. An edit, a move or a new version of
//! a shared record is decided from the durable state: it waits until everything decided before it is published, and what
//! comes behind it waits for it.

use super::commit::{Committer, Done};
use super::sequencer::Sequencer;
use crate::ReplySender;
use crate::account;
use crate::error::DomainError;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::Fact;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// Commands that may wait in one actor. Past it they are refused as overloaded.
pub const QUEUED_MAX: usize = 4096;

/// A command of actor `A`, to be run on it later.
pub type Command<A> = Box<dyn FnOnce(&mut A, &mut <A as Actor>::Context)>;

struct Queued<A: Actor> {
    /// Whether everything before it must be durable; otherwise it only keeps its place in the order.
    needs_durable: bool,
    run: Command<A>,
}

/// The waiting commands of one actor, in the order in which they came.
pub struct SerialQueue<A: Actor> {
    waiting: VecDeque<Queued<A>>,
}

impl<A: Actor> Default for SerialQueue<A> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<A: Actor> SerialQueue<A> {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a command. True when it is the first: the actor must then call [`SerialActor::schedule_next`].
    #[must_use]
    pub fn push(&mut self, needs_durable: bool, run: Command<A>) -> bool {
        // Its writes are charged to the account of the request, whenever it runs.
        let account = account::current();
        let run: Command<A> = Box::new(move |actor, context| {
            account::work_for(account, || run(actor, context));
        });
        self.waiting.push_back(Queued { needs_durable, run });
        self.waiting.len() == 1
    }

    /// The first command, and those behind it that need not wait for it to be durable.
    fn take_next(&mut self) -> Vec<Command<A>> {
        let mut next: Vec<Command<A>> = self.waiting.pop_front().map(|first| first.run).into_iter().collect();
        while self.waiting.front().is_some_and(|queued| !queued.needs_durable) {
            next.extend(self.waiting.pop_front().map(|queued| queued.run));
        }
        next
    }
}

/// Everything decided so far is published: the first command of the queue may run.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct RunNext;

/// An actor with a serial queue.
pub(crate) trait SerialActor: Actor<Context = Context<Self>> + Handler<RunNext> {
    /// The waiting commands.
    fn queue(&mut self) -> &mut SerialQueue<Self>;

    /// The organization that is decided about.
    fn realm(&self) -> &Arc<RealmShared>;

    /// The commit pipeline.
    fn committer(&self) -> &Rc<Committer>;

    /// Commits facts, and remembers them until they are durable. False when the log refused: then `done` was called with
    /// the error, and nothing has changed.
    fn commit(&mut self, ctx: &Context<Self>, ids: Sequencer, facts: Vec<Fact>, done: Done) -> bool;

    /// Runs a command behind the waiting ones: at once when nothing waits and it does not need everything durable.
    fn in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        needs_durable: bool,
        answer: ReplySender<T>,
        run: impl FnOnce(&mut Self, &mut Context<Self>, ReplySender<T>) + 'static,
    ) {
        if !needs_durable && self.queue().is_empty() {
            return run(self, ctx, answer);
        }
        if self.queue().waiting.len() >= QUEUED_MAX {
            return drop(answer.send(Err(DomainError::Overloaded)));
        }
        let run = Box::new(move |actor: &mut Self, ctx: &mut Context<Self>| run(actor, ctx, answer));
        if self.queue().push(needs_durable, run) {
            self.schedule_next(ctx);
        }
    }

    /// Lets the first command run when everything decided so far is published. After a failure it runs, too: it gets the
    /// error when it asks for ids.
    fn schedule_next(&self, ctx: &Context<Self>) {
        let own = ctx.address();
        self.committer().after_pending_commits(self.realm(), Box::new(move |_| own.do_send(RunNext)));
    }

    /// Runs the commands that may run now.
    fn run_next(&mut self, ctx: &mut Context<Self>) {
        for command in self.queue().take_next() {
            command(self, ctx);
        }
        if !self.queue().is_empty() {
            self.schedule_next(ctx);
        }
    }

    /// Commits a decision and sends its outcome when it is durable; at once when it was refused or changes nothing.
    fn conclude<T: 'static>(
        &mut self,
        ctx: &Context<Self>,
        decided: Result<(Sequencer, T, Vec<Fact>), DomainError>,
        answer: ReplySender<T>,
    ) -> bool {
        match decided {
            Err(error) => {
                let _ = answer.send(Err(error));
                false
            }
            Ok((_, outcome, facts)) if facts.is_empty() => {
                let _ = answer.send(Ok(outcome));
                false
            }
            Ok((ids, outcome, facts)) => {
                let done = Box::new(move |result: Result<(), DomainError>| {
                    let _ = answer.send(result.map(|()| outcome));
                });
                self.commit(ctx, ids, facts, done)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Log(Vec<u32>);

    impl Actor for Log {
        type Context = Context<Self>;
    }

    fn note(number: u32) -> Command<Log> {
        Box::new(move |log, _| log.0.push(number))
    }

    #[test]
    fn run_ends_before_next_command_that_needs_durable_state() {
        let mut queue = SerialQueue::<Log>::default();
        assert!(queue.push(true, note(1)));
        for (needs_durable, number) in [(false, 2), (false, 3), (true, 4), (false, 5)] {
            assert!(!queue.push(needs_durable, note(number)));
        }
        assert_eq!(queue.take_next().len(), 3);
        assert!(!queue.is_empty());
        assert_eq!(queue.take_next().len(), 2);
        assert!(queue.is_empty() && queue.take_next().is_empty());
        assert!(queue.push(true, note(6)));
    }
}
