//! The single writer thread of a journal: writes the queued frames as one group, syncs once and reports to the sink.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use metrics::{Counter, Histogram};

use super::append_queue::{Job, Shared};
use super::codec::{
    self, BLOCK_BYTES, GROUP_END, GROUP_FILL_BYTES, GROUP_FRAMES_MAX, GROUP_HEADER_BYTES, GroupHeader,
    RECORD_HEADER_BYTES, RecordHeader, RecordKind, Tail,
};
use super::direct::BlockBuffer;
use super::error::{LogError, is_full};
use super::index::Sealed;
use super::part;
use super::positions;
use super::segment::Segment;
use super::segment_pool::SegmentPool;
use super::{Durable, Ticket};

/// The state of the writer thread.
pub(crate) struct Writer {
    pub shared: Arc<Shared>,
    pub sink: Box<dyn Durable>,
    pub segment_pool: SegmentPool,
    pub active: Segment,
    /// The offset of the next group in the active segment.
    pub offset: u64,
    /// All segments, the active one last.
    pub segments: VecDeque<Sealed>,
    pub tails: BTreeMap<u32, Tail>,
    pub next_group: u64,
    /// The state of the realms at the beginning of the oldest segment.
    pub oldest: BTreeMap<u32, Tail>,
    /// The newest segment that was begun because a write to the previous one had failed.
    pub successor: Option<u64>,
    /// The thread that stores the positions of the sealed segments.
    pub storing: Option<JoinHandle<()>>,
    /// Whether commits are synced.
    pub sync: bool,
    pub group: Vec<Job>,
    pub buffer: BlockBuffer,
    /// The state of the group's realms before it, to undo a failed commit; empty between commits.
    pub before: BTreeMap<u32, Tail>,
    /// A write or a sync failed: the content of the active segment from `offset` on is unknown.
    pub is_tail_doubtful: bool,
    pub meters: Meters,
    /// The group that is being committed is the first of its segment because that was asked for.
    pub is_sealing: bool,
}

/// The metrics of a journal. Registered once, because a group costs little more than looking them up.
pub(crate) struct Meters {
    group_frames: Histogram,
    sync_seconds: Histogram,
    frames: Counter,
    bytes: Counter,
}

impl Meters {
    /// Registers the metrics, which are exported with 0 from the start.
    pub(crate) fn new() -> Self {
        Self {
            group_frames: metrics::histogram!("millstream_journal_group_frames"),
            sync_seconds: metrics::histogram!("millstream_journal_sync_seconds"),
            frames: metrics::counter!("millstream_journal_frames_total"),
            bytes: metrics::counter!("millstream_journal_bytes_total"),
        }
    }
}

impl Writer {
    /// Commits until the queue is closed and empty, or until a commit fails; then the writer is returned, to be recovered.
    pub(crate) fn run(mut self: Box<Self>) -> Option<Box<Self>> {
        while let Some(body_bytes) = self.take_group() {
            let Some(last_ticket) = self.group.last().map(|job| job.ticket) else { continue };
            match self.commit(body_bytes) {
                Ok(()) => self.sink.durable(last_ticket, Ok(())),
                Err(error) => {
                    self.fail(last_ticket, error);
                    return Some(self);
                }
            }
            // An idle writer must not keep the last payloads alive.
            self.group.clear();
            if let Err(error) = self.remove_trimmed() {
                // Space is not freed, but the stored data is intact; the next trim retries.
                tracing::warn!(%error, "a trimmed journal segment could not be removed");
            }
            if self.offset > self.active.header.bytes / 4 {
                self.segment_pool.prepare();
            }
        }
        None
    }

    /// Rolls back to the last group that was stored and reported. Nothing that the failed commit wrote is trusted, even if it
    /// can be read: after a failed sync the page cache may show what is not on disk. The rest of the segment is abandoned; the
    /// header of the next one records where it ends.
    pub(crate) fn restore(&mut self) -> Result<(), LogError> {
        self.group.clear();
        if !self.is_tail_doubtful {
            // Only a new segment was missing.
            return self.segment_pool.ensure_spare();
        }
        self.active.verify(self.offset)?;
        self.active = self.segment_pool.replace(self.offset)?;
        self.offset = BLOCK_BYTES;
        self.successor = Some(self.active.header.number);
        self.segments.push_back(Sealed { number: self.active.header.number, ..Sealed::default() });
        self.is_tail_doubtful = false;
        Ok(())
    }

    /// Waits for frames and takes those that are queued, up to the limits of a group. Returns the size of its records; none
    /// when the queue is closed and empty.
    fn take_group(&mut self) -> Option<usize> {
        let mut appends = self.shared.appends.lock();
        while appends.queue.is_empty() {
            if !appends.is_open {
                return None;
            }
            self.shared.queued.wait(&mut appends);
        }
        let (mut body_bytes, mut payload_bytes) = (0, 0);
        while self.group.len() < GROUP_FRAMES_MAX && body_bytes < GROUP_FILL_BYTES {
            let Some(job) = appends.queue.pop_front() else { break };
            body_bytes += RECORD_HEADER_BYTES + job.frame.payload.len();
            payload_bytes += job.frame.payload.len();
            self.group.push(job);
        }
        drop(appends);
        self.shared.queued_bytes.fetch_sub(payload_bytes, Ordering::Relaxed);
        Some(body_bytes)
    }

