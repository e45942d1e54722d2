//! One segment file: filled with zeros before its use, read and written in whole groups. Knows neither the content of
//! groups nor the order of segments.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::codec::{
    self, BLOCK_BYTES, GROUP_END, GROUP_HEADER_BYTES, GroupHeader, HeaderFault, SEGMENT_SUFFIX,
    SegmentHeader, file_name,
};
use super::direct::DirectWrites;
use super::error::{Damage, LogError};
use super::pace::Pace;

pub(crate) const UNFINISHED_SUFFIX: &str = ".new";
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
/// Zeros are synced in pieces of this size, so that the sync of a commit never waits for a whole segment.
const FILL_SYNC_BYTES: u64 = 1024 * 1024;

/// The numbers of the segments in a folder, ascending.
pub(crate) fn list(folder: &Path) -> Result<Vec<u64>, LogError> {
    list_files(folder, SEGMENT_SUFFIX)
}

/// The numbers of the files in a folder whose names end in `suffix`, ascending.
pub(crate) fn list_files(folder: &Path, suffix: &str) -> Result<Vec<u64>, LogError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| LogError::io("list", folder, error))? {
        let entry = entry.map_err(|error| LogError::io("list", folder, error))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(suffix)?.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes files that were still being written when the process crashed. They were never part of the journal.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<(), LogError> {
    for entry in fs::read_dir(folder).map_err(|error| LogError::io("list", folder, error))? {
        let path = entry.map_err(|error| LogError::io("list", folder, error))?.path();
        if path.to_str().is_some_and(|path| path.ends_with(UNFINISHED_SUFFIX)) {
            fs::remove_file(&path).map_err(|error| LogError::io("remove", &path, error))?;
        }
    }
    Ok(())
}

/// Syncs the entries of a folder.
pub(crate) fn sync_folder(folder: &Path, sync: bool) -> Result<(), LogError> {
    if !sync {
        return Ok(());
    }
    File::open(folder).and_then(|file| file.sync_all()).map_err(|error| LogError::io("sync", folder, error))
}

/// A group that was read: its checksum, end mark and padding are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub header: GroupHeader,
    pub body: Vec<u8>,
    /// The byte after the group, where the next one begins.
    pub end: u64,
}

/// An open segment file.
pub(crate) struct Segment {
    file: File,
    path: PathBuf,
    pub header: SegmentHeader,
    direct: DirectWrites,
    faults: Faults,
}

