//! The right to write to an unfinished upload, which one request has at a time.

use super::upload::{PartialError, PartialUpload, blocking};
use crate::integrations::block_writer::{BlockWriter, Durability};
use model::Timestamp;
use std::fs::OpenOptions;
use std::sync::Arc;
use tokio::sync::{OwnedMutexGuard, watch};

/// A request's right to write to an upload.
#[derive(Debug)]
pub struct WriteLock {
    upload: Arc<PartialUpload>,
    _guard: OwnedMutexGuard<()>,
    asked: watch::Receiver<u64>,
    writer: BlockWriter,
}

impl WriteLock {
    pub(super) fn new(
        upload: Arc<PartialUpload>,
        guard: OwnedMutexGuard<()>,
        asked: watch::Receiver<u64>,
    ) -> Self {
        let writer = writer(&upload);
        Self { upload, _guard: guard, asked, writer }
    }

    /// The upload that it allows to write to.
    pub fn upload(&self) -> &Arc<PartialUpload> {
        &self.upload
    }

    /// Returns when another request wants to write.
    pub async fn interrupted(&mut self) {
        // The sender is in the upload, which is alive.
        let _ = self.asked.changed().await;
    }

    /// The number of bytes that are still to come.
    pub fn bytes_left(&self) -> u64 {
        self.upload.info.length.saturating_sub(self.writer.end())
    }

    /// Adds bytes, at most those that are left. They are not durable yet.
    ///
    /// # Errors
    /// If the disk fails or is full. What was durable before is unchanged.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), PartialError> {
        let left = usize::try_from(self.bytes_left()).unwrap_or(usize::MAX);
        Ok(self.writer.write(&piece[..piece.len().min(left)]).await?)
    }

    /// Makes everything durable, and returns the new offset.
    ///
    /// # Errors
    /// If the disk fails or is full. What was durable before is unchanged.
    pub async fn sync(&mut self, now: Timestamp) -> Result<u64, PartialError> {
        let written = self.writer.sync().await?;
        let mut progress = self.upload.progress.lock();
        if written > progress.offset {
            progress.touched = now;
        }
        progress.offset = written;
        Ok(written)
    }

    /// Drops what was written since the last durable offset.
    ///
    /// # Errors
    /// If the disk fails.
    pub async fn roll_back(&mut self) -> Result<(), PartialError> {
        std::mem::replace(&mut self.writer, writer(&self.upload)).stop().await;
        let (path, length) = (self.upload.file(), self.upload.offset());
        blocking(move || Ok(OpenOptions::new().write(true).open(path)?.set_len(length)?)).await
    }
}

/// Writes from the durable end on.
fn writer(upload: &PartialUpload) -> BlockWriter {
    let durability = if upload.is_durable { Durability::Durable } else { Durability::Volatile };
    BlockWriter::new(upload.file(), upload.offset(), durability)
}
