//! A log in memory, for tests: no thread, no clock, and injected faults. What is durable here survives
//! [`MemoryLog::reopen`], as frames on a disk survive a crash of the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::append_queue::Owner;
use super::{Compacted, Durable, FrameBytes, Frames, LogError, Opened, RealmLog, Ticket};

/// At most this many appends are queued while commits are held, as in a journal.
const QUEUE_FRAMES_MAX: usize = 8192;

/// A [`RealmLog`] in memory. Appends are durable and reported before `append` returns, unless commits are held.
pub struct MemoryLog {
    /// Locked before `state` and while the sink runs, so that reports keep their order.
    sink: Mutex<Box<dyn Durable>>,
    state: Mutex<State>,
    disk: Arc<Mutex<Disk>>,
}

/// What survives a crash.
#[derive(Default)]
struct Disk {
    realms: BTreeMap<u32, Stored>,
}

#[derive(Clone)]
struct Stored {
    epoch: u64,
    first: u64,
    /// The payloads of frames `first` and on.
    payloads: VecDeque<Bytes>,
}

impl Default for Stored {
    fn default() -> Self {
        Self { epoch: 0, first: 1, payloads: VecDeque::new() }
    }
}

impl Stored {
    fn last(&self) -> u64 {
        self.first + self.payloads.len() as u64 - 1
    }
}

#[derive(Default)]
struct State {
    owners: BTreeMap<u32, Owner>,
    last_ticket: Ticket,
    queue: VecDeque<Waiting>,
    is_held: bool,
    /// The next group fails.
    fails_next: bool,
    stopped: Option<Arc<str>>,
    is_closed: bool,
}

struct Waiting {
    ticket: Ticket,
    frame: FrameBytes,
    is_trim: bool,
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new(sink: Box<dyn Durable>) -> Self {
        Self::on(Arc::default(), sink)
    }

    /// The log after a restart: with the durable frames of this one and none of the held ones. Closes this log.
    #[must_use]
    pub fn reopen(&self, sink: Box<dyn Durable>) -> Self {
        let mut state = self.state.lock();
        state.queue.clear();
        state.is_closed = true;
        state.stopped.get_or_insert_with(|| "the log was opened again".into());
        drop(state);
        Self::on(self.disk.clone(), sink)
    }

    fn on(disk: Arc<Mutex<Disk>>, sink: Box<dyn Durable>) -> Self {
        Self { sink: Mutex::new(sink), state: Mutex::default(), disk }
    }

    /// Holds appends, neither durable nor reported, until [`release`](Self::release).
    pub fn hold(&self) {
        self.state.lock().is_held = true;
    }

    /// Makes the oldest `count` of the held appends durable and reports them as one group. Later ones are held until
    /// [`resume`](Self::resume).
    pub fn release(&self, count: usize) {
        self.commit(count);
    }

    /// Makes all held appends durable and stops holding.
    pub fn resume(&self) {
        self.state.lock().is_held = false;
        self.commit(usize::MAX);
    }

    /// The next group is not stored: it and everything after it gets [`LogError::Unavailable`].
    pub fn fail_next(&self) {
        self.state.lock().fails_next = true;
    }

    /// Commits the first `count` waiting entries as one group and reports it.
    fn commit(&self, count: usize) {
        let mut sink = self.sink.lock();
        let mut state = self.state.lock();
        let count = count.min(state.queue.len());
        let group: Vec<Waiting> = state.queue.drain(..count).collect();
        let Some(last_ticket) = group.last().map(|waiting| waiting.ticket) else { return };
        if !std::mem::take(&mut state.fails_next) {
            self.store(group);
            drop(state);
            return sink.durable(last_ticket, Ok(()));
        }
        let reason: Arc<str> = "an injected fault".into();
        state.stopped = Some(reason.clone());
        let last_queued = state.queue.back().map(|queued| queued.ticket);
        state.queue.clear();
        drop(state);
        for ticket in [Some(last_ticket), last_queued].into_iter().flatten() {
            sink.durable(ticket, Err(LogError::Unavailable(reason.clone())));
        }
    }

    fn store(&self, group: Vec<Waiting>) {
        let mut disk = self.disk.lock();
        for waiting in group {
            let stored = disk.realms.entry(waiting.frame.realm).or_default();
            if waiting.is_trim {
                while stored.first < waiting.frame.sequence {
                    stored.payloads.pop_front();
                    stored.first += 1;
                }
            } else {
                stored.payloads.push_back(waiting.frame.payload);
            }
        }
    }

