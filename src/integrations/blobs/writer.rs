//! Files that are written as they arrive, in parts. Of small parts the next one is received while one is written.

use super::{BlobError, BlobName, Blobs};
use bytes::Bytes;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::task::JoinHandle;

/// Size of a part in a folder.
const FOLDER_PART_BYTES: usize = 256 << 10;
/// Size of a part in S3, which accepts no smaller ones.
const S3_PART_BYTES: usize = 5 << 20;

/// A file that is being written. Nothing of it is left if it is dropped before it is finished, unless the process ends.
pub struct BlobWriter {
    blobs: Blobs,
    name: BlobName,
    part_bytes: usize,
    /// What was not given to the store yet; less than a part.
    pending: Vec<Bytes>,
    pending_bytes: usize,
    upload: Option<Box<dyn MultipartUpload>>,
    /// The part that the store is writing.
    writing: Option<JoinHandle<Result<(), object_store::Error>>>,
}

impl Blobs {
    /// Begins a file. Files that are smaller than a part are written at once when they are finished.
    pub fn writer(&self, name: BlobName) -> BlobWriter {
        let part_bytes = if self.folder.is_some() { FOLDER_PART_BYTES } else { S3_PART_BYTES };
        let (pending, pending_bytes) = (Vec::new(), 0);
        BlobWriter {
            blobs: self.clone(),
            name,
            part_bytes,
            pending,
            pending_bytes,
            upload: None,
            writing: None,
        }
    }

    /// Bytes that a [`BlobWriter`] holds in memory at most.
    pub fn writer_bytes(&self) -> usize {
        if self.folder.is_some() { 2 * FOLDER_PART_BYTES } else { S3_PART_BYTES }
    }
}

impl BlobWriter {
    /// Adds bytes to the end of the file.
    pub async fn write(&mut self, mut piece: Bytes) -> Result<(), BlobError> {
        while self.pending_bytes + piece.len() >= self.part_bytes {
            // Some services require that all parts have the same size.
            let first = piece.split_to(self.part_bytes - self.pending_bytes);
            self.add(first);
            self.flush().await?;
        }
        self.add(piece);
        Ok(())
    }

    fn add(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.pending_bytes += piece.len();
            self.pending.push(piece);
        }
    }

    /// Gives the pending bytes to the store, once it has written those before.
    async fn flush(&mut self) -> Result<(), BlobError> {
        self.settle().await?;
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => {
                let begun = self.blobs.store.put_multipart(&self.name.path()).await;
                self.upload.insert(begun.map_err(BlobError::of_write)?)
            }
        };
        self.pending_bytes = 0;
        let part = upload.put_part(PutPayload::from_iter(std::mem::take(&mut self.pending)));
        self.writing = Some(tokio::spawn(part));
        // Large parts are not held twice.
        if self.blobs.folder.is_some() { Ok(()) } else { self.settle().await }
    }

    /// Waits for the part that is being written.
    async fn settle(&mut self) -> Result<(), BlobError> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        match writing.await {
            Ok(written) => written.map_err(BlobError::of_write),
            Err(ended) => Err(BlobError::Store(ended.to_string())),
        }
    }

    /// Finishes the file. It is durable when this returns; after an error nothing of it is left.
    pub async fn finish(mut self) -> Result<(), BlobError> {
        if self.upload.is_none() {
            let payload = PutPayload::from_iter(std::mem::take(&mut self.pending));
            let put = self.blobs.store.put(&self.name.path(), payload).await;
            put.map_err(BlobError::of_write)?;
            return self.blobs.make_private(&self.name);
        }
        if self.pending_bytes > 0 {
            self.flush().await?;
        }
        self.settle().await?;
        if let Some(upload) = &mut self.upload {
            upload.complete().await.map_err(BlobError::of_write)?;
        }
        self.upload = None;
        self.blobs.make_private(&self.name)
    }
}

impl Drop for BlobWriter {
    /// Deletes the parts of a file that was not finished.
    fn drop(&mut self) {
        let (Some(mut upload), writing) = (self.upload.take(), self.writing.take()) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Some(writing) = writing {
                let _ = writing.await;
            }
            if let Err(error) = upload.abort().await {
                tracing::warn!(%error, "parts of a file that was not finished could not be deleted");
            }
        });
    }
}
