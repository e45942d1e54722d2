//! Archives: sealed segments without padding, compressed in blocks. An archive has the number of its segment, and every group
//! keeps the offset that it had there, so that positions stay valid. It never changes; a new one may take its place.
//!
//! ```text
//! archive = magic (8) ‖ version (u32) ‖ 0 (u32) ‖ the segment's header (56) ‖ checksum (u64)
//!           │ block │ block │ … │ index │ trailer
//! block   = zstd frame of groups
//! group   = body bytes (u32) ‖ records (u32) ‖ bytes that it had in the segment (u32) ‖ body
//! index   = for each block: offset in the segment (u64) ‖ number (u64) of its first group ‖ place in the archive (u64)
//!           ‖ bytes in the archive (u32) ‖ bytes of its groups (u32) ‖ checksum of the compressed bytes (u64)
//! trailer = blocks (u32) ‖ erased frames (u32) ‖ end of the last group in the segment (u64)
//!           ‖ checksum of index and trailer (u64) ‖ END (8)
//! ```
//!
//! Integers are little-endian. Checksums are xxh3-64, those after the header seeded with the journal's number. Every byte is
//! covered by one.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::codec::{
    self, BLOCK_BYTES, GroupHeader, HeaderFault, SEGMENT_HEADER_BYTES, SegmentHeader, archive_name, u32_at,
    u64_at,
};
use super::error::{Damage, LogError};
use super::segment::Group;

const MAGIC: [u8; 8] = *b"\x89MSARCH\n";
const VERSION: u32 = 1;
const END: [u8; 8] = *b"\xE7MSARCE\xE7";
const HEADER_BYTES: usize = 16 + SEGMENT_HEADER_BYTES + 8;
const ENTRY_BYTES: usize = 40;
const TRAILER_BYTES: usize = 32;
const GROUP_HEAD_BYTES: usize = 12;

/// A block takes no further group once it has this many bytes.
const BLOCK_FILL_BYTES: usize = 256 * 1024;
/// The level of compression.
const LEVEL: i32 = 3;
/// Archives are synced in pieces of this size, so that the sync of a commit never waits for all of one.
const SYNC_BYTES: u64 = 1024 * 1024;

/// The entry of a block in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    offset: u64,
    group: u64,
    place: u64,
    stored_bytes: u32,
    raw_bytes: u32,
    checksum: u64,
}

impl Entry {
    fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.offset, self.group, self.place] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.stored_bytes.to_le_bytes());
        out.extend_from_slice(&self.raw_bytes.to_le_bytes());
        out.extend_from_slice(&self.checksum.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            offset: u64_at(bytes, 0),
            group: u64_at(bytes, 8),
            place: u64_at(bytes, 16),
            stored_bytes: u32_at(bytes, 24),
            raw_bytes: u32_at(bytes, 28),
            checksum: u64_at(bytes, 32),
        }
    }
}

/// A block in memory.
struct Block {
    index: usize,
    bytes: Vec<u8>,
    groups: Vec<GroupLocation>,
}

/// Where a group is in a block.
#[derive(Debug, Clone, Copy)]
struct GroupLocation {
    offset: u64,
    end: u64,
    records: u32,
    start: usize,
    body_bytes: usize,
}

/// An open archive.
pub(crate) struct Archive {
    file: File,
    path: PathBuf,
    /// The header of the segment that it stands for.
    pub header: SegmentHeader,
    entries: Vec<Entry>,
    /// The end of the last group, in the segment.
    pub end: u64,
    /// How many of its frames have lost content.
    pub erased: u32,
    /// The block that was read last.
    block: RefCell<Option<Block>>,
}

impl Archive {
    /// Opens an archive and checks everything but its blocks. `NotFound` is an `Io` error.
    pub(crate) fn open(folder: &Path, number: u64) -> Result<Self, LogError> {
        Self::open_file(folder.join(archive_name(number)), number)
    }

    /// Opens an archive under another name, such as one that was just written.
    pub(crate) fn open_file(path: PathBuf, number: u64) -> Result<Self, LogError> {
        let opened = File::open(&path).and_then(|file| file.metadata().map(|found| (file, found.len())));
        let (file, bytes) = opened.map_err(|error| LogError::io("open", &path, error))?;
        let damaged = |what: &str| LogError::from(damaged(number, 0, what.to_owned()));
        let read = |offset: u64, count: usize| {
            let mut out = vec![0; count];
            file.read_exact_at(&mut out, offset)
                .map(|()| out)
                .map_err(|error| LogError::io("read", &path, error))
        };
        if bytes < (HEADER_BYTES + TRAILER_BYTES) as u64 {
            return Err(damaged("it is shorter than its header"));
        }
        let header = decode_header(&read(0, HEADER_BYTES)?, &path).map_err(|fault| match fault {
            Fault::Damage(what) => damaged(what),
            Fault::Format(error) => error,
        })?;
        if header.number != number {
            return Err(damaged("it is another archive under this name"));
        }
        let trailer = read(bytes - TRAILER_BYTES as u64, TRAILER_BYTES)?;
        let count = u32_at(&trailer, 0) as usize;
        let index_bytes = (count * ENTRY_BYTES) as u64;
        let Some(index_place) = (bytes - TRAILER_BYTES as u64).checked_sub(index_bytes) else {
            return Err(damaged("its trailer does not match its size"));
        };
        let mut index = read(index_place, index_bytes as usize)?;
        index.extend_from_slice(&trailer[..16]);
        if trailer[24..] != END || u64_at(&trailer, 16) != xxh3_64_with_seed(&index, header.journal) {
            return Err(damaged("its index fails its checksum"));
        }
        let entries: Vec<Entry> =
            index[..index_bytes as usize].chunks_exact(ENTRY_BYTES).map(Entry::decode).collect();
        let end = u64_at(&trailer, 8);
        check_entries(&entries, &header, index_place, end)
            .ok_or_else(|| damaged("its index is not valid"))?;
        let erased = u32_at(&trailer, 4);
        Ok(Self { file, path, header, entries, end, erased, block: RefCell::default() })
    }

