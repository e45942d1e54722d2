//! The end of idle connections when the server stops.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

/// Whether the server stops, for the connections of one thread.
#[derive(Clone, Default)]
pub struct Draining(Rc<State>);

#[derive(Default)]
struct State {
    is_draining: Cell<bool>,
    next: Cell<u64>,
    wakers: RefCell<BTreeMap<u64, Waker>>,
}

/// A connection that is woken when the server stops.
pub struct Idle {
    draining: Draining,
    number: u64,
}

impl Draining {
    /// Ends idle connections; the others end after their response.
    pub fn begin(&self) {
        self.0.is_draining.set(true);
        self.0.wakers.take().into_values().for_each(Waker::wake);
    }

    /// Whether the server stops.
    pub fn is_draining(&self) -> bool {
        self.0.is_draining.get()
    }

    /// Registers a connection by its task.
    pub fn idle(&self, waker: &Waker) -> Idle {
        let number = self.0.next.replace(self.0.next.get() + 1);
        self.0.wakers.borrow_mut().insert(number, waker.clone());
        Idle { draining: self.clone(), number }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.draining.0.wakers.borrow_mut().remove(&self.number);
    }
}
