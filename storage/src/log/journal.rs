//! The log on the local disk: a folder of segment files, one writer thread, many appenders and readers.
//!
//! This file is the interface for appenders and readers; the thread is in `writer`, the format in `codec`.

use std::collections::{BTreeMap, HashMap};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::append_queue::{DurableState, Job, Owner, Shared};
use super::codec::{BLOCK_BYTES, RecordKind, SegmentHeader, Tail};
use super::compact::{self, Compacted, Compaction};
use super::direct::BlockBuffer;
use super::erase::LogParts;
use super::error::LogError;
use super::index::Sealed;
use super::part::{self, Part};
use super::positions;
use super::reader::Reader;
use super::recover::Scan;
use super::repair;
use super::segment::{self, Faults, Segment};
use super::segment_pool::{self, SegmentPool};
use super::writer::{Meters, Writer};
use super::{Durable, FrameBytes, Frames, Opened, RealmLog, Ticket};

mod parts;

/// So many of the newest sealed segments are not compacted: readers of what happened lately need not decompress.
const NEWEST_SEGMENTS: usize = 1;

const LOCK_FILE: &str = "lock";

/// When a commit counts as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// After `fdatasync`: commits survive a power failure.
    Fdatasync,
    /// After the write: commits survive only the end of the process. For temporary development data.
    None,
}

/// The options of a journal.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// When a commit counts as durable.
    pub sync: SyncPolicy,
    /// The size of a segment, in bytes. A group that needs more gets a larger one.
    pub segment_bytes: u64,
    /// The size of the first segment of a new journal, in bytes: small, because opening waits until it is filled.
    pub first_segment_bytes: u64,
    /// At most this many frames are queued; further appends fail with [`LogError::Behind`].
    pub queue_frames_max: usize,
    /// Removes segments that were prepared in advance, to free their space on a full disk.
    pub releases_spares: bool,
    /// At most this many bytes of payload are queued; further appends fail with [`LogError::Behind`].
    pub queue_bytes_max: usize,
    /// Reads everything on opening, not only what follows the sealed segments.
    pub reads_all: bool,
    /// The folder is a copy of one in use: where its parts do not continue each other, the journal ends.
    pub is_copy: bool,
    /// How long a segment is kept beside its archive, for copies of the folder that are being made.
    pub original_kept: Duration,
    #[cfg(test)]
    pub(crate) faults: Faults,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            sync: SyncPolicy::Fdatasync,
            segment_bytes: 16 * 1024 * 1024,
            first_segment_bytes: 1024 * 1024,
            queue_frames_max: 8192,
            releases_spares: false,
            queue_bytes_max: 64 * 1024 * 1024,
            reads_all: false,
            is_copy: false,
            original_kept: Duration::from_secs(600),
            #[cfg(test)]
            faults: Faults::default(),
        }
    }
}

impl JournalOptions {
    fn faults(&self) -> Faults {
        #[cfg(test)]
        return self.faults.clone();
        #[cfg(not(test))]
        Faults::default()
    }
}

/// The log on the local disk. One journal holds the realms of one shard.
pub struct Journal {
    folder: PathBuf,
    shared: Arc<Shared>,
    queue_bytes_max: usize,
    sync: bool,
    original_kept: Duration,
    faults: Faults,
    /// One compaction at a time.
    compacting: Mutex<()>,
    /// The writer and the lock on the folder, until the journal is closed.
    running: Mutex<Option<Running>>,
}

/// The running parts of an open journal.
struct Running {
    thread: Option<JoinHandle<Option<Box<Writer>>>>,
    /// The writer after a failed commit, until it has recovered.
    failed: Option<Box<Writer>>,
    _lock: File,
}