impl Segment {
    /// Creates a segment. With `sync`, its zeros, its size and its name are on disk when this returns: a commit to it then
    /// only overwrites blocks, which needs no journal commit of the file system. Without, it is sparse. With a pace, the disk is
    /// left to others most of the time.
    pub(crate) fn create(
        folder: &Path,
        header: SegmentHeader,
        sync: bool,
        pace: Option<&Pace>,
        faults: Faults,
    ) -> Result<Self, LogError> {
        let path = folder.join(file_name(header.number));
        let unfinished = folder.join(format!("{}{UNFINISHED_SUFFIX}", file_name(header.number)));
        faults.before(Operation::Create).map_err(|error| LogError::io("create", &unfinished, error))?;
        faults.before(Operation::Open).map_err(|error| LogError::io("create", &unfinished, error))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)
            .map_err(|error| LogError::io("create", &unfinished, error))?;
        if let Err(error) = fill(&file, &header, sync, pace) {
            // Most likely the disk is full: free the space. If removing fails, the next start removes it.
            let _ = fs::remove_file(&unfinished);
            return Err(LogError::io("fill", &unfinished, error));
        }
        fs::rename(&unfinished, &path).map_err(|error| LogError::io("rename", &unfinished, error))?;
        sync_folder(folder, sync)?;
        let segment = Self { file, path, header, direct: DirectWrites::default(), faults };
        segment.evict(0);
        Ok(segment)
    }

    /// Removes what is on disk from the page cache, from `offset` on. Pages of zeros are cached as large folios, and a group of
    /// one block that is written to such a folio counts as written with its full size (`write_bytes` of the process).
    pub(crate) fn evict(&self, offset: u64) {
        let _ = rustix::fs::fadvise(&self.file, offset, None, rustix::fs::Advice::DontNeed);
    }

    /// Opens a segment and checks its first block and its size. `NotFound` is an `Io` error.
    pub(crate) fn open(folder: &Path, number: u64, writable: bool, faults: Faults) -> Result<Self, LogError> {
        let path = folder.join(file_name(number));
        let file = OpenOptions::new()
            .read(true)
            .write(writable)
            .open(&path)
            .map_err(|error| LogError::io("open", &path, error))?;
        let bytes = file.metadata().map_err(|error| LogError::io("open", &path, error))?.len();
        let header = read_header(&file, &path, number, bytes)?;
        Ok(Self { file, path, header, direct: DirectWrites::default(), faults })
    }

    /// The group at `offset`, or `None` when there is no complete, valid group.
    pub(crate) fn read_group(&self, offset: u64) -> Result<Option<Group>, LogError> {
        if offset + BLOCK_BYTES > self.header.bytes {
            return Ok(None);
        }
        let mut bytes = self.read(offset, BLOCK_BYTES)?;
        let Some(header) = GroupHeader::decode(&bytes, self.header.journal) else {
            return Ok(None);
        };
        let total_bytes = codec::group_bytes(u64::from(header.body_bytes));
        if offset + total_bytes > self.header.bytes {
            return Ok(None);
        }
        if total_bytes > BLOCK_BYTES {
            bytes.resize(total_bytes as usize, 0);
            self.read_into(offset + BLOCK_BYTES, &mut bytes[BLOCK_BYTES as usize..])?;
        }
        let body_end = GROUP_HEADER_BYTES + header.body_bytes as usize;
        let mark_end = body_end + GROUP_END.len();
        let is_whole = bytes[body_end..mark_end] == GROUP_END
            && is_zero(&bytes[mark_end..])
            && codec::body_checksum(&bytes[GROUP_HEADER_BYTES..body_end], self.header.journal)
                == header.body_checksum;
        if !is_whole {
            return Ok(None);
        }
        bytes.truncate(body_end);
        bytes.drain(..GROUP_HEADER_BYTES);
        Ok(Some(Group { header, body: bytes, end: offset + total_bytes }))
    }

    /// `count` bytes from `offset` on.
    pub(crate) fn read(&self, offset: u64, count: u64) -> Result<Vec<u8>, LogError> {
        // A segment is far smaller than memory's address space, so the count is a usize.
        let mut bytes = vec![0; count as usize];
        self.read_into(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills a buffer with what follows `offset`.
    fn read_into(&self, offset: u64, bytes: &mut [u8]) -> Result<(), LogError> {
        self.file.read_exact_at(bytes, offset).map_err(|error| LogError::io("read", &self.path, error))
    }

    /// The byte after the last one from `offset` on that is not zero, or `offset` when all are.
    pub(crate) fn written_end(&self, offset: u64) -> Result<u64, LogError> {
        let mut end = offset;
        let mut at = offset;
        while at < self.header.bytes {
            let chunk = self.read(at, (ZEROS.len() as u64).min(self.header.bytes - at))?;
            if !is_zero(&chunk) {
                let last = chunk.iter().rposition(|byte| *byte != 0).unwrap_or(0);
                end = at + last as u64 + 1;
            }
            at += chunk.len() as u64;
        }
        Ok(end)
    }

    /// Writes at `offset` and, with `sync`, syncs (`fdatasync`): whole aligned blocks bypass the page cache where the file system
    /// permits.
    pub(crate) fn commit(&mut self, offset: u64, bytes: &[u8], sync: bool) -> io::Result<()> {
        self.faults.before(Operation::Write)?;
        if sync && self.direct.write(&self.file, offset, bytes)? {
            return self.faults.before(Operation::Sync);
        }
        self.file.write_all_at(bytes, offset)?;
        if sync {
            self.faults.before(Operation::Sync)?;
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Reads the groups before `end` from the disk, not from the page cache, and checks them: after a failed write the two
    /// may differ.
    pub(crate) fn verify(&mut self, end: u64) -> Result<(), LogError> {
        self.direct.refuse(&self.file);
        // Drops only clean pages; if the advice is ignored, the check is weaker, not wrong.
        self.evict(0);
        let mut offset = BLOCK_BYTES;
        while offset < end {
            let Some(group) = self.read_group(offset)? else {
                let what = "a group that was stored cannot be read back after a failed write".to_owned();
                let segment = self.header.number;
                let damage = Damage { segment, offset, realm: None, sequence: None, what, is_archive: false };
                return Err(damage.into());
            };
            offset = group.end;
        }
        Ok(())
    }

    /// The path of the file, for errors.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether all bytes are zero. Compares with a block of zeros, which is fast without optimisation too.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(ZEROS.len()).all(|chunk| chunk == &ZEROS[..chunk.len()])
}

fn fill(file: &File, header: &SegmentHeader, sync: bool, pace: Option<&Pace>) -> io::Result<()> {
    if !sync {
        file.set_len(header.bytes)?;
        return file.write_all_at(&header.encode(), 0);
    }
    let mut at = 0;
    let mut synced = 0;
    let mut since = Instant::now();
    while at < header.bytes {
        let count = (ZEROS.len() as u64).min(header.bytes - at);
        file.write_all_at(&ZEROS[..count as usize], at)?;
        at += count;
        if at - synced >= FILL_SYNC_BYTES {
            file.sync_data()?;
            synced = at;
            if let Some(pace) = pace {
                pace.pause(since.elapsed());
            }
            since = Instant::now();
        }
    }
    file.write_all_at(&header.encode(), 0)?;
    file.sync_all()
}

fn read_header(file: &File, path: &Path, number: u64, bytes: u64) -> Result<SegmentHeader, LogError> {
    let damaged = |what: String| Damage {
        segment: number,
        offset: 0,
        realm: None,
        sequence: None,
        what,
        is_archive: false,
    };
    let mut block = vec![0; BLOCK_BYTES.min(bytes) as usize];
    file.read_exact_at(&mut block, 0).map_err(|error| LogError::io("read", path, error))?;
    let Some((encoded, padding)) = block.split_first_chunk() else {
        return Err(damaged(format!("the file has {bytes} bytes, shorter than its header")).into());
    };
    let header = match SegmentHeader::decode(encoded) {
        Ok(header) => header,
        Err(HeaderFault::Format(found)) => return Err(LogError::Format { path: path.to_path_buf(), found }),
        Err(HeaderFault::Checksum) => {
            return Err(damaged("the segment header fails its checksum".to_owned()).into());
        }
    };
    if header.number != number {
        return Err(damaged(format!("the file is segment {} under another name", header.number)).into());
    }
    // The size was on disk before the first use, so a crash cannot have shortened the file.
    if header.bytes != bytes {
        return Err(damaged(format!("the file has {bytes} of {} bytes", header.bytes)).into());
    }
    if !is_zero(padding) {
        return Err(damaged("unexpected bytes follow the segment header".to_owned()).into());
    }
    Ok(header)
}

/// An operation that tests can make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    /// Fails once for each time that it is injected: no more files may be open.
    Open,
    Write,
    Sync,
    WriteArchive,
    VerifyArchive,
    RenameArchive,
    RemoveOriginal,
}

/// Faults that tests inject into the files; outside of tests it is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    #[cfg(test)]
    failing: std::sync::Arc<parking_lot::Mutex<Vec<Operation>>>,
}

impl Faults {
    #[cfg_attr(not(test), expect(unused_variables))]
    pub(crate) fn before(&self, operation: Operation) -> io::Result<()> {
        #[cfg(test)]
        if let Some(error) = self.injected(operation) {
            return Err(error);
        }
        Ok(())
    }

    #[cfg(test)]
    fn injected(&self, operation: Operation) -> Option<io::Error> {
        let mut failing = self.failing.lock();
        let at = failing.iter().position(|one| *one == operation)?;
        Some(match operation {
            Operation::Create => io::ErrorKind::StorageFull.into(),
            Operation::Open => {
                failing.remove(at);
                rustix::io::Errno::MFILE.into()
            }
            Operation::Write
            | Operation::Sync
            | Operation::WriteArchive
            | Operation::VerifyArchive
            | Operation::RenameArchive
            | Operation::RemoveOriginal => io::Error::other("injected fault"),
        })
    }

    /// Makes exactly these operations fail.
    #[cfg(test)]
    pub(crate) fn set(&self, failing: &[Operation]) {
        *self.failing.lock() = failing.to_vec();
    }
}
