//! Prepares segments in advance, on a thread of its own, so that a commit rarely waits for a new file.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::codec::{BLOCK_BYTES, SegmentHeader};
use super::error::LogError;
use super::pace::Pace;
use super::part;
use super::segment::{Faults, Segment};
use crate::disk;

/// A new segment takes at most this fraction of the free space, as a divisor.
const FREE_SHARE: u64 = 8;
/// The minimum size of a segment on a nearly full disk, in bytes, unless a smaller one is configured.
const SEGMENT_BYTES_MIN: u64 = 256 * 1024;
/// Files that are open while a segment is created: its own, and the folder to sync it.
const FILES_OF_CREATION: usize = 2;

/// A segment is created with pauses of so many times the work: zeros that are written at full speed make commits meanwhile wait
/// for some milliseconds. At the highest rate of sends a segment lasts several times as long as that takes.
const PAUSES: u32 = 5;

/// A segment that a thread creates in advance.
pub(crate) struct Creation {
    thread: JoinHandle<Result<Segment, LogError>>,
    pace: Arc<Pace>,
}

/// New segments that were created in advance.
pub(crate) struct SegmentPool {
    pub folder: PathBuf,
    /// The random number of the journal.
    pub journal: u64,
    /// The size of a segment, unless one group needs more.
    pub segment_bytes: u64,
    pub sync: bool,
    pub faults: Faults,
    /// The number of the next segment to create.
    pub next_number: u64,
    /// Segments without a group, in order.
    pub spares: VecDeque<Segment>,
    pub in_creation: Option<Creation>,
    /// Open files in reserve: closed to create a segment when the process may open no more.
    pub reserve: Vec<File>,
}

/// Opens files in reserve, as many as possible.
pub(crate) fn reserve(folder: &Path) -> Vec<File> {
    (0..FILES_OF_CREATION).map_while(|_| File::open(folder).ok()).collect()
}

impl SegmentPool {
    /// Starts to create the next segment, unless there is one. A failure is reported when the segment is needed.
    pub(crate) fn prepare(&mut self) {
        if !self.spares.is_empty() || self.in_creation.is_some() {
            return;
        }
        let header = self.header(self.usual_bytes(), 0);
        let (folder, sync, faults) = (self.folder.clone(), self.sync, self.faults.clone());
        let pace = Arc::new(Pace::new(PAUSES));
        let thread = thread::Builder::new().name("journal-spare".to_owned()).spawn({
            let pace = Arc::clone(&pace);
            move || Segment::create(&folder, header, sync, Some(&pace), faults)
        });
        // Without a thread the segment is created when it is needed.
        if let Ok(thread) = thread {
            self.next_number += 1;
            self.in_creation = Some(Creation { thread, pace });
        }
    }

    /// The next segment, with room for `group_bytes`.
    pub(crate) fn take(&mut self, group_bytes: u64) -> Result<Segment, LogError> {
        self.finish_creation();
        let required_bytes = BLOCK_BYTES + group_bytes;
        if self.spares.front().is_some_and(|spare| spare.header.bytes >= required_bytes)
            && let Some(spare) = self.spares.pop_front()
        {
            return Ok(spare);
        }
        // Too small for this group: numbers have no gaps, so it is created again, larger.
        self.remove_spares()?;
        self.create_sized(self.usual_bytes().max(required_bytes), 0)
    }

    /// Ensures that a segment for the next group is ready.
    pub(crate) fn ensure_spare(&mut self) -> Result<(), LogError> {
        self.finish_creation();
        if self.spares.is_empty() {
            let spare = self.create(0)?;
            self.spares.push_back(spare);
        }
        Ok(())
    }

    /// A new segment that records that the previous one ends at `previous_end`.
    pub(crate) fn replace(&mut self, previous_end: u64) -> Result<Segment, LogError> {
        self.finish_creation();
        // Their headers record that nothing was abandoned.
        self.remove_spares()?;
        self.create(previous_end)
    }

    /// Creates a segment of the usual size, which records where the previous one was abandoned; 0: it was not.
    pub(crate) fn create(&mut self, previous_end: u64) -> Result<Segment, LogError> {
        self.create_sized(self.usual_bytes(), previous_end)
    }

    fn create_sized(&mut self, bytes: u64, previous_end: u64) -> Result<Segment, LogError> {
        let header = self.header(bytes, previous_end);
        let create = || Segment::create(&self.folder, header, self.sync, None, self.faults.clone());
        let created = match create() {
            Err(error) if error.is_out_of_files() => {
                self.reserve.clear();
                create()
            }
            created => created,
        };
        if self.reserve.len() < FILES_OF_CREATION {
            self.reserve = reserve(&self.folder);
        }
        self.next_number += u64::from(created.is_ok());
        created
    }

    fn remove_spares(&mut self) -> Result<(), LogError> {
        while let Some(spare) = self.spares.pop_back() {
            part::remove(&self.folder, spare.header.number, self.sync)?;
            self.next_number = spare.header.number;
        }
        Ok(())
    }

    /// The size of a segment: the configured one, or less when free space is scarce.
    fn usual_bytes(&self) -> u64 {
        let free_bytes = disk::space(&self.folder).map_or(u64::MAX, |space| space.free_bytes);
        self.segment_bytes.min((free_bytes / FREE_SHARE).max(SEGMENT_BYTES_MIN))
    }

    /// Waits for the thread, if it is running.
    pub(crate) fn finish_creation(&mut self) {
        let Some(in_creation) = self.in_creation.take() else {
            return;
        };
        in_creation.pace.hurry();
        match in_creation.thread.join() {
            Ok(Ok(segment)) => self.spares.push_back(segment),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a journal segment could not be prepared in advance");
                self.next_number -= 1;
            }
            Err(_) => self.next_number -= 1,
        }
    }

    fn header(&self, bytes: u64, previous_end: u64) -> SegmentHeader {
        let bytes = bytes.next_multiple_of(BLOCK_BYTES);
        SegmentHeader { journal: self.journal, number: self.next_number, bytes, previous_end }
    }
}

impl Drop for SegmentPool {
    fn drop(&mut self) {
        // Nothing may write to the folder once the journal is closed.
        self.finish_creation();
    }
}
