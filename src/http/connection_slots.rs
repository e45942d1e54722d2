//! The connection slots of one thread. When few are left, connections without an account are closed for new
//! ones: a client without credentials could otherwise hold all of them with connections that cost it nothing.
//!
//! A connection whose current request has valid credentials, such as a poll that waits, is never closed for another one.

use super::address::Network;
use metrics::Counter;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::task::futures::TaskLocalFuture;

/// A sixteenth of the slots is kept free for new connections, up to [`SPARE_MAX`].
const SPARE_PART: usize = 16;
const SPARE_MAX: usize = 256;
/// Connections of a network beyond this part of the slots are closed before those of others.
const SHARE_PART: usize = 16;

tokio::task_local! {
    /// The connection that the current task serves.
    static CURRENT: Rc<Connected>;
}

/// The slots of a thread. Clones are the same slots.
#[derive(Clone)]
pub struct ConnectionSlots(Rc<Inner>);

struct Inner {
    /// At this many connections, some are closed before a further one is served.
    used_max: usize,
    /// How many are closed then: each time all connections are compared.
    closed_at_once: usize,
    /// Beyond this many, the connections of a network are closed first.
    share_max: usize,
    steps: Rc<Steps>,
    taken: RefCell<BTreeMap<u64, Rc<Connected>>>,
    /// Connections that were chosen and are not closed yet.
    closing: Cell<usize>,
    /// Whether it was logged, since half of the slots were free, that connections are closed for new ones.
    is_logged: Cell<bool>,
    closed: Counter,
}

/// Numbers what happens: connections, and the begin and end of requests.
#[derive(Default)]
struct Steps(Cell<u64>);

impl Steps {
    fn next(&self) -> u64 {
        let next = self.0.get() + 1;
        self.0.set(next);
        next
    }
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    /// Neither the current request nor the one before had valid credentials; or there was none yet.
    Anonymous,
    /// The last request had valid credentials, and none has followed.
    Idle,
    /// The current request has valid credentials.
    Working,
}

/// A connection, as its task and those that look for room see it.
struct Connected {
    /// The network of the client, for IPv6 its /48; none for a trusted proxy, whose connections are not closed.
    site: Option<Network>,
    usage: Cell<Usage>,
    steps: Rc<Steps>,
    /// The step in which it was accepted, or its last request began or ended.
    last: Cell<u64>,
    is_closing: Cell<bool>,
    task: RefCell<Option<Waker>>,
}

/// Which connections are closed first; of each kind the one whose last request was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    AnonymousBeyondShare,
    Anonymous,
    Idle,
}

/// The slot of a connection, until it is dropped.
pub struct ConnectionSlot {
    slots: ConnectionSlots,
    number: u64,
    connected: Rc<Connected>,
}

impl ConnectionSlots {
    /// Slots for this many connections.
    pub fn new(connections_max: usize) -> Self {
        let spare = (connections_max / SPARE_PART).min(SPARE_MAX);
        let closed = metrics::counter!("millstream_http_connections_displaced_total");
        closed.increment(0);
        Self(Rc::new(Inner {
            used_max: connections_max - spare,
            closed_at_once: (spare / 2).max(1),
            share_max: (connections_max / SHARE_PART).max(1),
            steps: Rc::default(),
            taken: RefCell::default(),
            closing: Cell::new(0),
            is_logged: Cell::new(false),
            closed,
        }))
    }

    /// The slot of a new connection. `client` is none for a trusted proxy, which has clients of its own.
    pub fn take(&self, client: Option<Network>) -> ConnectionSlot {
        self.0.make_room();
        let number = self.0.steps.next();
        let connected = Rc::new(Connected {
            site: client.map(Network::site),
            usage: Cell::new(Usage::Anonymous),
            steps: self.0.steps.clone(),
            last: Cell::new(number),
            is_closing: Cell::new(false),
            task: RefCell::default(),
        });
        self.0.taken.borrow_mut().insert(number, connected.clone());
        ConnectionSlot { slots: self.clone(), number, connected }
    }
}

