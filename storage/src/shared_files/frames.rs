//! Files of frames: written from the log, read back, and read instead of the log.

use super::SharedStore;
use crate::base::UNFINISHED;
use crate::base::file::{self, Header, Kind, RowReader};
use crate::checkpoint::{Pace, folder_name, frame_checksum};
use crate::error::StoreError;
use crate::log::{FrameBytes, Frames, LogError, RealmLog};
use crate::private_files::create_private;
use crate::view::Row;
use model::RealmId;
use std::collections::VecDeque;
use std::io::{BufReader, ErrorKind, Read};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// At most this many frames and bytes of payloads are in one file.
pub(super) const FRAMES_MAX: u64 = 16_384;
const BYTES_MAX: u64 = 32 * 1024 * 1024;

const SUFFIX: &str = ".frames";

/// The frames of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub first: u64,
    pub last: u64,
}

impl Segment {
    fn parse(name: &str) -> Option<Self> {
        let (first, last) = name.strip_suffix(SUFFIX)?.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(Self { first, last })
    }

    fn name(self, realm: RealmId) -> String {
        format!("{}/{:020}-{:020}{SUFFIX}", folder_name(realm), self.first, self.last)
    }
}

/// What a sequence of frames is compared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Digest {
    /// The frame that was added last.
    last: u64,
    checksum: u64,
}

impl Digest {
    fn add(&mut self, sequence: u64, payload: &[u8]) {
        self.checksum = xxh3_64_with_seed(payload, self.checksum ^ sequence);
        self.last = sequence;
    }
}

impl SharedStore {
    /// The files of frames of an organization, by their first frame.
    pub(super) fn segments(&self, realm: RealmId) -> Result<Vec<Segment>, StoreError> {
        let mut found: Vec<Segment> =
            self.names(realm)?.iter().filter_map(|name| Segment::parse(name)).collect();
        found.sort_unstable_by_key(|segment| (segment.first, segment.last));
        Ok(found)
    }

    /// Stores frames from `first` on, at most up to `limit`, and reads them back. Returns the last of them; `None` when the
    /// server stops.
    pub(super) fn archive(
        &self,
        log: &dyn RealmLog,
        realm: RealmId,
        (first, limit): (u64, u64),
        pace: &Pace,
    ) -> Result<Option<u64>, StoreError> {
        let folder = self.local(realm).folder().to_path_buf();
        create_private(&folder)?;
        let path = folder.join(format!("archive{SUFFIX}{UNFINISHED}"));
        let frame =
            log.read(realm.0, first)?.next().transpose()?.as_ref().map(frame_checksum).unwrap_or_default();
        let header = Header { kind: Kind::Frames, realm: realm.0, sequence: first, frame };
        let (mut written, mut bytes) = (Digest::default(), 0);
        let rows = log.read(realm.0, first)?.map_while(|frame| {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => return Some(Err(error.into())),
            };
            if frame.sequence > limit || frame.sequence >= first + FRAMES_MAX || bytes >= BYTES_MAX {
                return None;
            }
            bytes += frame.payload.len() as u64;
            written.add(frame.sequence, &frame.payload);
            let key = frame.sequence.to_be_bytes().to_vec();
            Some(Ok(Row { key, value: frame.payload.to_vec() }))
        });
        let (size, count) = match file::write(&path, header, rows, pace) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::Interrupted => return Ok(None),
            written => written?,
        };
        let segment = Segment { first, last: written.last };
        if count == 0 {
            return Err(Kind::Frames.damaged("the log has no frames for it"));
        }
        let stored = self.store(&segment.name(realm), &path);
        std::fs::remove_file(&path).map_err(|error| StoreError::io("cannot remove", &path, error))?;
        stored?;
        if self.digest(realm, segment)? != written {
            return Err(Kind::Frames.damaged("what was read back is not what was stored"));
        }
        tracing::info!(%realm, first, last = segment.last, bytes, stored_bytes = size, "frames archived");
        Ok(Some(segment.last))
    }

    /// Refuses to go on when there are archived frames from `first` on that are not those of the log: they are of a history that
    /// the log had before its database was restored from a backup, and reading could not tell them from what is archived next.
    pub(super) fn check_archives(
        &self,
        log: &dyn RealmLog,
        realm: RealmId,
        first: u64,
    ) -> Result<(), StoreError> {
        for segment in self.segments(realm)?.into_iter().filter(|segment| segment.last >= first) {
            let from = segment.first.max(first);
            let archived = self.archived_in(realm, vec![segment], (from, segment.last));
            let mut frames: Frames = match log.read(realm.0, from) {
                Err(LogError::OutOfRange { .. }) => Box::new(std::iter::empty()),
                frames => frames?,
            };
            for archived in archived {
                if frames.next().transpose()?.is_none_or(|frame| archived.as_ref().ok() != Some(&frame)) {
                    return Err(Kind::Frames.damaged(&format!(
                        "{} does not match the log; nothing more is archived until it is moved away",
                        segment.name(realm)
                    )));
                }
            }
        }
        Ok(())
    }

    /// Reads a file of frames to its end.
    fn digest(&self, realm: RealmId, segment: Segment) -> Result<Digest, StoreError> {
        let mut reading = self.reading(realm, segment)?;
        let (mut digest, mut next) = (Digest::default(), segment.first);
        while let Some(frames) = frames_of(&mut reading, realm, &mut next)? {
            frames.iter().for_each(|frame| digest.add(frame.sequence, &frame.payload));
        }
        Ok(digest)
    }

    fn reading(&self, realm: RealmId, segment: Segment) -> Result<FrameReader<'_>, StoreError> {
        let reading = RowReader::new(Kind::Frames, self.open(&segment.name(realm))?)?;
        if (reading.header.realm, reading.header.sequence) != (realm.0, segment.first) {
            return Err(Kind::Frames.damaged("it stands for another organization or frame"));
        }
        Ok(reading)
    }

    /// The archived frames of an organization from `from` to `upto`.
    pub(super) fn archived(
        &self,
        realm: RealmId,
        (from, upto): (u64, u64),
    ) -> Result<Archived<'_>, StoreError> {
        Ok(self.archived_in(realm, self.segments(realm)?, (from, upto)))
    }

    fn archived_in(&self, realm: RealmId, segments: Vec<Segment>, (next, upto): (u64, u64)) -> Archived<'_> {
        Archived { store: self, realm, segments, reading: None, found: VecDeque::new(), next, upto }
    }
}