impl Journal {
    /// Opens the journal in `folder`, or creates it, and starts its writer. Sealed segments are only read if their positions
    /// are not known; everything after them is read and checked. An incomplete group that a crash left is zeroed, with a
    /// warning.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] for damage, [`LogError::Format`], [`LogError::InUse`], [`LogError::Io`].
    pub fn open(folder: &Path, options: &JournalOptions, sink: Box<dyn Durable>) -> Result<Self, LogError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| LogError::io("create", folder, error))?;
        let lock = take_lock(folder)?;
        segment::remove_unfinished(folder)?;
        let sync = options.sync == SyncPolicy::Fdatasync;
        compact::remove_duplicates(folder, sync)?;
        let mut scan = scan(folder, options)?;
        repair::repair(folder, &scan, sync, &options.faults())?;
        if let Some(boundary) = scan.boundary.take().filter(|_| scan.cut.is_none())
            && let Err(error) = positions::write(folder, &boundary, sync)
        {
            tracing::warn!(%error, "the positions of the journal could not be stored; the next start reads all of it");
        }
        let (active, offset, segment_pool) = open_segments(folder, options, &mut scan)?;

        let durable = DurableState::opened(scan.index);
        let shared = Arc::new(Shared::opened(owners(&scan.tails), options.queue_frames_max, durable));
        let writer = Writer {
            shared: shared.clone(),
            sink,
            segment_pool,
            active,
            offset,
            segments: scan.segments,
            tails: scan.tails,
            next_group: scan.next_group.unwrap_or(1),
            oldest: scan.oldest,
            successor: scan.successor,
            storing: None,
            sync,
            group: Vec::new(),
            buffer: BlockBuffer::default(),
            before: BTreeMap::new(),
            is_tail_doubtful: false,
            meters: Meters::new(),
            is_sealing: false,
        };
        let thread = start(Box::new(writer), folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            shared,
            queue_bytes_max: options.queue_bytes_max,
            sync,
            original_kept: options.original_kept,
            faults: options.faults(),
            compacting: Mutex::new(()),
            running: Mutex::new(Some(Running { thread: Some(thread), failed: None, _lock: lock })),
        })
    }

    fn compaction(&self) -> Compaction<'_> {
        Compaction {
            folder: &self.folder,
            sync: self.sync,
            faults: self.faults.clone(),
            files: &self.shared.files,
            original_kept: self.original_kept,
            newest: NEWEST_SEGMENTS,
        }
    }

    /// Restarts a recovered writer with an empty queue, after the last durable frame.
    fn restart(&self, writer: Box<Writer>) -> Result<JoinHandle<Option<Box<Writer>>>, LogError> {
        let mut appends = self.shared.appends.lock();
        let mut durable = self.shared.durable.lock();
        for (realm, owner) in &mut appends.owners {
            *owner = Owner { epoch: owner.epoch, is_open: false, last: durable.index.bounds(*realm).1 };
        }
        self.shared.queued_bytes.store(0, Ordering::Relaxed);
        durable.is_stopped = false;
        appends.queue.clear();
        (appends.is_open, appends.stopped) = (true, None);
        drop((durable, appends));
        start(writer, &self.folder)
    }
}

/// The realms of a journal, none of which is open.
fn owners(tails: &BTreeMap<u32, Tail>) -> HashMap<u32, Owner> {
    let owner = |tail: &Tail| Owner { epoch: tail.epoch, is_open: false, last: tail.last };
    tails.iter().map(|(realm, tail)| (*realm, owner(tail))).collect()
}

fn start(writer: Box<Writer>, folder: &Path) -> Result<JoinHandle<Option<Box<Writer>>>, LogError> {
    thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || writer.run())
        .map_err(|error| LogError::io("start the writer of", folder, error))
}

impl RealmLog for Journal {
    fn open(&self, realm: u32, min_epoch: u64) -> Result<Opened, LogError> {
        let mut appends = self.shared.appends.lock();
        if !appends.is_open {
            return Err(appends.unavailable());
        }
        let owner = appends.owners.entry(realm).or_default();
        owner.epoch = min_epoch.max(owner.epoch + 1);
        owner.is_open = true;
        let (epoch, queued) = (owner.epoch, owner.last);
        drop(appends);

        let mut durable = self.shared.durable.lock();
        durable.waiters += 1;
        while durable.index.bounds(realm).1 < queued && !durable.is_stopped {
            self.shared.durable_changed.wait(&mut durable);
        }
        durable.waiters -= 1;
        let (first_sequence, last_sequence) = durable.index.bounds(realm);
        drop(durable);
        if last_sequence < queued {
            return Err(self.shared.appends.lock().unavailable());
        }
        Ok(Opened { epoch, first_sequence, last_sequence })
    }

    fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError> {
        let (realm, sequence, bytes) = (frame.realm, frame.sequence, frame.payload.len());
        let mut appends = self.shared.appends.lock();
        if !appends.is_open {
            return Err(appends.unavailable());
        }
        appends.owner(realm)?.check(&frame, epoch)?;
        let queued_bytes = self.shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let job = Job { ticket: appends.last_ticket + 1, epoch, kind: RecordKind::Frame, frame };
        let result = if queued_bytes + bytes > self.queue_bytes_max {
            Err(LogError::Behind)
        } else {
            appends.queue(job)
        };
        match &result {
            Ok(_) => {
                appends.owners.entry(realm).and_modify(|owner| owner.last = sequence);
            }
            Err(_) => {
                self.shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
        drop(appends);
        self.shared.queued.notify_one();
        result
    }

    fn read(&self, realm: u32, from_sequence: u64) -> Result<Frames, LogError> {
        let index = self.shared.durable.lock().index.get(realm);
        if from_sequence < index.first || from_sequence > index.last + 1 {
            let (first, last) = (index.first, index.last);
            return Err(LogError::OutOfRange { realm, first, last, asked: from_sequence });
        }
        Ok(Box::new(Reader::new(self.folder.clone(), realm, from_sequence, index)))
    }

    fn trim(&self, realm: u32, before_sequence: u64) -> Result<Ticket, LogError> {
        let mut appends = self.shared.appends.lock();
        let (first, last) = self.shared.durable.lock().index.bounds(realm);
        if before_sequence > last + 1 {
            return Err(LogError::OutOfRange { realm, first, last, asked: before_sequence });
        }
        let epoch = appends.owner(realm)?.epoch;
        let frame = FrameBytes { realm, sequence: before_sequence, payload: Bytes::new(), original: None };
        let job = Job { ticket: appends.last_ticket + 1, epoch, kind: RecordKind::Trim, frame };
        let queued = appends.queue(job);
        drop(appends);
        self.shared.queued.notify_one();
        queued
    }

    fn compact(&self, pace: &mut dyn FnMut(u64) -> bool) -> Result<Compacted, LogError> {
        let _one = self.compacting.lock();
        self.compaction().step(pace)
    }

    fn parts(&self) -> Option<&dyn LogParts> {
        Some(self)
    }

    fn realms(&self) -> Vec<u32> {
        self.shared.durable.lock().index.realms()
    }

    fn recover(&self) -> Result<(), LogError> {
        let mut running = self.running.lock();
        let Some(running) = running.as_mut() else { return Err(self.shared.appends.lock().unavailable()) };
        if self.shared.appends.lock().is_open {
            return Ok(());
        }
        if let Some(thread) = running.thread.take() {
            running.failed = thread.join().unwrap_or_default();
        }
        // None after a panic: then what the writer knew is lost, and only opening the journal again helps.
        let Some(mut writer) = running.failed.take() else {
            return Err(self.shared.appends.lock().unavailable());
        };
        if let Err(error) = writer.restore() {
            running.failed = Some(writer);
            return Err(error);
        }
        running.thread = Some(self.restart(writer)?);
        tracing::info!(journal = %self.folder.display(), "the journal has recovered and accepts changes again");
        Ok(())
    }

    fn close(&self) {
        // Nothing may change the folder once the lock is released.
        self.shared.files.lock().is_closed = true;
        // The writer ends once the queue is empty.
        self.shared.appends.lock().is_open = false;
        self.shared.queued.notify_one();
        let mut running = self.running.lock();
        if let Some(mut running) = running.take()
            && let Some(thread) = running.thread.take()
        {
            // After a panic of the sink the journal is closed like after a normal end.
            let _ = thread.join();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads the journal: what follows the sealed segments, if their positions are stored and match, or all of it.
fn scan(folder: &Path, options: &JournalOptions) -> Result<Scan, LogError> {
    if let Some(known) = positions::read(folder).filter(|_| !options.reads_all && !options.is_copy) {
        let mut scan = Scan::after(known);
        match scan.run(folder, &mut |_| {}) {
            Ok(()) => return Ok(scan),
            // Reading all of it says what is damaged, or that only the positions were wrong.
            Err(LogError::Corrupt(damage)) => {
                tracing::warn!(%damage, "the journal does not match its stored positions; all of it is read");
                positions::remove(folder);
            }
            Err(error) => return Err(error),
        }
    }
    let mut scan = Scan::default();
    scan.is_copy = options.is_copy;
    scan.run(folder, &mut |_| {})?;
    Ok(scan)
}

fn take_lock(folder: &Path) -> Result<File, LogError> {
    let path = folder.join(LOCK_FILE);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|error| LogError::io("open", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LogError::InUse(folder.to_path_buf())),
        Err(TryLockError::Error(error)) => Err(LogError::io("lock", &path, error)),
    }
}

/// The active segment, the offset of the next group in it, and the pool of further segments. Segments that were
/// prepared in advance and hold no group yet move from `scan` to the pool.
fn open_segments(
    folder: &Path,
    options: &JournalOptions,
    scan: &mut Scan,
) -> Result<(Segment, u64, SegmentPool), LogError> {
    let mut segment_pool = SegmentPool {
        folder: folder.to_path_buf(),
        journal: scan.journal.unwrap_or_else(random_number),
        segment_bytes: options.segment_bytes.max(2 * BLOCK_BYTES),
        sync: options.sync == SyncPolicy::Fdatasync,
        faults: options.faults(),
        next_number: scan.segments.back().map_or(1, |segment| segment.number + 1),
        spares: std::collections::VecDeque::new(),
        in_creation: None,
        reserve: segment_pool::reserve(folder),
    };
    let Some(first) = scan.segments.front() else {
        let bytes = options.first_segment_bytes.max(2 * BLOCK_BYTES).next_multiple_of(BLOCK_BYTES);
        let header = SegmentHeader { journal: segment_pool.journal, number: 1, bytes, previous_end: 0 };
        let active = Segment::create(folder, header, segment_pool.sync, None, segment_pool.faults.clone())?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            // The folder itself may be new.
            segment::sync_folder(parent, segment_pool.sync)?;
        }
        scan.segments.push_back(Sealed { number: 1, ..Sealed::default() });
        segment_pool.next_number = 2;
        return Ok((active, BLOCK_BYTES, segment_pool));
    };
    let (mut number, mut offset) = scan.end().unwrap_or((first.number, BLOCK_BYTES));
    // Bytes after the last group of an abandoned segment are not part of the journal.
    if let Some(successor) = scan.successor.filter(|successor| *successor > number) {
        (number, offset) = (successor, BLOCK_BYTES);
    }
    if matches!(Part::open(folder, number)?, Part::Archive(_)) {
        // Archives never change: the journal goes on in the segment after it.
        (number, offset) = (number + 1, BLOCK_BYTES);
        if scan.segments.back().is_none_or(|segment| segment.number < number) {
            segment_pool.create(0)?;
            scan.segments.push_back(Sealed { number, ..Sealed::default() });
        }
    }
    while scan.segments.back().is_some_and(|segment| segment.number > number) {
        let Some(spare) = scan.segments.pop_back() else { break };
        if options.releases_spares {
            part::remove(folder, spare.number, segment_pool.sync)?;
            segment_pool.next_number = spare.number;
        } else {
            let spare = Segment::open(folder, spare.number, true, segment_pool.faults.clone())?;
            spare.evict(0);
            segment_pool.spares.push_front(spare);
        }
    }
    let active = Segment::open(folder, number, true, segment_pool.faults.clone())?;
    active.evict(offset);
    Ok((active, offset, segment_pool))
}

/// Distinguishes the groups of this journal from those of others, and from payloads with the same form.
fn random_number() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}