    fn commit(&mut self, body_bytes: usize) -> Result<(), LogError> {
        let needs_roster = self.find_room(body_bytes)?;
        self.encode(needs_roster, body_bytes);
        if let Err(error) = self.write() {
            self.is_tail_doubtful = true;
            self.forget_group();
            self.erase_tail();
            return Err(error);
        }
        self.before.clear();
        self.meters.group_frames.record(self.group.len() as f64);
        self.meters.frames.increment(self.group.len() as u64);
        self.meters.bytes.increment(self.buffer.len() as u64);
        self.publish();
        self.offset += self.buffer.len() as u64;
        self.next_group += 1;
        Ok(())
    }

    /// Overwrites the failed group with zeros, if the disk permits: if the process is killed before the journal continues in
    /// another segment, a start must not find frames that were reported as failed.
    fn erase_tail(&mut self) {
        self.buffer.as_mut().fill(0);
        if let Err(error) = self.active.commit(self.offset, &self.buffer, self.sync) {
            tracing::warn!(%error, "a failed write could not be erased from the journal");
        }
    }

    /// Restores the state of the realms before the group.
    fn forget_group(&mut self) {
        for (realm, tail) in std::mem::take(&mut self.before) {
            if tail == Tail::default() {
                self.tails.remove(&realm);
            } else {
                self.tails.insert(realm, tail);
            }
        }
    }

