//! The right to write to an unfinished upload, which one request has at a time.

use super::upload::{PartialError, PartialUpload, blocking};
use model::Timestamp;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use tokio::sync::{OwnedMutexGuard, watch};

/// Bytes that are collected in memory before they are written.
pub const BUFFER_BYTES: usize = 256 << 10;

/// A request's right to write to an upload.
#[derive(Debug)]
pub struct Turn {
    upload: Arc<PartialUpload>,
    _guard: OwnedMutexGuard<()>,
    asked: watch::Receiver<u64>,
    /// The end of what was written, durable or not.
    written: u64,
    buffer: Vec<u8>,
}

impl Turn {
    pub(super) fn new(
        upload: Arc<PartialUpload>,
        guard: OwnedMutexGuard<()>,
        asked: watch::Receiver<u64>,
    ) -> Self {
        let written = upload.offset();
        Self { upload, _guard: guard, asked, written, buffer: Vec::new() }
    }

    /// The upload that this turn writes to.
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
        self.upload.about.length.saturating_sub(self.written + self.buffer.len() as u64)
    }

    /// Adds bytes, at most those that are left. They are not durable yet.
    ///
    /// # Errors
    /// If the disk fails or is full. What was durable before is unchanged.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), PartialError> {
        let left = usize::try_from(self.bytes_left()).unwrap_or(usize::MAX);
        self.buffer.extend_from_slice(&piece[..piece.len().min(left)]);
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), PartialError> {
        let (path, at, bytes) = (self.upload.file(), self.written, std::mem::take(&mut self.buffer));
        let length = bytes.len() as u64;
        let mut bytes = blocking(move || {
            OpenOptions::new().write(true).open(path)?.write_all_at(&bytes, at)?;
            Ok(bytes)
        })
        .await?;
        bytes.clear();
        self.buffer = bytes;
        self.written += length;
        Ok(())
    }

    /// Makes everything durable, and returns the new offset.
    ///
    /// # Errors
    /// If the disk fails or is full. What was durable before is unchanged.
    pub async fn sync(&mut self, now: Timestamp) -> Result<u64, PartialError> {
        self.flush().await?;
        let (path, is_durable) = (self.upload.file(), self.upload.is_durable);
        if is_durable {
            blocking(move || Ok(OpenOptions::new().write(true).open(path)?.sync_data()?)).await?;
        }
        let mut progress = self.upload.progress.lock();
        if self.written > progress.offset {
            progress.touched = now;
        }
        progress.offset = self.written;
        Ok(self.written)
    }

    /// Drops what was written since the last durable offset.
    ///
    /// # Errors
    /// If the disk fails.
    pub async fn roll_back(&mut self) -> Result<(), PartialError> {
        self.buffer.clear();
        self.written = self.upload.offset();
        let (path, length) = (self.upload.file(), self.written);
        blocking(move || Ok(OpenOptions::new().write(true).open(path)?.set_len(length)?)).await
    }
}