impl Inner {
    /// Closes connections if nearly all slots are taken.
    fn make_room(&self) {
        let taken = self.taken.borrow();
        if taken.len() - self.closing.get() < self.used_max {
            return;
        }
        let is_closable = |one: &&Rc<Connected>| one.usage.get() != Usage::Working && !one.is_closing.get();
        let mut by_site: HashMap<Network, usize> = HashMap::new();
        for one in taken.values().filter(is_closable) {
            if let (Some(site), Usage::Anonymous) = (one.site, one.usage.get()) {
                *by_site.entry(site).or_default() += 1;
            }
        }
        let rank = |one: &Connected| {
            let site = one.site?;
            let is_beyond = by_site.get(&site).is_some_and(|count| *count > self.share_max);
            match one.usage.get() {
                Usage::Anonymous if is_beyond => Some(Rank::AnonymousBeyondShare),
                Usage::Anonymous => Some(Rank::Anonymous),
                Usage::Idle => Some(Rank::Idle),
                Usage::Working => None,
            }
        };
        let closable = taken.values().filter(is_closable);
        let mut closable: Vec<_> =
            closable.filter_map(|one| Some((rank(one)?, one.last.get(), one))).collect();
        closable.sort_unstable_by_key(|(rank, last, _)| (*rank, *last));
        for (_, _, one) in closable.into_iter().take(self.closed_at_once) {
            self.close(one);
        }
    }

    fn close(&self, one: &Connected) {
        one.is_closing.set(true);
        self.closing.set(self.closing.get() + 1);
        self.closed.increment(1);
        if !self.is_logged.replace(true) {
            tracing::warn!("nearly all connections are in use: idle ones are closed for new ones");
        }
        if let Some(task) = one.task.take() {
            task.wake();
        }
    }
}

impl ConnectionSlot {
    /// Serves the connection until it ends or is closed for another one.
    pub fn serve<F: Future<Output = io::Result<()>>>(self, served: F) -> Served<F> {
        let served = Box::pin(CURRENT.scope(self.connected.clone(), served));
        Served { served, slot: self }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Inner { taken, closing, is_logged, used_max, .. } = &*self.slots.0;
        taken.borrow_mut().remove(&self.number);
        if self.connected.is_closing.get() {
            closing.set(closing.get() - 1);
        }
        if taken.borrow().len() < used_max / 2 {
            is_logged.set(false);
        }
    }
}

/// The future of [`ConnectionSlot::serve`].
pub struct Served<F> {
    served: Pin<Box<TaskLocalFuture<Rc<Connected>, F>>>,
    slot: ConnectionSlot,
}

impl<F: Future<Output = io::Result<()>>> Future for Served<F> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { served, slot } = self.get_mut();
        let connected = &slot.connected;
        let mut task = connected.task.borrow_mut();
        if task.as_ref().is_none_or(|task| !task.will_wake(cx.waker())) {
            *task = Some(cx.waker().clone());
        }
        drop(task);
        // Before the end, so that a request with valid credentials that has just arrived is answered.
        let polled = served.as_mut().poll(cx);
        if polled.is_pending() && connected.is_closing.get() && connected.usage.get() != Usage::Working {
            return Poll::Ready(Ok(()));
        }
        polled
    }
}

/// The current connection has received a request.
pub fn begin_request() {
    change(|connected| connected.usage.set(Usage::Anonymous));
}

/// The current request has valid credentials: its connection stays until the response is complete.
pub fn has_valid_credentials() {
    change(|connected| connected.usage.set(Usage::Working));
}

/// The response to the current request is complete.
pub fn end_request() {
    change(|connected| {
        if connected.usage.get() == Usage::Working {
            connected.usage.set(Usage::Idle);
        }
    });
}

fn change(change: impl FnOnce(&Connected)) {
    // Without a connection, as in tests of single parts, there is nothing to record.
    let _ = CURRENT.try_with(|connected| {
        connected.last.set(connected.steps.next());
        change(connected);
    });
}

#[cfg(test)]
mod tests;
