//! The files of checkpoints: written under another name, synced and renamed, so that a file with its final name is
//! complete; and verified as a whole before anything of it is used.
//!
//! ```text
//! file = magic (8) ‖ version (u32) ‖ realm (u32) ‖ sequence (u64) ‖ checksum of the frame's payload (u64)
//!        ‖ checksum of the header (u64) ‖ body ‖ checksum of the body (u64) ‖ END (8)
//! ```
//!
//! Integers are little-endian, checksums xxh3-64.

use super::codec::Output;
use super::pace::Pace;
use crate::error::StoreError;
use crate::private_files::{create_private, sync_folder};
use model::RealmId;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The folder of checkpoints in a data folder.
pub(crate) const FOLDER: &str = "checkpoints";

/// The version of the content. A file with another one is not used.
const VERSION: u32 = 2;

const MAGIC: [u8; 8] = *b"\x89MSCKPT\n";
const END: [u8; 8] = *b"\xE7MSCKEND";
const HEADER_BYTES: usize = 40;
const TRAILER_BYTES: usize = 16;
const SUFFIX: &str = ".ckpt";
const UNFINISHED: &str = ".new";

/// A checkpoint is synced in pieces of this size, so that a commit of the journal never waits for all of it.
const SYNC_BYTES: usize = 1024 * 1024;

/// The bytes of a valid file.
pub(super) struct Content {
    bytes: Vec<u8>,
    pub frame: u64,
}

impl Content {
    /// The part between header and trailer.
    pub fn body(&self) -> &[u8] {
        &self.bytes[HEADER_BYTES..self.bytes.len() - TRAILER_BYTES]
    }
}

/// The name of a checkpoint.
pub(crate) fn name_of(sequence: u64) -> String {
    format!("{sequence:020}{SUFFIX}")
}

/// The sequence in the name of a checkpoint.
pub(crate) fn sequence_of(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

fn path_of(folder: &Path, sequence: u64) -> PathBuf {
    folder.join(name_of(sequence))
}

/// The sequences of the checkpoints in a folder, newest first.
pub(crate) fn list(folder: &Path) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<u64> = names.filter_map(|name| sequence_of(&name)).collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found
}

/// Removes a checkpoint.
pub(super) fn remove(folder: &Path, sequence: u64) -> Result<(), StoreError> {
    let path = path_of(folder, sequence);
    fs::remove_file(&path).map_err(|source| StoreError::io("cannot remove", &path, source))
}

/// Reads a checkpoint and verifies its checksums.
pub(super) fn read(folder: &Path, realm: RealmId, sequence: u64) -> Result<Content, StoreError> {
    let path = path_of(folder, sequence);
    let bytes = fs::read(&path).map_err(|source| StoreError::io("cannot read", &path, source))?;
    let damaged = |why: &str| StoreError::Decode { what: "checkpoint", why: why.to_owned() };
    if bytes.len() < HEADER_BYTES + TRAILER_BYTES || bytes[..8] != MAGIC {
        return Err(damaged("it is not a checkpoint"));
    }
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
    if number(32) != xxh3_64(&bytes[..32]) {
        return Err(damaged("its header fails its checksum"));
    }
    let version = number(8) as u32;
    if version != VERSION {
        return Err(damaged(&format!("version {version} is not the one of this server")));
    }
    if (number(8) >> 32, number(16)) != (u64::from(realm.0), sequence) {
        return Err(damaged("it stands for another organization or frame"));
    }
    let trailer = bytes.len() - TRAILER_BYTES;
    if bytes[trailer + 8..] != END || number(trailer) != xxh3_64(&bytes[HEADER_BYTES..trailer]) {
        return Err(damaged("its content fails its checksum"));
    }
    let frame = number(24);
    Ok(Content { bytes, frame })
}

/// Writes a checkpoint. Returns its size.
pub(super) fn write(
    folder: &Path,
    (realm, sequence, frame): (RealmId, u64, u64),
    pace: &Pace,
    body: impl FnOnce(&mut Output<'_>) -> io::Result<()>,
) -> Result<u64, StoreError> {
    create_private(folder)?;
    let path = path_of(folder, sequence);
    let unfinished = folder.join(format!("{sequence:020}{SUFFIX}{UNFINISHED}"));
    let written = fill(&unfinished, (realm, sequence, frame), pace, body);
    let renamed = written.and_then(|bytes| fs::rename(&unfinished, &path).map(|()| bytes));
    let bytes = renamed.map_err(|source| {
        // Most likely the disk is full: free the space. A file that stays is replaced by the next checkpoint.
        let _ = fs::remove_file(&unfinished);
        StoreError::io("cannot write", &path, source)
    })?;
    remove_unfinished(folder);
    sync_folder(folder)?;
    Ok(bytes)
}

/// Removes files that were being written when the process ended.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with(UNFINISHED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn fill(
    path: &Path,
    (realm, sequence, frame): (RealmId, u64, u64),
    pace: &Pace,
    body: impl FnOnce(&mut Output<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let mut paced = Paced { file, pace, unsynced: 0, bytes: 0 };
    let mut buffer = BufWriter::with_capacity(64 * 1024, &mut paced);
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&realm.0.to_le_bytes());
    header.extend_from_slice(&sequence.to_le_bytes());
    header.extend_from_slice(&frame.to_le_bytes());
    header.extend_from_slice(&xxh3_64(&header).to_le_bytes());
    buffer.write_all(&header)?;
    let mut out = Output::new(&mut buffer);
    body(&mut out)?;
    let checksum = out.checksum();
    buffer.write_all(&checksum.to_le_bytes())?;
    buffer.write_all(&END)?;
    buffer.flush()?;
    drop(buffer);
    paced.file.sync_all()?;
    Ok(paced.bytes)
}

/// A file that is written slowly enough not to delay the commits of the journal.
struct Paced<'p> {
    file: File,
    pace: &'p Pace,
    unsynced: usize,
    bytes: u64,
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        self.unsynced += bytes.len();
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.pace.wrote(self.unsynced)?;
            self.unsynced = 0;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
