//! The one thread that writes a journal: takes what is queued, writes it as one group, syncs once, tells the
//! sink.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crossbeam_channel::Receiver;

use super::codec::{
    self, BLOCK_BYTES, GROUP_END, GROUP_HEADER_BYTES, GroupHeader, RECORD_HEADER_BYTES, RecordHeader,
    RecordKind, Tail,
};
use super::error::LogError;
use super::journal::Shared;
use super::recover::Sealed;
use super::segment::{self, Segment};
use super::supply::Supply;
use super::{Durable, FrameBytes, PAYLOAD_BYTES_MAX, Ticket};

/// A group takes no further frame once it has this many.
const GROUP_FRAMES_MAX: usize = 1024;
/// A group takes no further frame once its records have this many bytes.
const GROUP_FILL_BYTES: usize = 1024 * 1024;
/// The largest group on disk, its segment's roster aside.
pub(crate) const GROUP_BYTES_MAX: u64 =
    (GROUP_FILL_BYTES + RECORD_HEADER_BYTES + PAYLOAD_BYTES_MAX) as u64 + 2 * BLOCK_BYTES;

/// A frame or a trim on its way to the writer.
pub(crate) struct Job {
    pub ticket: Ticket,
    pub epoch: u64,
    pub kind: RecordKind,
    /// For a trim: the realm, the first sequence to keep, and no payload.
    pub frame: FrameBytes,
}

/// The writer's own state. It lives on the writer's thread.
pub(crate) struct Writer {
    pub shared: Arc<Shared>,
    pub queue: Receiver<Job>,
    pub sink: Box<dyn Durable>,
    pub supply: Supply,
    pub active: Segment,
    /// Where the next group goes in the active segment.
    pub offset: u64,
    /// Every segment, the active one last.
    pub segments: VecDeque<Sealed>,
    pub tails: BTreeMap<u32, Tail>,
    pub next_group: u64,
    /// Whether commits are synced.
    pub sync: bool,
    pub group: Vec<Job>,
    pub buffer: Vec<u8>,
}

impl Writer {
    /// Commits until the queue is closed and empty, or until a commit fails.
    pub(crate) fn run(mut self) {
        // Counters are there from the start: whoever compares before and after finds a zero, not nothing.
        metrics::counter!("millstream_journal_frames_total").increment(0);
        metrics::counter!("millstream_journal_bytes_total").increment(0);
        while let Ok(job) = self.queue.recv() {
            let body_bytes = self.take_group(job);
            let Some(last_ticket) = self.group.last().map(|job| job.ticket) else { continue };
            match self.commit(body_bytes) {
                Ok(()) => self.sink.durable(last_ticket, Ok(())),
                Err(error) => return self.fail(last_ticket, error),
            }
            // An idle writer must not keep the last payloads alive.
            self.group.clear();
            if let Err(error) = self.remove_trimmed() {
                // Space is not freed, but nothing is wrong with what is stored; the next trim tries again.
                tracing::warn!(%error, "a trimmed journal segment could not be removed");
            }
            if self.offset > self.active.header.bytes / 4 {
                self.supply.prepare();
            }
        }
    }

    /// Collects what is queued already, within the bounds of a group. Returns the size of its records.
    fn take_group(&mut self, first: Job) -> usize {
        let mut body_bytes = RECORD_HEADER_BYTES + first.frame.payload.len();
        let mut payload_bytes = first.frame.payload.len();
        self.group.push(first);
        while self.group.len() < GROUP_FRAMES_MAX && body_bytes < GROUP_FILL_BYTES {
            let Ok(job) = self.queue.try_recv() else { break };
            body_bytes += RECORD_HEADER_BYTES + job.frame.payload.len();
            payload_bytes += job.frame.payload.len();
            self.group.push(job);
        }
        self.shared.queued_bytes.fetch_sub(payload_bytes, Ordering::Relaxed);
        body_bytes
    }

