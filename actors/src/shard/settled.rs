//! Commands that decide from what is durable. Most decisions run ahead of the disk on what their actor
//! remembers; an edit, a move or a new record of something shared needs the whole state, so it lets everything
//! that was decided before it become durable first, and what comes behind it waits its turn.

use crate::error::DomainError;
use actix::prelude::*;
use std::collections::VecDeque;

/// Commands that may wait for their turn in one actor. Past it they are refused as overloaded.
pub const SETTLED_MAX: usize = 4096;

/// A command of actor `A`, to be run on it later.
pub type Command<A> = Box<dyn FnOnce(&mut A, &mut <A as Actor>::Context)>;

struct Waiting<A: Actor> {
    /// Whether everything before it must be durable; what only keeps its place in the order need not wait.
    needs_settled: bool,
    run: Command<A>,
}

/// The commands of one actor that wait, in the order in which they came.
pub struct SettledQueue<A: Actor> {
    waiting: VecDeque<Waiting<A>>,
}

impl<A: Actor> Default for SettledQueue<A> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<A: Actor> SettledQueue<A> {
    /// Whether nothing waits: then a command that runs ahead of the disk may run at once.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether there is room for another command.
    ///
    /// # Errors
    /// `Overloaded` when there is none.
    pub fn check_room(&self) -> Result<(), DomainError> {
        if self.waiting.len() < SETTLED_MAX { Ok(()) } else { Err(DomainError::Overloaded) }
    }

    /// Adds a command. True when it is the first: the actor must then ask for its turn
    /// (`Committer::when_settled`), and again after each turn as long as something waits.
    #[must_use]
    pub fn push(&mut self, needs_settled: bool, run: Command<A>) -> bool {
        self.waiting.push_back(Waiting { needs_settled, run });
        self.waiting.len() == 1
    }

    /// The turn has come: the command that waited for it first, then those behind it that need not wait.
    pub fn take_turn(&mut self) -> Vec<Command<A>> {
        let mut turn: Vec<Command<A>> = self.waiting.pop_front().map(|first| first.run).into_iter().collect();
        while self.waiting.front().is_some_and(|next| !next.needs_settled) {
            turn.extend(self.waiting.pop_front().map(|next| next.run));
        }
        turn
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
    fn a_turn_ends_before_the_next_command_that_needs_one() {
        let mut queue = SettledQueue::<Log>::default();
        assert!(queue.push(true, note(1)));
        for (needs_settled, number) in [(false, 2), (false, 3), (true, 4), (false, 5)] {
            assert!(!queue.push(needs_settled, note(number)));
        }
        assert_eq!(queue.take_turn().len(), 3);
        assert!(!queue.is_empty());
        assert_eq!(queue.take_turn().len(), 2);
        assert!(queue.is_empty() && queue.take_turn().is_empty());
        assert!(queue.push(true, note(6)));
    }
}