    /// The group that was at `offset` in the segment, or `None` when none began there.
    pub(crate) fn read_group(&self, offset: u64) -> Result<Option<Group>, LogError> {
        let following = self.entries.partition_point(|entry| entry.offset <= offset);
        let Some(index) = following.checked_sub(1).filter(|_| offset < self.end) else { return Ok(None) };
        let mut block = self.block.borrow_mut();
        if block.as_ref().is_none_or(|block| block.index != index) {
            *block = None;
            *block = Some(self.read_block(index)?);
        }
        let (Some(block), Some(entry)) = (block.as_ref(), self.entries.get(index)) else { return Ok(None) };
        let Ok(at) = block.groups.binary_search_by_key(&offset, |location| location.offset) else {
            return Ok(None);
        };
        let Some(location) = block.groups.get(at) else { return Ok(None) };
        let body = block.bytes[location.start..location.start + location.body_bytes].to_vec();
        let header = GroupHeader {
            segment: self.header.number,
            group: entry.group + at as u64,
            body_bytes: location.body_bytes as u32,
            records: location.records,
            body_checksum: codec::body_checksum(&body, self.header.journal),
        };
        Ok(Some(Group { header, body, end: location.end }))
    }

    fn read_block(&self, index: usize) -> Result<Block, LogError> {
        let number = self.header.number;
        let damaged = |offset, what: &str| {
            Err(damaged(number, offset, format!("block {} of the archive {what}", index + 1)).into())
        };
        let Some(entry) = self.entries.get(index) else { return damaged(0, "is missing") };
        let mut stored = vec![0; entry.stored_bytes as usize];
        self.file
            .read_exact_at(&mut stored, entry.place)
            .map_err(|error| LogError::io("read", &self.path, error))?;
        if xxh3_64_with_seed(&stored, self.header.journal) != entry.checksum {
            return damaged(entry.offset, "fails its checksum");
        }
        let bytes = match zstd::bulk::decompress(&stored, entry.raw_bytes as usize) {
            Ok(bytes) if bytes.len() == entry.raw_bytes as usize => bytes,
            _ => return damaged(entry.offset, "cannot be decompressed"),
        };
        let end = self.entries.get(index + 1).map_or(self.end, |next| next.offset);
        match locations(&bytes, entry.offset) {
            Some(groups) if groups.last().is_some_and(|last| last.end == end) => {
                Ok(Block { index, bytes, groups })
            }
            _ => damaged(entry.offset, "does not consist of groups"),
        }
    }

    /// Forgets what the page cache has, so that reading again reads what is on the disk.
    pub(crate) fn drop_cached(&self) {
        // Drops only clean pages; if the advice is ignored, the check is weaker, not wrong.
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
    }
}