    fn commit(&mut self, body_bytes: usize) -> Result<(), LogError> {
        let needs_roster = self.find_room(body_bytes)?;
        self.encode(needs_roster);
        let ambiguous = |error: std::io::Error| LogError::Ambiguous(error.to_string().into());
        self.active.write(self.offset, &self.buffer).map_err(ambiguous)?;
        if self.sync {
            let start = Instant::now();
            self.active.sync().map_err(ambiguous)?;
            metrics::histogram!("millstream_journal_sync_seconds").record(start.elapsed().as_secs_f64());
        }
        metrics::histogram!("millstream_journal_group_frames").record(self.group.len() as f64);
        metrics::counter!("millstream_journal_frames_total").increment(self.group.len() as u64);
        metrics::counter!("millstream_journal_bytes_total").increment(self.buffer.len() as u64);
        self.publish();
        self.offset += self.buffer.len() as u64;
        self.next_group += 1;
        Ok(())
    }

    /// Goes to a new segment when the group does not fit. Returns whether the group is the first of its
    /// segment.
    fn find_room(&mut self, body_bytes: usize) -> Result<bool, LogError> {
        let with_roster = codec::group_bytes(
            (body_bytes + RECORD_HEADER_BYTES + self.tails.len() * codec::ROSTER_ENTRY_BYTES) as u64,
        );
        let is_first = self.offset == BLOCK_BYTES;
        let required = if is_first { with_roster } else { codec::group_bytes(body_bytes as u64) };
        if self.offset + required <= self.active.header.bytes {
            return Ok(is_first);
        }
        // Nothing of the group was written, so the frames are certainly not stored.
        self.active =
            self.supply.take(with_roster).map_err(|error| LogError::Unavailable(error.to_string().into()))?;
        self.offset = BLOCK_BYTES;
        self.segments.push_back(Sealed { number: self.active.header.number, ..Sealed::default() });
        Ok(true)
    }

    /// Puts the whole group, as it will be on disk, into the buffer.
    fn encode(&mut self, with_roster: bool) {
        self.buffer.clear();
        self.buffer.resize(GROUP_HEADER_BYTES, 0);
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
        self.buffer[..GROUP_HEADER_BYTES].copy_from_slice(&header);
        self.buffer.extend_from_slice(&GROUP_END);
        self.buffer.resize(self.buffer.len().next_multiple_of(BLOCK_BYTES as usize), 0);
    }

    /// Shows the committed group to readers.
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
        if durable.waiters > 0 {
            self.shared.durable_changed.notify_all();
        }
    }

    /// Removes the oldest segments in which every frame was given up.
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
            // One by one, each on disk before the next: what is left never has a gap.
            segment::remove(&self.supply.folder, oldest.number, self.sync)?;
            self.segments.pop_front();
        }
        Ok(())
    }

    /// Ends the journal's life after a failed commit. What the disk did is unknown and a later sync would not
    /// tell (the system reports a lost write once), so nothing may be written behind it until recovery has
    /// looked.
    fn fail(mut self, last_ticket: Ticket, error: LogError) {
        tracing::error!(%error, "the journal stopped: a commit failed, and it takes no more until it is opened again");
        let reason: Arc<str> = error.to_string().into();
        self.shared.stop(&reason);
        self.sink.durable(last_ticket, Err(error));
        let mut waiting = None;
        while let Ok(job) = self.queue.try_recv() {
            waiting = Some(job.ticket);
        }
        if let Some(ticket) = waiting {
            self.sink.durable(ticket, Err(LogError::Unavailable(reason)));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Reached after a panic of the sink too: whoever waits for frames must not wait for ever.
        self.shared.stop(&"the journal is closed".into());
    }
}

/// Appends a record and returns its chain checksum.
fn put_record(buffer: &mut Vec<u8>, mut header: RecordHeader, previous: u64, payload: &[u8]) -> u64 {
    header.chain = header.link(previous, payload);
    buffer.extend_from_slice(&header.encode());
    buffer.extend_from_slice(payload);
    header.chain
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("payloads, groups and rosters are bounded far below 4 GiB")
}
