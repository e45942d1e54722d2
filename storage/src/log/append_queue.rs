//! The state that appenders, readers and the writer of a journal share: the owners of realms, the queue, and the index of
//! durable frames.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use parking_lot::{Condvar, Mutex};

use super::codec::RecordKind;
use super::compact::Files;
use super::error::LogError;
use super::index::Index;
use super::{FrameBytes, PAYLOAD_BYTES_MAX, Ticket};

/// A queued frame or trim.
pub(crate) struct Job {
    pub ticket: Ticket,
    pub epoch: u64,
    pub kind: RecordKind,
    /// For a trim: the realm, the first sequence to keep, and no payload.
    pub frame: FrameBytes,
}

/// The shared state of a journal.
pub(crate) struct Shared {
    pub appends: Mutex<AppendQueue>,
    /// A job was queued, or the journal accepts no more. A condition and not a channel, because a channel spins and yields
    /// before it sleeps, which a writer that waits for a disk most of the time does for each group.
    pub queued: Condvar,
    pub queued_bytes: AtomicUsize,
    pub durable: Mutex<DurableState>,
    pub durable_changed: Condvar,
    /// The next group begins a new segment.
    pub is_seal_wanted: AtomicBool,
    /// Held while parts of the journal are removed or replaced.
    pub files: Mutex<Files>,
}

/// Checks appends and queues them.
pub(crate) struct AppendQueue {
    /// Whether the journal accepts more.
    pub is_open: bool,
    /// What the writer has not taken yet.
    pub queue: VecDeque<Job>,
    pub queue_frames_max: usize,
    /// Why the journal accepts no more.
    pub stopped: Option<LogError>,
    pub owners: HashMap<u32, Owner>,
    pub last_ticket: Ticket,
}

#[derive(Default)]
pub(crate) struct Owner {
    pub epoch: u64,
    /// Whether the realm was opened since the journal was opened.
    pub is_open: bool,
    /// The last sequence that was queued.
    pub last: u64,
}

/// What has been committed.
#[derive(Default)]
pub(crate) struct DurableState {
    pub index: Index,
    pub waiters: usize,
    /// Nothing more will become durable.
    pub is_stopped: bool,
    /// How often all frames before a group were in sealed segments because that was asked for.
    pub seals: u64,
    /// A trim was committed and segments may be removable.
    pub is_trimmed: bool,
}

impl DurableState {
    /// That of a journal that was just opened. A crash may have left segments whose frames were trimmed.
    pub(crate) fn opened(index: Index) -> Self {
        Self { index, is_trimmed: true, ..Self::default() }
    }
}

impl Shared {
    /// That of a journal that was just opened, with an empty queue.
    pub(crate) fn opened(
        owners: HashMap<u32, Owner>,
        queue_frames_max: usize,
        durable: DurableState,
    ) -> Self {
        let queue = VecDeque::new();
        let appends =
            AppendQueue { is_open: true, queue, queue_frames_max, stopped: None, owners, last_ticket: 0 };
        Self {
            appends: Mutex::new(appends),
            queued: Condvar::new(),
            queued_bytes: AtomicUsize::new(0),
            durable: Mutex::new(durable),
            durable_changed: Condvar::new(),
            is_seal_wanted: AtomicBool::new(false),
            files: Mutex::default(),
        }
    }

    /// Accepts no more appends. The first reason is kept.
    pub(crate) fn stop(&self, reason: &LogError) {
        let mut appends = self.appends.lock();
        appends.is_open = false;
        appends.stopped.get_or_insert_with(|| reason.clone());
        drop(appends);
        self.queued.notify_one();
        self.durable.lock().is_stopped = true;
        self.durable_changed.notify_all();
    }
}

impl Owner {
    /// Whether a frame is the next one of its realm and comes from the current owner.
    pub(crate) fn check(&self, frame: &FrameBytes, epoch: u64) -> Result<(), LogError> {
        let (realm, bytes, expected) = (frame.realm, frame.payload.len(), self.last + 1);
        if bytes > PAYLOAD_BYTES_MAX {
            return Err(LogError::TooLarge { bytes });
        }
        if self.epoch != epoch {
            return Err(LogError::Fenced { realm, epoch, current: self.epoch });
        }
        match frame.sequence {
            given if given != expected => Err(LogError::Sequence { realm, expected, given }),
            _ => Ok(()),
        }
    }
}

impl AppendQueue {
    pub(crate) fn owner(&self, realm: u32) -> Result<&Owner, LogError> {
        self.owners.get(&realm).filter(|owner| owner.is_open).ok_or(LogError::NotOpen { realm })
    }

    pub(crate) fn unavailable(&self) -> LogError {
        self.stopped.clone().unwrap_or_else(|| LogError::Unavailable("the journal is closed".into()))
    }

    pub(crate) fn queue(&mut self, job: Job) -> Result<Ticket, LogError> {
        if !self.is_open {
            return Err(self.unavailable());
        }
        if self.queue.len() >= self.queue_frames_max {
            return Err(LogError::Behind);
        }
        self.last_ticket = job.ticket;
        self.queue.push_back(job);
        Ok(self.last_ticket)
    }
}
