//! Reads the durable frames of one realm from the segments, concurrently with the writer.

use std::collections::VecDeque;
use std::path::PathBuf;

use bytes::Bytes;

use super::FrameBytes;
use super::codec::{Erased, RecordHeader, RecordKind, Records};
use super::error::{Damage, LogError};
use super::index::{IndexEntry, RealmIndex};
use super::part::{Part, is_missing};

/// Iterates over the frames of one realm, up to the last that was durable when the reader was created.
pub(crate) struct Reader {
    folder: PathBuf,
    realm: u32,
    /// The next sequence to return.
    next: u64,
    last: u64,
    /// Later positions, to skip segments without frames of this realm.
    entries: VecDeque<IndexEntry>,
    /// The segment and the byte where the next group begins.
    at: (u64, u64),
    segment: Option<Part>,
    ready: VecDeque<FrameBytes>,
}

impl Reader {
    /// `index` is a snapshot: what becomes durable later is not read.
    pub(crate) fn new(folder: PathBuf, realm: u32, from: u64, index: RealmIndex) -> Self {
        Self {
            folder,
            realm,
            next: from,
            last: index.last,
            entries: index.entries,
            at: (0, 0),
            segment: None,
            ready: VecDeque::new(),
        }
    }

    /// Reads groups until a frame is ready.
    fn fill(&mut self) -> Result<(), LogError> {
        while self.ready.is_empty() {
            while let Some(entry) = self.entries.front().filter(|entry| entry.sequence <= self.next) {
                // Never back: a entry inside a group that has been read has no effect.
                self.at = self.at.max((entry.segment, entry.offset));
                self.entries.pop_front();
            }
            self.read_group()?;
        }
        Ok(())
    }

    fn read_group(&mut self) -> Result<(), LogError> {
        let (number, offset) = self.at;
        let segment = match self.segment.take().filter(|segment| segment.header().number == number) {
            Some(segment) => segment,
            None => self.open_segment(number)?,
        };
        let group = segment.read_group(offset)?;
        self.segment = Some(segment);
        let Some(group) = group else {
            return Err(self.damaged("a durable group cannot be read back").into());
        };
        self.at.1 = group.end;
        let body = Bytes::from(group.body);
        let mut records = Records::new(&body);
        let mut expected = self.next;
        while let Some((header, payload)) = records.take() {
            let is_ours = header.kind.is_frame() && header.realm == self.realm;
            if !is_ours || header.sequence < self.next || header.sequence > self.last {
                continue;
            }
            if header.sequence != expected {
                return Err(self.damaged("a frame is missing").into());
            }
            expected += 1;
            let frame = self.frame(&header, body.slice(payload))?;
            self.ready.push_back(frame);
        }
        Ok(())
    }

    /// The frame of a record.
    fn frame(&self, header: &RecordHeader, payload: Bytes) -> Result<FrameBytes, LogError> {
        let (realm, sequence) = (self.realm, header.sequence);
        if header.kind != RecordKind::Erased {
            return Ok(FrameBytes { realm, sequence, payload, original: None });
        }
        let Some((erased, rest)) = Erased::split(&payload) else {
            return Err(self.damaged("an erased frame is incomplete").into());
        };
        Ok(FrameBytes { realm, sequence, payload: payload.slice_ref(rest), original: Some(erased.original) })
    }

    fn open_segment(&self, number: u64) -> Result<Part, LogError> {
        match Part::open(&self.folder, number) {
            // Only a trim removes parts, so the frames were trimmed after the reader was created.
            Err(error) if is_missing(&error) => Err(LogError::OutOfRange {
                realm: self.realm,
                first: self.last + 1,
                last: self.last,
                asked: self.next,
            }),
            other => other,
        }
    }

    fn damaged(&self, what: &str) -> Damage {
        let (segment, offset) = self.at;
        Damage {
            segment,
            offset,
            realm: Some(self.realm),
            sequence: Some(self.next),
            what: what.to_owned(),
            is_archive: matches!(self.segment, Some(Part::Archive(_))),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<FrameBytes, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            return None;
        }
        if let Err(error) = self.fill() {
            self.last = 0;
            return Some(Err(error));
        }
        let frame = self.ready.pop_front()?;
        self.next += 1;
        Some(Ok(frame))
    }
}