type FrameReader<'s> = RowReader<BufReader<Box<dyn Read + 's>>>;

/// The frames of the next block, which must begin with frame `next`.
fn frames_of(
    reading: &mut FrameReader<'_>,
    realm: RealmId,
    next: &mut u64,
) -> Result<Option<Vec<FrameBytes>>, StoreError> {
    let Some(rows) = reading.next()? else { return Ok(None) };
    let mut frames = Vec::with_capacity(rows.len());
    for Row { key, value } in rows {
        if key != next.to_be_bytes() {
            return Err(Kind::Frames.damaged(&format!("frame {next} is missing")));
        }
        frames.push(FrameBytes { realm: realm.0, sequence: *next, payload: value.into(), original: None });
        *next += 1;
    }
    Ok(Some(frames))
}

/// Frames that the log does not have any more. It ends after the last one that was asked for, or the first error.
pub(super) struct Archived<'s> {
    store: &'s SharedStore,
    realm: RealmId,
    segments: Vec<Segment>,
    /// The file that is being read, and its next frame.
    reading: Option<(FrameReader<'s>, u64)>,
    found: VecDeque<FrameBytes>,
    next: u64,
    upto: u64,
}

impl<'s> Archived<'s> {
    fn read(&mut self) -> Result<FrameBytes, StoreError> {
        loop {
            if let Some(frame) = self.found.pop_front() {
                if frame.sequence < self.next {
                    continue;
                }
                self.next = frame.sequence + 1;
                return Ok(frame);
            }
            let Some((mut reading, mut at)) = self.reading.take() else {
                self.reading = Some(self.open_next()?);
                continue;
            };
            if let Some(frames) = frames_of(&mut reading, self.realm, &mut at)? {
                self.found.extend(frames);
                self.reading = Some((reading, at));
            }
        }
    }

    /// Opens the file that goes furthest of those with the next frame.
    fn open_next(&self) -> Result<(FrameReader<'s>, u64), StoreError> {
        let next = self.next;
        let with_next = self.segments.iter().filter(|segment| (segment.first..=segment.last).contains(&next));
        let Some(segment) = with_next.max_by_key(|segment| segment.last) else {
            return Err(Kind::Frames.damaged(&format!("no file has frame {next}")));
        };
        let store: &'s SharedStore = self.store;
        Ok((store.reading(self.realm, *segment)?, segment.first))
    }
}

impl Iterator for Archived<'_> {
    type Item = Result<FrameBytes, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.upto {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.next = self.upto + 1;
        }
        Some(read)
    }
}
