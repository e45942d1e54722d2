//! What appenders and the writer of a log share: the owners of realms and the queue.

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use storage::log::{Durable, FrameBytes, LogError, PAYLOAD_BYTES_MAX, Ticket};
use tokio::sync::Notify;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A queued frame or trim.
pub(crate) struct Job {
    pub ticket: Ticket,
    pub realm: u32,
    pub epoch: u64,
    pub sequence: u64,
    pub kind: JobKind,
}

pub(crate) enum JobKind {
    /// A frame, with the checksum over it and everything before it.
    Frame {
        payload: Bytes,
        chain: u64,
    },
    Trim,
}

impl Job {
    /// Its size in the queue.
    pub fn bytes(&self) -> usize {
        match &self.kind {
            JobKind::Frame { payload, .. } => payload.len(),
            JobKind::Trim => 0,
        }
    }
}

#[derive(Default)]
pub(crate) struct Owner {
    pub epoch: u64,
    /// The last sequence that was queued, and its chain.
    pub last: u64,
    pub chain: u64,
    /// Another owner has the realm, with this epoch.
    pub fenced: Option<u64>,
}

#[derive(Default)]
pub(crate) struct AppendQueue {
    pub queue: VecDeque<Job>,
    pub queue_bytes: usize,
    pub owners: HashMap<u32, Owner>,
    pub last_ticket: Ticket,
    /// The last ticket that was reported.
    pub reported: Ticket,
    pub is_closed: bool,
}

pub(crate) struct Shared {
    pub appends: Mutex<AppendQueue>,
    /// A job was queued, or the log is closed.
    pub queued: Notify,
    /// A ticket was reported.
    pub progress: Condvar,
    pub queue_frames_max: usize,
    pub queue_bytes_max: usize,
}

/// The checksum over a frame and everything before it.
pub(crate) fn chained(before: u64, payload: &[u8]) -> u64 {
    xxh3_64_with_seed(payload, before)
}

impl Shared {
    /// An empty queue with these bounds.
    pub fn new(queue_frames_max: usize, queue_bytes_max: usize) -> Self {
        Self {
            appends: Mutex::default(),
            queued: Notify::new(),
            progress: Condvar::new(),
            queue_frames_max,
            queue_bytes_max,
        }
    }

    fn closed() -> LogError {
        LogError::Unavailable("the log is closed".into())
    }

    /// Queues a frame.
    pub fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError> {
        let (realm, sequence) = (frame.realm, frame.sequence);
        let mut guard = self.appends.lock();
        let appends = &mut *guard;
        if appends.is_closed {
            return Err(Self::closed());
        }
        let owner = appends.owners.get_mut(&realm).ok_or(LogError::NotOpen { realm })?;
        owner.check(&frame, epoch)?;
        let bytes = frame.payload.len();
        let is_full = appends.queue.len() >= self.queue_frames_max
            || (!appends.queue.is_empty() && appends.queue_bytes + bytes > self.queue_bytes_max);
        if is_full {
            return Err(LogError::Behind);
        }
        let chain = chained(owner.chain, &frame.payload);
        (owner.last, owner.chain) = (sequence, chain);
        appends.last_ticket += 1;
        appends.queue_bytes += bytes;
        let kind = JobKind::Frame { payload: frame.payload, chain };
        appends.queue.push_back(Job { ticket: appends.last_ticket, realm, epoch, sequence, kind });
        let ticket = appends.last_ticket;
        drop(guard);
        self.queued.notify_one();
        Ok(ticket)
    }

    /// Queues a trim.
    pub fn trim(&self, realm: u32, before: u64) -> Result<Ticket, LogError> {
        let mut appends = self.appends.lock();
        if appends.is_closed {
            return Err(Self::closed());
        }
        let epoch = appends.owners.get(&realm).ok_or(LogError::NotOpen { realm })?.epoch;
        if appends.queue.len() >= self.queue_frames_max {
            return Err(LogError::Behind);
        }
        appends.last_ticket += 1;
        let ticket = appends.last_ticket;
        appends.queue.push_back(Job { ticket, realm, epoch, sequence: before, kind: JobKind::Trim });
        drop(appends);
        self.queued.notify_one();
        Ok(ticket)
    }

    /// The next jobs: at most `frames` and, but for the first, `bytes`; a trim is alone. Those of fenced realms come back
    /// marked when they are reported.
    pub fn take(&self, frames: usize, bytes: usize) -> Vec<Job> {
        let mut appends = self.appends.lock();
        let (mut taken, mut size) = (Vec::new(), 0);
        while let Some(next) = appends.queue.front() {
            let is_trim = matches!(next.kind, JobKind::Trim);
            let fits = taken.is_empty() || (!is_trim && taken.len() < frames && size + next.bytes() <= bytes);
            if !fits {
                break;
            }
            size += next.bytes();
            taken.extend(appends.queue.pop_front());
            if is_trim {
                break;
            }
        }
        appends.queue_bytes -= size;
        taken
    }

    /// Whether the log is closed and nothing is queued.
    pub fn is_done(&self) -> bool {
        let appends = self.appends.lock();
        appends.is_closed && appends.queue.is_empty()
    }

    /// The epoch of another owner, if a frame under `epoch` was fenced.
    pub fn fenced(&self, realm: u32, epoch: u64) -> Option<u64> {
        let appends = self.appends.lock();
        let owner = appends.owners.get(&realm)?;
        if owner.epoch > epoch { Some(owner.epoch) } else { owner.fenced }
    }

    /// Frames of the realm are refused from here on.
    pub fn fence(&self, realm: u32, epoch: u64, current: u64) {
        let mut appends = self.appends.lock();
        if let Some(owner) = appends.owners.get_mut(&realm).filter(|owner| owner.epoch == epoch) {
            owner.fenced = Some(current);
        }
    }

    /// Reports jobs in the order of their tickets, neighbors with the same result at once.
    pub fn report(&self, sink: &mut dyn Durable, results: Vec<(Ticket, Result<(), LogError>)>) {
        let mut results = results.into_iter().peekable();
        while let Some((ticket, result)) = results.next() {
            if result.is_ok() && results.peek().is_some_and(|(_, next)| next.is_ok()) {
                continue;
            }
            sink.durable(ticket, result);
            self.appends.lock().reported = ticket;
            self.progress.notify_all();
        }
    }
}

impl Owner {
    fn check(&self, frame: &FrameBytes, epoch: u64) -> Result<(), LogError> {
        let (realm, bytes, expected) = (frame.realm, frame.payload.len(), self.last + 1);
        if bytes > PAYLOAD_BYTES_MAX {
            return Err(LogError::TooLarge { bytes });
        }
        if self.epoch != epoch {
            return Err(LogError::Fenced { realm, epoch, current: self.epoch });
        }
        if let Some(current) = self.fenced {
            return Err(LogError::Fenced { realm, epoch, current });
        }
        match frame.sequence {
            given if given != expected => Err(LogError::Sequence { realm, expected, given }),
            _ => Ok(()),
        }
    }
}
