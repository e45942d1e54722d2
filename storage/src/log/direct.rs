//! Writes that bypass the page cache: the group goes from the writer's buffer to the disk in one call, without a copy and
//! without a page that must be found and written back first.

use std::fs::File;
use std::io::{self, IoSlice};
use std::ops::Deref;

use rustix::fs::OFlags;
use rustix::io::{Errno, ReadWriteFlags};

use super::codec::BLOCK_BYTES;

/// Whether a file takes such writes. Not every file system does, and some refuse only the write itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DirectWrites {
    #[default]
    Untried,
    Used,
    Refused,
}

impl DirectWrites {
    /// Writes whole blocks and syncs them, as `fdatasync` does. False: nothing is known to be on disk, and the caller writes
    /// the same bytes through the page cache.
    pub(crate) fn write(&mut self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        if !is_aligned(bytes) {
            self.refuse(file);
        }
        if !self.is_usable(file) {
            return Ok(false);
        }
        loop {
            match rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, ReadWriteFlags::DSYNC) {
                Ok(written) if written == bytes.len() => return Ok(true),
                Err(Errno::INTR) => {}
                Ok(_) | Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {
                    self.refuse(file);
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads and writes of the file go through the page cache from now on, and need no alignment.
    pub(crate) fn refuse(&mut self, file: &File) {
        if *self == Self::Used {
            // The flag can always be taken back; if it could not, the next read would fail with an error.
            let _ = rustix::fs::fcntl_setfl(file, OFlags::empty());
        }
        *self = Self::Refused;
    }

    fn is_usable(&mut self, file: &File) -> bool {
        if *self == Self::Untried {
            let is_taken = rustix::fs::fcntl_setfl(file, OFlags::DIRECT).is_ok();
            *self = if is_taken { Self::Used } else { Self::Refused };
        }
        *self == Self::Used
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().align_offset(BLOCK_BYTES as usize) == 0
}

/// A buffer whose first byte is at an address that direct writes take. It is filled like a vector.
#[derive(Default)]
pub(crate) struct BlockBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl BlockBuffer {
    /// Empties the buffer, with room for `capacity` bytes. Beyond them it may move, and is then written through the page cache.
    pub(crate) fn clear(&mut self, capacity: usize) {
        self.bytes.clear();
        self.bytes.reserve(capacity + BLOCK_BYTES as usize);
        self.start = self.bytes.as_ptr().align_offset(BLOCK_BYTES as usize);
        self.bytes.resize(self.start, 0);
    }

    /// Appends bytes, which should fit into the room that was made.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends zeros up to the given length.
    pub(crate) fn pad(&mut self, length: usize) {
        self.bytes.resize(self.start + length, 0);
    }

    /// What was appended, to be changed in place.
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

impl Deref for BlockBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn file(folder: &tempfile::TempDir) -> File {
        let path = folder.path().join("file");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap();
        file.write_all_at(&[0; 64 * 1024], 0).unwrap();
        file.sync_all().unwrap();
        file
    }

    fn group(byte: u8, blocks: usize) -> BlockBuffer {
        let mut buffer = BlockBuffer::default();
        buffer.clear(blocks * BLOCK_BYTES as usize);
        buffer.extend(&[byte; 100]);
        buffer.pad(blocks * BLOCK_BYTES as usize);
        buffer
    }

    #[test]
    fn buffers_are_aligned_whatever_their_size() {
        let mut buffer = BlockBuffer::default();
        for blocks in [1, 300, 2, 40, 7] {
            buffer.clear(blocks * BLOCK_BYTES as usize);
            assert!(buffer.is_empty());
            buffer.extend(&vec![1; blocks * BLOCK_BYTES as usize]);
            assert!(is_aligned(&buffer), "{blocks} blocks");
        }
    }

    #[test]
    fn written_blocks_are_read_by_others_and_by_the_same_file_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let mut direct = DirectWrites::default();
        let mut written = [0; 4096];
        for byte in 1..=5 {
            // Reading fills the page cache with what the next write replaces.
            let reader = File::open(folder.path().join("file")).unwrap();
            reader.read_exact_at(&mut written, 4096).unwrap();
            if !direct.write(&file, 4096, &group(byte, 2)).unwrap() {
                // The file system of temporary files takes no direct writes.
                assert_eq!(direct, DirectWrites::Refused);
                return;
            }
            reader.read_exact_at(&mut written, 4096).unwrap();
            assert_eq!((written[0], written[99], written[100]), (byte, byte, 0));
        }
        direct.refuse(&file);
        // Neither aligned nor a whole block.
        let mut few = [0; 3];
        file.read_exact_at(&mut few, 4097).unwrap();
        assert_eq!((few, direct), ([5; 3], DirectWrites::Refused));
    }

    #[test]
    fn what_is_not_aligned_is_left_to_the_page_cache() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let mut direct = DirectWrites::default();
        direct.write(&file, 8192, &group(1, 2)).unwrap();
        assert!(!direct.write(&file, 4096, &group(1, 2)[1..4097]).unwrap());
        // The caller can write it: the file takes any bytes again.
        file.write_all_at(&group(0, 2)[1..4097], 4096).unwrap();
        let mut content = [9; 4096];
        file.read_exact_at(&mut content, 4096).unwrap();
        assert_eq!((content, direct), ([0; 4096], DirectWrites::Refused));
    }

    #[test]
    fn file_that_refuses_is_not_asked_again() {
        // A pipe has no offsets, and a file of /proc takes no direct reads or writes.
        let file = File::open("/proc/self/status").unwrap();
        let mut direct = DirectWrites::default();
        assert!(!direct.write(&file, 0, &group(1, 1)).unwrap());
        assert_eq!(direct, DirectWrites::Refused);
    }
}
