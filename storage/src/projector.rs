//! The thread that writes rows to the trees asynchronously.

use crate::batch::Applied;
use crate::disk;
use crate::error::StoreError;
use crate::projection::Trees;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// At most this many frames are queued for the trees; then senders block, which bounds memory.
const WAITING_FRAMES_MAX: usize = 8192;

/// At most this many bytes of rows are queued for the trees.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// At most this many frames are written in one batch.
const BATCH_FRAMES_MAX: usize = 4096;

/// A batch of this many frames does not wait for further ones.
const BATCH_FRAMES_MIN: usize = 512;

/// A batch of this many bytes does not wait for further ones.
const BATCH_BYTES_MIN: usize = 1024 * 1024;

/// How long a smaller batch waits for further frames. Writing to the trees costs about 10 KB of disk writes a batch, so that
/// single messages would cost that each.
const BATCH_LINGER: Duration = Duration::from_secs(5);

/// How often a batch that waits takes what has come.
const BATCH_TICK: Duration = Duration::from_millis(50);

/// The trees are flushed after this long without a frame.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// Free space required for each byte of rows: sled rewrites the pages that hold the rows.
const DISK_BYTES_FACTOR: u64 = 4;

/// How often the free space of a full disk is checked.
const ROOM_TICK: Duration = Duration::from_millis(100);

/// The queue of rows that wait to be written: its size, shared by senders and the thread.
#[derive(Debug, Default)]
struct RowQueue {
    state: Mutex<RowQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct RowQueueState {
    frames: usize,
    bytes: usize,
    /// The thread writes nothing until the disk has space.
    is_paused: bool,
    /// The server stops: do not wait for free space any more.
    is_closing: bool,
    /// The current batch does not wait for further frames.
    is_hurried: bool,
    is_stopped: bool,
    failure: Option<ProjectionFailure>,
}

/// Why the thread has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionFailure {
    pub is_full: bool,
    pub reason: String,
}

impl RowQueueState {
    fn has_room(&self, bytes: usize) -> bool {
        self.frames == 0 || (self.frames < WAITING_FRAMES_MAX && self.bytes + bytes <= WAITING_BYTES_MAX)
    }
}

impl RowQueue {
    /// Waits until the queue has room. A single frame always fits. Does not wait while the disk is full: the sender has
    /// other work to do.
    fn add(&self, bytes: usize) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        while !state.is_stopped && !state.is_paused && !state.has_room(bytes) {
            self.changed.wait(&mut state);
        }
        // Frames that are dropped here are replayed from the journal later.
        state.is_stopped |= !state.has_room(bytes);
        if state.is_stopped {
            return Err(StoreError::ProjectionStopped);
        }
        state.frames += 1;
        state.bytes += bytes;
        Ok(())
    }

    fn remove(&self, frames: usize, bytes: usize) {
        let mut state = self.state.lock();
        state.frames -= frames;
        state.bytes -= bytes;
        drop(state);
        self.changed.notify_all();
    }

    /// Senders do not wait any more.
    fn stop(&self, reason: &str) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        state.failure.get_or_insert(ProjectionFailure { is_full: false, reason: reason.to_owned() });
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until the disk has space for a batch of `bytes` and the reserve for sled.
    fn wait_for_disk(&self, trees: &Trees, bytes: usize) -> Result<(), StoreError> {
        loop {
            let has_room = disk::space(trees.path())
                .is_none_or(|space| space.has_room(DISK_BYTES_FACTOR * bytes as u64));
            let mut state = self.state.lock();
            state.is_paused = !has_room;
            if has_room {
                return Ok(());
            }
            self.changed.notify_all();
            if state.is_stopped || state.is_closing {
                return Err(StoreError::NoRoom);
            }
            drop(state);
            std::thread::sleep(ROOM_TICK);
        }
    }
}

/// Releases waiting senders when the thread ends, also by a panic.
struct StopOnDrop(Arc<RowQueue>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop("the thread ended");
    }
}

/// Sends rows to the thread that writes the trees.
#[derive(Clone, Debug)]
pub struct ProjectionSender {
    sender: Sender<Applied>,
    waiting: Arc<RowQueue>,
}

impl ProjectionSender {
    /// Queues the rows of a frame. Blocks while the queue is full (8192 frames or 64 MiB of rows).
    ///
    /// # Errors
    /// [`StoreError::ProjectionStopped`] when the thread has ended.
    pub fn send(&self, applied: Applied) -> Result<(), StoreError> {
        self.waiting.add(applied.bytes())?;
        self.sender.send(applied).map_err(|_| StoreError::ProjectionStopped)
    }

    /// Writes what is queued without waiting for more.
    pub fn write_queued(&self) {
        self.waiting.state.lock().is_hurried = true;
    }

    /// Releases senders from a thread that does not go on: it has failed for them.
    pub fn give_up(&self) {
        self.waiting.stop("the thread does not go on");
    }