    /// Writes and syncs what is in the buffer.
    fn write(&mut self) -> Result<(), LogError> {
        let start = Instant::now();
        self.active.commit(self.offset, &self.buffer, self.sync).map_err(|error| match is_full(&error) {
            true => LogError::Full(error.to_string().into()),
            false => LogError::Ambiguous(error.to_string().into()),
        })?;
        if self.sync {
            self.meters.sync_seconds.record(start.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Begins a new segment when the group does not fit. Returns whether the group is the first of its segment.
    fn find_room(&mut self, body_bytes: usize) -> Result<bool, LogError> {
        let with_roster = codec::group_bytes(
            (body_bytes + RECORD_HEADER_BYTES + self.tails.len() * codec::ROSTER_ENTRY_BYTES) as u64,
        );
        let is_first = self.offset == BLOCK_BYTES;
        self.is_sealing |= self.shared.is_seal_wanted.swap(false, Ordering::Relaxed);
        let required = if is_first { with_roster } else { codec::group_bytes(body_bytes as u64) };
        let has_room = self.offset + required <= self.active.header.bytes;
        if has_room && (is_first || !self.is_sealing) {
            return Ok(is_first);
        }
        // Nothing of the group was written, so the frames are definitely not stored.
        self.active = self.segment_pool.take(with_roster).map_err(|error| match error.is_full() {
            true => LogError::Full(error.to_string().into()),
            false => LogError::Unavailable(error.to_string().into()),
        })?;
        self.offset = BLOCK_BYTES;
        self.segments.push_back(Sealed { number: self.active.header.number, ..Sealed::default() });
        self.store_positions();
        Ok(true)
    }

    /// Stores the positions of all sealed segments, on a thread of its own, because no commit waits for it.
    fn store_positions(&mut self) {
        if self.storing.as_ref().is_some_and(|storing| !storing.is_finished()) {
            // The next sealed segment stores them.
            return;
        }
        let view = positions::View {
            journal: self.segment_pool.journal,
            next_group: self.next_group,
            successor: self.successor,
            tails: &self.tails,
            oldest: &self.oldest,
            segments: &self.segments,
            active: self.active.header.number,
            index: &self.shared.durable.lock().index,
        };
        let (bytes, folder, sync) = (view.encode(), self.segment_pool.folder.clone(), self.sync);
        let storing = thread::Builder::new().name("journal-positions".to_owned()).spawn(move || {
            if let Err(error) = positions::write(&folder, &bytes, sync) {
                tracing::warn!(%error, "the positions of the journal could not be stored; the next start reads more of it");
            }
        });
        self.storing = storing.ok();
    }

    /// Encodes the whole group into the buffer.
    fn encode(&mut self, with_roster: bool, body_bytes: usize) {
        let roster_bytes = RECORD_HEADER_BYTES + self.tails.len() * codec::ROSTER_ENTRY_BYTES;
        let records_bytes = body_bytes + if with_roster { roster_bytes } else { 0 };
        self.buffer.clear(codec::group_bytes(records_bytes as u64) as usize);
        self.buffer.pad(GROUP_HEADER_BYTES);
        if with_roster {
            let mut roster = Vec::with_capacity(self.tails.len() * codec::ROSTER_ENTRY_BYTES);
            for (realm, tail) in &self.tails {
                codec::encode_roster_entry(*realm, tail, &mut roster);
            }
            let header = RecordHeader {
                kind: RecordKind::Roster,
                realm: 0,
                epoch: 0,
                sequence: 0,
                chain: 0,
                payload_bytes: length(&roster),
            };
            put_record(&mut self.buffer, header, 0, &roster);
        }
        for job in &self.group {
            let frame = &job.frame;
            let header = RecordHeader {
                kind: job.kind,
                realm: frame.realm,
                epoch: job.epoch,
                sequence: frame.sequence,
                chain: 0,
                payload_bytes: length(&frame.payload),
            };
            let tail = self.tails.entry(frame.realm).or_default();
            self.before.entry(frame.realm).or_insert(*tail);
            if job.kind == RecordKind::Trim {
                put_record(&mut self.buffer, header, 0, &frame.payload);
                tail.first = tail.first.max(frame.sequence);
            } else {
                tail.chain = put_record(&mut self.buffer, header, tail.chain, &frame.payload);
                (tail.epoch, tail.last) = (job.epoch, frame.sequence);
            }
        }
        self.finish_group(with_roster);
    }

    fn finish_group(&mut self, with_roster: bool) {
        let body = &self.buffer[GROUP_HEADER_BYTES..];
        let header = GroupHeader {
            segment: self.active.header.number,
            group: self.next_group,
            body_bytes: length(body),
            records: u32::try_from(self.group.len()).expect("a group is bounded") + u32::from(with_roster),
            body_checksum: codec::body_checksum(body, self.active.header.journal),
        };
        let header = header.encode(self.active.header.journal);
        self.buffer.as_mut()[..GROUP_HEADER_BYTES].copy_from_slice(&header);
        self.buffer.extend(&GROUP_END);
        self.buffer.pad(self.buffer.len().next_multiple_of(BLOCK_BYTES as usize));
    }

    /// Makes the committed group visible to readers.
    fn publish(&mut self) {
        let mut durable = self.shared.durable.lock();
        let segment = self.active.header.number;
        for job in &self.group {
            let (realm, sequence) = (job.frame.realm, job.frame.sequence);
            if job.kind == RecordKind::Trim {
                durable.index.trim(realm, sequence);
                durable.is_trimmed = true;
                continue;
            }
            durable.index.note(realm, sequence, segment, self.offset);
            if let Some(active) = self.segments.back_mut() {
                active.last_frames.insert(realm, sequence);
            }
        }
        durable.seals += u64::from(std::mem::take(&mut self.is_sealing));
        if durable.waiters > 0 {
            self.shared.durable_changed.notify_all();
        }
    }

    /// Removes the oldest segments of which every frame was trimmed.
    fn remove_trimmed(&mut self) -> Result<(), LogError> {
        if !std::mem::take(&mut self.shared.durable.lock().is_trimmed) {
            return Ok(());
        }
        while self.segments.len() > 1 {
            let Some(oldest) = self.segments.front() else { break };
            let is_kept = oldest
                .last_frames
                .iter()
                .any(|(realm, last)| self.tails.get(realm).is_none_or(|tail| tail.first <= *last));
            if is_kept {
                break;
            }
            // One by one, each synced before the next, so that the remaining segments never have a gap.
            let _files = self.shared.files.lock();
            part::remove(&self.segment_pool.folder, oldest.number, self.sync)?;
            self.segments.pop_front();
        }
        Ok(())
    }

    /// Stops accepting frames after a failed commit. The state of the disk is unknown and a later sync would not reveal it
    /// (the system reports a lost write only once), so nothing may be written after it: see `restore`.
    fn fail(&mut self, last_ticket: Ticket, error: LogError) {
        tracing::error!(%error, "a commit to the journal failed; it accepts no changes until it has recovered");
        // Later frames are definitely not stored, whatever happened to the group itself.
        let reason = match &error {
            LogError::Full(_) => error.clone(),
            other => LogError::Unavailable(other.to_string().into()),
        };
        self.shared.stop(&reason);
        self.sink.durable(last_ticket, Err(error));
        let refused = std::mem::take(&mut self.shared.appends.lock().queue);
        if let Some(last) = refused.back() {
            self.sink.durable(last.ticket, Err(reason));
        }
        self.group.clear();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(storing) = self.storing.take() {
            // Nothing may write to the folder once the journal is closed.
            let _ = storing.join();
        }
        // Also reached after a panic of the sink: threads that wait for frames must not wait forever.
        self.shared.stop(&LogError::Unavailable("the journal is closed".into()));
    }
}

/// Appends a record and returns its chain checksum.
fn put_record(buffer: &mut BlockBuffer, mut header: RecordHeader, previous: u64, payload: &[u8]) -> u64 {
    header.chain = header.link(previous, payload);
    buffer.extend(&header.encode());
    buffer.extend(payload);
    header.chain
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("payloads, groups and rosters are bounded far below 4 GiB")
}
