//! Files of rows in blocks that are compressed and verified one by one, so that they are written and read with little memory:
//! bases, and frames that a log does not have any more (`shared_files`).
//!
//! ```text
//! file  = magic of the kind (8) ‖ version (u32) ‖ realm (u32) ‖ sequence (u64) ‖ checksum of the frame's payload (u64)
//!         ‖ checksum of the header (u64) ‖ block ‖ block ‖ … ‖ end
//! block = bytes of the zstd frame (u32) ‖ bytes decompressed (u32) ‖ checksum of the zstd frame (u64) ‖ zstd frame
//! end   = 0 (u32) ‖ 0 (u32) ‖ blocks (u64) ‖ rows (u64) ‖ checksum of the 24 bytes before (u64) ‖ END (8)
//! row   = key bytes (u32) ‖ key ‖ value bytes (u32) ‖ value
//! ```
//!
//! Integers are little-endian, checksums xxh3-64; that of a block is seeded with its number.

use crate::checkpoint::Pace;
use crate::error::StoreError;
use crate::view::Row;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const END: [u8; 8] = *b"\xE7MSBASE\xE7";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 40;

/// A block gets no further row once it has this many bytes.
const BLOCK_BYTES: usize = 256 * 1024;

/// A damaged length must not exhaust memory: a block has at most one large row.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + 9 * 1024 * 1024;

const LEVEL: i32 = 3;

/// What is read of a file after its blocks; more is damage.
const REST_BYTES_MAX: u64 = 64;

/// What the rows of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Those of an organization as of a frame.
    Base,
    /// Payloads of frames, from a frame on.
    Frames,
}

impl Kind {
    fn magic(self) -> [u8; 8] {
        match self {
            Self::Base => *b"\x89MSBASE\n",
            Self::Frames => *b"\x89MSFRMS\n",
        }
    }

    /// The error of a file that is not whole.
    pub fn damaged(self, why: &str) -> StoreError {
        let what = match self {
            Self::Base => "base",
            Self::Frames => "archive of frames",
        };
        StoreError::Decode { what, why: why.to_owned() }
    }
}

/// What a file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub kind: Kind,
    pub realm: u32,
    pub sequence: u64,
    /// The checksum of the frame's payload.
    pub frame: u64,
}

/// Writes a file. Returns its size and the number of rows.
pub(crate) fn write(
    path: &Path,
    header: Header,
    rows: impl Iterator<Item = Result<Row, StoreError>>,
    pace: &Pace,
) -> Result<(u64, u64), StoreError> {
    let failed = |source| StoreError::io("cannot write", path, source);
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
    let mut out =
        RowWriter { file: BufWriter::new(file), block: Vec::new(), blocks: 0, rows: 0, bytes: 0, pace };
    out.put(&encode_header(header)).map_err(failed)?;
    for row in rows {
        let Row { key, value } = row?;
        out.row(&key, &value).map_err(failed)?;
    }
    out.finish().map_err(failed)
}

fn encode_header(header: Header) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&header.kind.magic());
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&header.realm.to_le_bytes());
    bytes.extend_from_slice(&header.sequence.to_le_bytes());
    bytes.extend_from_slice(&header.frame.to_le_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Writes rows to a file, block by block.
struct RowWriter<'p> {
    file: BufWriter<File>,
    block: Vec<u8>,
    blocks: u64,
    rows: u64,
    bytes: u64,
    pace: &'p Pace,
}

impl RowWriter<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn row(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        for part in [key, value] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            self.block.extend_from_slice(&length.to_le_bytes());
            self.block.extend_from_slice(part);
        }
        self.rows += 1;
        if self.block.len() < BLOCK_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        let plain = std::mem::take(&mut self.block);
        let packed = zstd::bulk::compress(&plain, LEVEL)?;
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
        self.put(&length(&packed)?.to_le_bytes())?;
        self.put(&length(&plain)?.to_le_bytes())?;
        self.put(&xxh3_64_with_seed(&packed, self.blocks).to_le_bytes())?;
        self.put(&packed)?;
        self.blocks += 1;
        // So that a commit of the journal never waits for all of it.
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        self.pace.wrote(packed.len())
    }

    fn finish(mut self) -> io::Result<(u64, u64)> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        let mut end = vec![0; 8];
        end.extend_from_slice(&self.blocks.to_le_bytes());
        end.extend_from_slice(&self.rows.to_le_bytes());
        let checksum = xxh3_64(&end);
        end.extend_from_slice(&checksum.to_le_bytes());
        end.extend_from_slice(&END);
        self.put(&end)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        Ok((self.bytes, self.rows))
    }
}