    /// Why the thread has stopped, if it has; a new projection must be started then.
    pub fn failure(&self) -> Option<ProjectionFailure> {
        self.waiting.state.lock().failure.clone()
    }
}

/// The thread that writes the trees.
#[derive(Debug)]
pub struct Projection {
    sender: ProjectionSender,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Projection {
    /// Starts the thread.
    pub fn start(trees: Trees) -> Result<Self, StoreError> {
        // Bounded by `RowQueue::add`.
        let (sender, receiver) = unbounded();
        let waiting = Arc::new(RowQueue::default());
        let thread_waiting = waiting.clone();
        let thread = std::thread::Builder::new()
            .name("projection".into())
            .spawn(move || {
                let waiting = StopOnDrop(thread_waiting);
                let ended = run(&trees, &receiver, &waiting.0);
                if let Err(error) = &ended {
                    let failure = ProjectionFailure { is_full: error.is_full(), reason: error.to_string() };
                    waiting.0.state.lock().failure = Some(failure);
                }
                ended
            })
            .map_err(|source| StoreError::Io {
                what: "cannot start a thread for",
                path: "state".into(),
                source,
            })?;
        Ok(Self { sender: ProjectionSender { sender, waiting }, thread })
    }

    /// A sender for this projection.
    pub fn sender(&self) -> ProjectionSender {
        self.sender.clone()
    }

    /// Writes what is queued, flushes and ends. All senders must have been dropped.
    ///
    /// # Errors
    /// The error that stopped the thread earlier, if any.
    pub fn close(self) -> Result<(), StoreError> {
        self.sender.waiting.state.lock().is_closing = true;
        drop(self.sender);
        self.thread.join().unwrap_or(Err(StoreError::ProjectionStopped))
    }
}

/// Collects the frames of one batch. No reply depends on the trees, so a batch lingers for further frames: a leaf or a
/// chunk that many frames change is then written once. The thread sleeps meanwhile, because waking it for each frame
/// costs the sender more than the frame itself.
fn collect(first: Applied, receiver: &Receiver<Applied>, waiting: &RowQueue) -> Vec<Applied> {
    let started = Instant::now();
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < BATCH_FRAMES_MIN && bytes < BATCH_BYTES_MIN && started.elapsed() < BATCH_LINGER {
        if waiting.state.lock().is_closing {
            break;
        }
        std::thread::sleep(BATCH_TICK);
        let is_hurried = std::mem::take(&mut waiting.state.lock().is_hurried);
        while batch.len() < BATCH_FRAMES_MAX && bytes < WAITING_BYTES_MAX / 2 {
            let Ok(next) = receiver.try_recv() else { break };
            bytes += next.bytes();
            batch.push(next);
        }
        if is_hurried {
            break;
        }
    }
    batch
}

/// The newest frame of each organization in a batch, with what receives it.
fn notes_of(batch: &[Applied]) -> Vec<(Arc<AtomicU64>, u64)> {
    let mut notes: Vec<(Arc<AtomicU64>, u64)> = Vec::new();
    for applied in batch {
        let sequence = applied.progress.sequence.0;
        match notes.last_mut() {
            Some((stored, newest)) if Arc::ptr_eq(stored, &applied.stored) => *newest = sequence,
            _ => notes.push((applied.stored.clone(), sequence)),
        }
    }
    notes
}

fn run(trees: &Trees, receiver: &Receiver<Applied>, waiting: &RowQueue) -> Result<(), StoreError> {
    let rows_written = metrics::counter!("millstream_rows_written_total");
    let batches_written = metrics::counter!("millstream_row_batches_written_total");
    let mut is_dirty = false;
    loop {
        let first = match receiver.recv_timeout(FLUSH_AFTER) {
            Ok(first) => first,
            Err(RecvTimeoutError::Disconnected) => break,
            // sled writes in the background; only a flush reports its errors.
            Err(RecvTimeoutError::Timeout) if std::mem::take(&mut is_dirty) => {
                trees.flush().inspect_err(
                    |error| tracing::error!(%error, "the database in state/ cannot be written"),
                )?;
                continue;
            }
            Err(RecvTimeoutError::Timeout) => continue,
        };
        let batch = collect(first, receiver, waiting);
        let notes = notes_of(&batch);
        let (frames, bytes) = (batch.len(), batch.iter().map(Applied::bytes).sum());
        let rows: usize = batch.iter().map(|applied| applied.rows.0.len()).sum();
        waiting.wait_for_disk(trees, bytes)?;
        trees
            .write(batch)
            .inspect_err(|error| tracing::error!(%error, "the database in state/ cannot be written"))?;
        is_dirty = true;
        waiting.remove(frames, bytes);
        rows_written.increment(rows as u64);
        batches_written.increment(1);
        for (stored, sequence) in notes {
            stored.fetch_max(sequence, Ordering::Release);
        }
    }
    trees.flush()
}
