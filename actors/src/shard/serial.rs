//! The serial queue of an actor: its commands are decided one after another, in the order in which they came.
//!
//! Most decisions run before earlier ones are durable, on the state that their actor remembers. An edit, a move or a new
//! version of a shared record is decided from the durable state: it waits until all earlier decisions are published, and
//! later commands wait for it.

use super::commit::Committer;
use super::pending::CommitCallback;
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
use std::time::Duration;

/// Maximum number of waiting commands of an actor. Beyond it, they are refused as overloaded.
const QUEUED_MAX: usize = 4096;

/// A command of actor `A`, to be run on it later.
pub type Command<A> = Box<dyn FnOnce(&mut A, &mut <A as Actor>::Context)>;

/// The state that a command is decided from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasedOn {
    /// What the actor remembers, uncommitted decisions included: only the order of the commands matters.
    Uncommitted,
    /// The durable state: all earlier decisions must be published first.
    Durable,
}

struct Queued<A: Actor> {
    based_on: BasedOn,
    run: Command<A>,
}

/// The waiting commands of one actor, in the order in which they came.
pub struct SerialQueue<A: Actor> {
    waiting: VecDeque<Queued<A>>,
    /// Monotonic time of the last command.
    last_used: Duration,
}

impl<A: Actor> Default for SerialQueue<A> {
    fn default() -> Self {
        Self::used_at(Duration::ZERO)
    }
}

impl<A: Actor> SerialQueue<A> {
    /// An empty queue of an actor that was used at a monotonic time.
    pub fn used_at(last_used: Duration) -> Self {
        Self { waiting: VecDeque::new(), last_used }
    }

    /// Whether no command is waiting.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a command. True when it is the first: the actor must then call [`SerialActor::schedule_next`].
    #[must_use]
    pub fn push(&mut self, based_on: BasedOn, run: Command<A>) -> bool {
        // Its writes are charged to the account of the current request.
        let requester = account::requester();
        let run: Command<A> = Box::new(move |actor, context| {
            account::work_for(requester, || run(actor, context));
        });
        self.waiting.push_back(Queued { based_on, run });
        self.waiting.len() == 1
    }

    /// The first command, and the following ones that need not wait until it is durable.
    fn take_next(&mut self) -> Vec<Command<A>> {
        let mut next: Vec<Command<A>> = self.waiting.pop_front().map(|first| first.run).into_iter().collect();
        while self.waiting.front().is_some_and(|queued| queued.based_on == BasedOn::Uncommitted) {
            next.extend(self.waiting.pop_front().map(|queued| queued.run));
        }
        next
    }
}

/// All earlier decisions are published: the first command of the queue may run.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct RunNext;

/// An actor with a serial queue.
pub(crate) trait SerialActor: Actor<Context = Context<Self>> + Handler<RunNext> {
    fn queue(&mut self) -> &mut SerialQueue<Self>;

    fn realm(&self) -> &Arc<RealmShared>;

    fn committer(&self) -> &Rc<Committer>;

    /// Commits facts, and remembers them until they are durable. False if the log refused them: then `done` was called
    /// with the error, and nothing has changed.
    fn commit(&mut self, ctx: &Context<Self>, ids: Sequencer, facts: Vec<Fact>, done: CommitCallback)
    -> bool;

    /// Runs a command after the waiting ones: at once if none is waiting and it is based on the uncommitted state.
    fn in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        based_on: BasedOn,
        answer: ReplySender<T>,
        run: impl FnOnce(&mut Self, &mut Context<Self>, ReplySender<T>) + 'static,
    ) {
        let now = self.realm().clock.monotonic();
        self.queue().last_used = now;
        if based_on == BasedOn::Uncommitted && self.queue().is_empty() {
            return run(self, ctx, answer);
        }
        if self.queue().waiting.len() >= QUEUED_MAX {
            return drop(answer.send(Err(DomainError::Overloaded)));
        }
        let run = Box::new(move |actor: &mut Self, ctx: &mut Context<Self>| run(actor, ctx, answer));
        if self.queue().push(based_on, run) {
            self.schedule_next(ctx);
        }
    }

    /// Whether the actor got no command for `secs` seconds, none is waiting and none of its decisions is pending: the next
    /// actor can start from the durable state.
    fn is_unused_for(&mut self, secs: u64) -> bool {
        let unused = self.realm().clock.monotonic().saturating_sub(self.queue().last_used);
        unused > Duration::from_secs(secs) && self.queue().is_empty() && self.committer().is_idle()
    }

    /// Runs the first command when all earlier decisions are published, or have failed: then it gets the error when it
    /// asks for ids.
    fn schedule_next(&self, ctx: &Context<Self>) {
        let own = ctx.address();
        self.committer().after_pending_commits(self.realm(), Box::new(move |_| own.do_send(RunNext)));
    }

    fn run_next(&mut self, ctx: &mut Context<Self>) {
        for command in self.queue().take_next() {
            command(self, ctx);
        }
        if !self.queue().is_empty() {
            self.schedule_next(ctx);
        }
    }

    /// Commits a decision and sends its outcome when it is durable; at once if it was refused or changes nothing.
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
        use BasedOn::{Durable, Uncommitted};
        let mut queue = SerialQueue::<Log>::default();
        assert!(queue.push(Durable, note(1)));
        for (based_on, number) in [(Uncommitted, 2), (Uncommitted, 3), (Durable, 4), (Uncommitted, 5)] {
            assert!(!queue.push(based_on, note(number)));
        }
        assert_eq!(queue.take_next().len(), 3);
        assert!(!queue.is_empty());
        assert_eq!(queue.take_next().len(), 2);
        assert!(queue.is_empty() && queue.take_next().is_empty());
        assert!(queue.push(Durable, note(6)));
    }
}
