//! Makes segments ahead of need, on a thread of its own, so that a commit seldom waits for a new file.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use super::codec::{BLOCK_BYTES, SegmentHeader};
use super::error::LogError;
use super::segment::{self, Faults, Segment};

/// Where new segments come from.
pub(crate) struct Supply {
    pub folder: PathBuf,
    /// The random number of the journal.
    pub journal: u64,
    /// The size of a segment, unless one group needs more.
    pub segment_bytes: u64,
    pub sync: bool,
    pub faults: Faults,
    /// The number of the next segment to be made.
    pub next_number: u64,
    /// Made, without a group yet, in order.
    pub spares: VecDeque<Segment>,
    pub making: Option<JoinHandle<Result<Segment, LogError>>>,
}

impl Supply {
    /// Begins to make the next segment, unless there is one. A failure shows when the segment is needed.
    pub(crate) fn prepare(&mut self) {
        if !self.spares.is_empty() || self.making.is_some() {
            return;
        }
        let header = self.header(self.segment_bytes);
        let (folder, sync, faults) = (self.folder.clone(), self.sync, self.faults.clone());
        let making = thread::Builder::new()
            .name("journal-spare".to_owned())
            .spawn(move || Segment::create(&folder, header, sync, faults));
        // Without a thread the segment is made when it is needed.
        if let Ok(making) = making {
            self.next_number += 1;
            self.making = Some(making);
        }
    }

    /// The next segment, with room for `group_bytes`.
    pub(crate) fn take(&mut self, group_bytes: u64) -> Result<Segment, LogError> {
        self.finish_making();
        let required_bytes = BLOCK_BYTES + group_bytes;
        if self.spares.front().is_some_and(|spare| spare.header.bytes >= required_bytes)
            && let Some(spare) = self.spares.pop_front()
        {
            return Ok(spare);
        }
        // Too small for this group: numbers have no gaps, so it is made again, larger.
        while let Some(spare) = self.spares.pop_back() {
            segment::remove(&self.folder, spare.header.number, self.sync)?;
            self.next_number = spare.header.number;
        }
        let segment = Segment::create(
            &self.folder,
            self.header(self.segment_bytes.max(required_bytes)),
            self.sync,
            self.faults.clone(),
        )?;
        self.next_number += 1;
        Ok(segment)
    }

    /// Waits for the thread, if there is one.
    pub(crate) fn finish_making(&mut self) {
        let Some(making) = self.making.take() else {
            return;
        };
        match making.join() {
            Ok(Ok(segment)) => self.spares.push_back(segment),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a journal segment could not be made ahead of need");
                self.next_number -= 1;
            }
            Err(_) => self.next_number -= 1,
        }
    }

    fn header(&self, bytes: u64) -> SegmentHeader {
        let bytes = bytes.next_multiple_of(BLOCK_BYTES);
        SegmentHeader { journal: self.journal, number: self.next_number, bytes }
    }
}

impl Drop for Supply {
    fn drop(&mut self) {
        // Nobody may write to the folder once the journal is closed.
        self.finish_making();
    }
}