    fn queue(state: &mut State, frame: FrameBytes, is_trim: bool) -> Result<Ticket, LogError> {
        if state.queue.len() >= QUEUE_FRAMES_MAX {
            return Err(LogError::Behind);
        }
        state.last_ticket += 1;
        let ticket = state.last_ticket;
        state.queue.push_back(Waiting { ticket, frame, is_trim });
        Ok(ticket)
    }

    fn commit_unless_held(&self) {
        if !self.state.lock().is_held {
            self.commit(usize::MAX);
        }
    }
}

impl State {
    fn check_running(&self) -> Result<(), LogError> {
        match &self.stopped {
            Some(reason) => Err(LogError::Unavailable(reason.clone())),
            None => Ok(()),
        }
    }

    fn owner(&mut self, realm: u32) -> Result<&mut Owner, LogError> {
        self.check_running()?;
        self.owners.get_mut(&realm).ok_or(LogError::NotOpen { realm })
    }
}

impl RealmLog for MemoryLog {
    fn open(&self, realm: u32, min_epoch: u64) -> Result<Opened, LogError> {
        // Held appends could not be released while this waits, so they are committed.
        self.commit(usize::MAX);
        let mut state = self.state.lock();
        state.check_running()?;
        let mut disk = self.disk.lock();
        let stored = disk.realms.entry(realm).or_default();
        stored.epoch = min_epoch.max(stored.epoch + 1);
        let opened =
            Opened { epoch: stored.epoch, first_sequence: stored.first, last_sequence: stored.last() };
        let owner = Owner { epoch: opened.epoch, is_open: true, last: opened.last_sequence };
        state.owners.insert(realm, owner);
        Ok(opened)
    }

    fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError> {
        let (realm, sequence) = (frame.realm, frame.sequence);
        let mut state = self.state.lock();
        state.owner(realm)?.check(&frame, epoch)?;
        let ticket = Self::queue(&mut state, frame, false)?;
        state.owner(realm)?.last = sequence;
        drop(state);
        self.commit_unless_held();
        Ok(ticket)
    }

    fn read(&self, realm: u32, from_sequence: u64) -> Result<Frames, LogError> {
        let stored = self.disk.lock().realms.get(&realm).cloned().unwrap_or_default();
        let (first, last) = (stored.first, stored.last());
        if from_sequence < first || from_sequence > last + 1 {
            return Err(LogError::OutOfRange { realm, first, last, asked: from_sequence });
        }
        let frames =
            (first..).zip(stored.payloads).skip_while(move |(sequence, _)| *sequence < from_sequence);
        Ok(Box::new(
            frames
                .map(move |(sequence, payload)| Ok(FrameBytes { realm, sequence, payload, original: None })),
        ))
    }

    fn trim(&self, realm: u32, before_sequence: u64) -> Result<Ticket, LogError> {
        let mut state = self.state.lock();
        state.owner(realm)?;
        let stored = self.disk.lock().realms.get(&realm).cloned().unwrap_or_default();
        let (first, last) = (stored.first, stored.last());
        if before_sequence > last + 1 {
            return Err(LogError::OutOfRange { realm, first, last, asked: before_sequence });
        }
        let frame = FrameBytes { realm, sequence: before_sequence, payload: Bytes::new(), original: None };
        let ticket = Self::queue(&mut state, frame, true)?;
        drop(state);
        self.commit_unless_held();
        Ok(ticket)
    }

    fn compact(&self, _: &mut dyn FnMut(u64) -> bool) -> Result<Compacted, LogError> {
        // Frames in memory are as small as they can be.
        Ok(Compacted::Nothing)
    }

    fn realms(&self) -> Vec<u32> {
        let disk = self.disk.lock();
        disk.realms.iter().filter(|(_, stored)| stored.last() > 0).map(|(realm, _)| *realm).collect()
    }

    fn recover(&self) -> Result<(), LogError> {
        let mut state = self.state.lock();
        if state.is_closed {
            return state.check_running();
        }
        if state.stopped.take().is_some() {
            state.owners.clear();
        }
        Ok(())
    }

    fn close(&self) {
        self.state.lock().is_closed = true;
        self.commit(usize::MAX);
        self.state.lock().stopped.get_or_insert_with(|| "the log is closed".into());
    }
}