/// Reads the rows of a file, block by block.
pub(crate) struct RowReader<R> {
    content: R,
    pub header: Header,
    blocks: u64,
    rows: u64,
}

impl RowReader<BufReader<File>> {
    /// Opens the file of a base and verifies its header.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|source| StoreError::io("cannot read", path, source))?;
        Self::new(Kind::Base, BufReader::new(file))
    }
}

impl<R: Read> RowReader<R> {
    /// Begins to read the content of a file and verifies its header.
    pub fn new(kind: Kind, mut content: R) -> Result<Self, StoreError> {
        let mut bytes = [0; HEADER_BYTES];
        content.read_exact(&mut bytes).map_err(|error| cut(kind, &error))?;
        let header = Header {
            kind,
            realm: number::<4>(&bytes, 12) as u32,
            sequence: number::<8>(&bytes, 16),
            frame: number::<8>(&bytes, 24),
        };
        if encode_header(header) != bytes {
            return Err(kind.damaged("its header is damaged or of another version"));
        }
        Ok(Self { content, header, blocks: 0, rows: 0 })
    }

    /// The rows of the next block; `None` at the end, which is verified, too.
    pub fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let kind = self.header.kind;
        let failed = |error| cut(kind, &error);
        let mut head = [0; 8];
        self.content.read_exact(&mut head).map_err(failed)?;
        let (packed_bytes, plain_bytes) = (number::<4>(&head, 0) as usize, number::<4>(&head, 4) as usize);
        if packed_bytes == 0 {
            return self.end(&head).map(|()| None);
        }
        if packed_bytes > BLOCK_BYTES_MAX || plain_bytes > BLOCK_BYTES_MAX {
            return Err(kind.damaged("a block has a wrong length"));
        }
        let (mut checksum, mut packed) = ([0; 8], vec![0; packed_bytes]);
        self.content.read_exact(&mut checksum).map_err(failed)?;
        self.content.read_exact(&mut packed).map_err(failed)?;
        if xxh3_64_with_seed(&packed, self.blocks) != u64::from_le_bytes(checksum) {
            return Err(kind.damaged("a block fails its checksum"));
        }
        let plain = zstd::bulk::decompress(&packed, plain_bytes)
            .map_err(|_| kind.damaged("a block cannot be unpacked"))?;
        let rows = rows_of(&plain).ok_or_else(|| kind.damaged("a block has another form"))?;
        self.blocks += 1;
        self.rows += rows.len() as u64;
        Ok(Some(rows))
    }

    fn end(&mut self, head: &[u8; 8]) -> Result<(), StoreError> {
        let kind = self.header.kind;
        let mut rest = Vec::new();
        let read = (&mut self.content).take(REST_BYTES_MAX).read_to_end(&mut rest);
        read.map_err(|error| kind.damaged(&format!("its end cannot be read: {error}")))?;
        let mut expected = head.to_vec();
        expected.extend_from_slice(&self.blocks.to_le_bytes());
        expected.extend_from_slice(&self.rows.to_le_bytes());
        let checksum = xxh3_64(&expected);
        expected.extend_from_slice(&checksum.to_le_bytes());
        expected.extend_from_slice(&END);
        if number::<4>(head, 4) == 0 && rest == expected[8..] {
            Ok(())
        } else {
            Err(kind.damaged("its end is damaged"))
        }
    }
}

/// The error of content that ends too early or cannot be read.
fn cut(kind: Kind, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => kind.damaged("it is too short"),
        _ => kind.damaged(&format!("it cannot be read: {error}")),
    }
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn rows_of(mut bytes: &[u8]) -> Option<Vec<Row>> {
    fn take(bytes: &mut &[u8]) -> Option<Vec<u8>> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        *bytes = rest;
        Some(part.to_vec())
    }
    let mut rows = Vec::new();
    while !bytes.is_empty() {
        rows.push(Row { key: take(&mut bytes)?, value: take(&mut bytes)? });
    }
    Some(rows)
}