/// Why a header is not accepted.
enum Fault {
    Damage(&'static str),
    Format(LogError),
}

fn decode_header(bytes: &[u8], path: &Path) -> Result<SegmentHeader, Fault> {
    if bytes[..8] != MAGIC {
        return Err(Fault::Damage("it is not an archive"));
    }
    let format = |found| Fault::Format(LogError::Format { path: path.to_path_buf(), found });
    match u32_at(bytes, 8) {
        VERSION => {}
        other => return Err(format(other)),
    }
    let checked = HEADER_BYTES - 8;
    if u64_at(bytes, checked) != xxh3_64(&bytes[..checked]) {
        return Err(Fault::Damage("its header fails its checksum"));
    }
    let Some((header, _)) = bytes[16..].split_first_chunk() else {
        return Err(Fault::Damage("it is shorter than its header"));
    };
    SegmentHeader::decode(header).map_err(|fault| match fault {
        HeaderFault::Format(found) => format(found),
        HeaderFault::Checksum => Fault::Damage("the header of its segment fails its checksum"),
    })
}

/// Whether blocks follow each other without gaps, in the archive and in the segment.
fn check_entries(entries: &[Entry], header: &SegmentHeader, index_place: u64, end: u64) -> Option<()> {
    let Some(first) = entries.first() else {
        // A segment stays empty when its first group was too long for it.
        return (end == BLOCK_BYTES && index_place == HEADER_BYTES as u64).then_some(());
    };
    let mut place = HEADER_BYTES as u64;
    let mut before: Option<&Entry> = None;
    for entry in entries {
        let follows = before.is_none_or(|before| entry.offset > before.offset && entry.group > before.group);
        if entry.place != place || !follows || u64::from(entry.raw_bytes) > 2 * header.bytes {
            return None;
        }
        place += u64::from(entry.stored_bytes);
        before = Some(entry);
    }
    let is_within = end <= header.bytes && before?.offset < end;
    (first.offset == BLOCK_BYTES && place == index_place && is_within).then_some(())
}

/// The groups of a block whose first one was at `offset`.
fn locations(bytes: &[u8], mut offset: u64) -> Option<Vec<GroupLocation>> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let head = bytes.get(at..at + GROUP_HEAD_BYTES)?;
        let (body_bytes, records) = (u32_at(head, 0) as usize, u32_at(head, 4));
        let group_bytes = u64::from(u32_at(head, 8));
        let start = at + GROUP_HEAD_BYTES;
        at = start.checked_add(body_bytes).filter(|end| *end <= bytes.len())?;
        if group_bytes == 0 || !group_bytes.is_multiple_of(BLOCK_BYTES) {
            return None;
        }
        let end = offset.checked_add(group_bytes)?;
        groups.push(GroupLocation { offset, end, records, start, body_bytes });
        offset = end;
    }
    Some(groups)
}

fn damaged(segment: u64, offset: u64, what: String) -> Damage {
    Damage { segment, offset, realm: None, sequence: None, what, is_archive: true }
}

/// An archive that is being written.
pub(crate) struct ArchiveWriter {
    file: File,
    sync: bool,
    journal: u64,
    entries: Vec<Entry>,
    /// The groups of the block that is not written yet, the first of which has this offset and number.
    block: Vec<u8>,
    first: Option<(u64, u64)>,
    /// Bytes written, and those that are synced.
    place: u64,
    synced: u64,
    end: u64,
    erased: u32,
    compressor: zstd::bulk::Compressor<'static>,
}

impl ArchiveWriter {
    /// Begins an archive for a segment.
    pub(crate) fn create(path: &Path, header: &SegmentHeader, sync: bool) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&u64::from(VERSION).to_le_bytes());
        bytes.extend_from_slice(&header.encode());
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        file.write_all(&bytes)?;
        Ok(Self {
            file,
            sync,
            journal: header.journal,
            entries: Vec::new(),
            block: Vec::new(),
            first: None,
            place: bytes.len() as u64,
            synced: 0,
            end: BLOCK_BYTES,
            erased: 0,
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
        })
    }

    /// Adds the group that follows the one before. `erased` of its frames have lost content.
    pub(crate) fn add(&mut self, group: &Group, erased: u32) -> io::Result<()> {
        let too_long = |_| io::Error::other("a group is too long for an archive");
        let body_bytes = u32::try_from(group.body.len()).map_err(too_long)?;
        let group_bytes = u32::try_from(group.end.saturating_sub(self.end)).map_err(too_long)?;
        self.first.get_or_insert((self.end, group.header.group));
        for number in [body_bytes, group.header.records, group_bytes] {
            self.block.extend_from_slice(&number.to_le_bytes());
        }
        self.block.extend_from_slice(&group.body);
        self.end = group.end;
        self.erased = self.erased.saturating_add(erased);
        if self.block.len() >= BLOCK_FILL_BYTES { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> io::Result<()> {
        let Some((offset, group)) = self.first.take() else { return Ok(()) };
        let too_long = |_| io::Error::other("a block is too long for an archive");
        let stored = self.compressor.compress(&self.block)?;
        self.entries.push(Entry {
            offset,
            group,
            place: self.place,
            stored_bytes: u32::try_from(stored.len()).map_err(too_long)?,
            raw_bytes: u32::try_from(self.block.len()).map_err(too_long)?,
            checksum: xxh3_64_with_seed(&stored, self.journal),
        });
        self.block.clear();
        self.file.write_all(&stored)?;
        self.place += stored.len() as u64;
        if self.sync && self.place - self.synced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.synced = self.place;
        }
        Ok(())
    }

    /// Completes and syncs the archive. Returns its size.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.write_block()?;
        let mut index = Vec::with_capacity(self.entries.len() * ENTRY_BYTES + TRAILER_BYTES);
        self.entries.iter().for_each(|entry| entry.encode(&mut index));
        let count = u32::try_from(self.entries.len()).map_err(io::Error::other)?;
        index.extend_from_slice(&count.to_le_bytes());
        index.extend_from_slice(&self.erased.to_le_bytes());
        index.extend_from_slice(&self.end.to_le_bytes());
        let checksum = xxh3_64_with_seed(&index, self.journal);
        index.extend_from_slice(&checksum.to_le_bytes());
        index.extend_from_slice(&END);
        self.file.write_all(&index)?;
        if self.sync {
            self.file.sync_all()?;
        }
        Ok(self.place + index.len() as u64)
    }
}
