//! Writes a file in blocks as its bytes arrive: one block is collected while a thread for blocking work writes the one before.
//! The disk begins early, so that making a large file durable at the end takes little time.

use rustix::fs::{Advice, fadvise};
use std::fs::{File, OpenOptions};
use std::io::Error;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio::task::JoinHandle;

/// Size of a block.
const BLOCK_BYTES: usize = 256 << 10;
/// Bytes that a writer holds in memory at most.
pub const MEMORY_BYTES: usize = 2 * BLOCK_BYTES;
/// Bytes after which the kernel is asked to write what it has.
const WRITE_BACK_BYTES: u64 = 4 << 20;

/// Whether the end of a file has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The bytes survive a power failure.
    Durable,
    /// The data is temporary.
    Volatile,
}

/// Adds bytes to a private file, which is created by the first of them if it does not exist.
#[derive(Debug)]
pub struct BlockWriter {
    path: PathBuf,
    durability: Durability,
    /// Where `block` will be in the file.
    at: u64,
    block: Vec<u8>,
    idle: Option<Idle>,
    writing: Option<JoinHandle<Result<Idle, Error>>>,
    /// After an error nothing more is written, because the file would have a gap.
    has_failed: bool,
}

/// What is used again for the next block.
#[derive(Debug)]
struct Idle {
    file: File,
    block: Vec<u8>,
    /// Up to here the kernel was asked to write.
    written_back: u64,
}

impl BlockWriter {
    /// Writes to a file from an offset on. Nothing is opened yet.
    pub fn new(path: PathBuf, at: u64, durability: Durability) -> Self {
        Self { path, durability, at, block: Vec::new(), idle: None, writing: None, has_failed: false }
    }

    /// The end of what was added, written or not.
    pub fn end(&self) -> u64 {
        self.at + self.block.len() as u64
    }

    /// The file that is written to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds bytes. They are not durable yet; the error may be that of bytes that were added before.
    pub async fn write(&mut self, mut piece: &[u8]) -> Result<(), Error> {
        while self.block.len() + piece.len() >= BLOCK_BYTES {
            let (first, rest) = piece.split_at(BLOCK_BYTES - self.block.len());
            append(&mut self.block, first, BLOCK_BYTES);
            piece = rest;
            self.flush().await?;
        }
        append(&mut self.block, piece, BLOCK_BYTES);
        Ok(())
    }

    /// Gives the block to a thread, once the one before is written.
    async fn flush(&mut self) -> Result<(), Error> {
        let idle = self.idle().await?;
        let (mut file, mut next, written_back) = match idle {
            Some(Idle { file, block, written_back }) => (Some(file), block, written_back),
            None => (None, Vec::new(), self.at),
        };
        next.clear();
        let block = std::mem::replace(&mut self.block, next);
        let (path, at, durability) = (self.path.clone(), self.at, self.durability);
        self.at += block.len() as u64;
        self.writing = Some(tokio::task::spawn_blocking(move || {
            let file = match file.take() {
                Some(file) => file,
                None => OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?,
            };
            file.write_all_at(&block, at)?;
            let mut idle = Idle { file, block, written_back };
            if durability == Durability::Durable {
                idle.write_back(at + idle.block.len() as u64);
            }
            Ok(idle)
        }));
        Ok(())
    }

    /// Waits for the block that is being written.
    async fn idle(&mut self) -> Result<Option<Idle>, Error> {
        if self.has_failed {
            return Err(Error::other("an earlier write has failed"));
        }
        if let Some(writing) = &mut self.writing {
            let written = writing.await.map_err(Error::other).flatten();
            self.writing = None;
            self.has_failed = written.is_err();
            self.idle = Some(written?);
        }
        Ok(self.idle.take())
    }

    /// Writes everything, makes it durable, and returns where it ends. More can be added afterwards.
    pub async fn sync(&mut self) -> Result<u64, Error> {
        self.flush().await?;
        if let Some(idle) = self.idle().await? {
            let durability = self.durability;
            let synced = tokio::task::spawn_blocking(move || {
                if durability == Durability::Durable {
                    idle.file.sync_data()?;
                }
                Ok::<_, Error>(idle)
            });
            let synced = synced.await.map_err(Error::other).flatten();
            self.has_failed = synced.is_err();
            self.idle = Some(synced?);
        }
        Ok(self.at)
    }

    /// Waits until nothing is being written, whatever became of it. What was not written is dropped.
    pub async fn stop(mut self) {
        let _ = self.idle().await;
    }
}

impl Idle {
    /// Asks the kernel to begin writing to the disk, for every few megabytes. The advice that pages are not needed does that
    /// without waiting: pages that are not on the disk yet stay in memory.
    fn write_back(&mut self, end: u64) {
        let Some(length) = NonZeroU64::new(end.saturating_sub(self.written_back)) else { return };
        if length.get() >= WRITE_BACK_BYTES {
            // Only an advice: the sync at the end says whether the bytes are on the disk.
            let _ = fadvise(&self.file, self.written_back, Some(length), Advice::DontNeed);
            self.written_back = end;
        }
    }
}

/// Adds bytes to a buffer that grows to at most `bytes_max`, which are not exceeded.
pub fn append(buffer: &mut Vec<u8>, bytes: &[u8], bytes_max: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        buffer.reserve_exact((2 * buffer.capacity()).clamp(needed, bytes_max.max(needed)) - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn pieces_of_any_size_become_the_file(sizes in prop::collection::vec(0usize..700_000, 0..12), sync_after in 0usize..12) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            let pieces: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(n, size)| vec![n as u8 + 1; *size]).collect();
            let end = actix_rt::System::new().block_on(async {
                let mut writer = BlockWriter::new(path.clone(), 3, Durability::Durable);
                for (n, piece) in pieces.iter().enumerate() {
                    writer.write(piece).await.unwrap();
                    if n == sync_after {
                        let written = std::fs::metadata(&path).map_or(0, |file| file.len());
                        prop_assert!(written <= writer.sync().await.unwrap());
                    }
                }
                Ok(writer.sync().await.unwrap())
            })?;
            let whole = [vec![0; 3], pieces.concat()].concat();
            prop_assert_eq!(end, whole.len() as u64);
            let read = std::fs::read(&path).unwrap();
            prop_assert!(read == whole || (whole.len() == 3 && read.is_empty()));
        }
    }

    #[actix_web::test]
    async fn errors_of_the_disk_are_returned() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = BlockWriter::new(folder.path().join("none/a"), 0, Durability::Volatile);
        writer.write(b"a").await.unwrap();
        assert!(writer.sync().await.is_err());
        std::fs::create_dir(folder.path().join("none")).unwrap();
        assert!(writer.sync().await.is_err(), "what failed is not written again");
    }

    #[test]
    fn buffers_grow_up_to_their_limit() {
        let mut buffer = Vec::new();
        while buffer.len() + 7 <= 1000 {
            append(&mut buffer, b"1234567", 1000);
            assert!(buffer.capacity() <= 1000);
        }
    }
}
