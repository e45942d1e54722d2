//! Files that are written as they arrive, in parts.

use super::folder::Folder;
use super::folder_writer::{FolderWriter, link};
use super::health::Operation;
use super::{BlobError, BlobName, Blobs};
use crate::integrations::block_writer::{MEMORY_BYTES, append};
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use std::path::PathBuf;

/// Size of a part in S3, which accepts no smaller ones.
const S3_PART_BYTES: usize = 5 << 20;

/// A file that is being written. Nothing of it is left if it is dropped before it is finished, unless the process ends.
pub struct BlobWriter {
    blobs: Blobs,
    target: Target,
}

/// Where the bytes of a file go.
enum Target {
    /// In a folder.
    Folder(FolderWriter),
    /// In S3, part by part.
    Store(StoreWriter),
    /// A complete and durable file of the data folder, which gets another name.
    Linked(Folder, PathBuf, BlobName),
}

impl Blobs {
    /// Begins a file.
    pub fn writer(&self, name: BlobName) -> BlobWriter {
        let target = match &self.folder {
            Some(folder) => Target::Folder(FolderWriter::new(folder.clone(), name)),
            None => Target::Store(StoreWriter::new(self.clone(), name)),
        };
        BlobWriter { blobs: self.clone(), target }
    }

    /// Begins a file that is complete already, as a durable file of the data folder; none if its bytes have to be copied.
    pub fn writer_of_file(&self, name: BlobName, file: PathBuf) -> Option<BlobWriter> {
        let target = self.folder.clone().map(|folder| Target::Linked(folder, file, name))?;
        Some(BlobWriter { blobs: self.clone(), target })
    }

    /// Bytes that a [`BlobWriter`] holds in memory at most.
    pub fn writer_bytes(&self) -> usize {
        if self.folder.is_some() { MEMORY_BYTES } else { S3_PART_BYTES }
    }
}

impl BlobWriter {
    /// Adds bytes to the end of the file.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), BlobError> {
        let written = match &mut self.target {
            Target::Folder(writer) => writer.write(piece).await,
            Target::Store(writer) => writer.write(piece).await,
            Target::Linked(..) => Err(BlobError::Store("the file is complete".to_owned())),
        };
        match written {
            // That it is held in memory says nothing about the store.
            Ok(()) => Ok(()),
            failed => self.blobs.record(Operation::Change, failed),
        }
    }

    /// Finishes the file. It is durable when this returns; after an error nothing of it is left.
    pub async fn finish(self) -> Result<(), BlobError> {
        let finished = match self.target {
            Target::Folder(writer) => writer.finish().await,
            Target::Store(writer) => writer.finish().await,
            Target::Linked(folder, file, name) => link(folder, file, name).await,
        };
        self.blobs.record(Operation::Change, finished)
    }
}

/// A file in S3 that is being written. Its parts are not held twice.
struct StoreWriter {
    blobs: Blobs,
    name: BlobName,
    /// What was not given to the store yet; less than a part.
    pending: Vec<u8>,
    upload: Option<Box<dyn MultipartUpload>>,
}

impl StoreWriter {
    fn new(blobs: Blobs, name: BlobName) -> Self {
        Self { blobs, name, pending: Vec::new(), upload: None }
    }

    async fn write(&mut self, mut piece: &[u8]) -> Result<(), BlobError> {
        while self.pending.len() + piece.len() >= S3_PART_BYTES {
            // Some services require that all parts have the same size.
            let (first, rest) = piece.split_at(S3_PART_BYTES - self.pending.len());
            append(&mut self.pending, first, S3_PART_BYTES);
            piece = rest;
            self.flush().await?;
        }
        append(&mut self.pending, piece, S3_PART_BYTES);
        Ok(())
    }

    /// Gives the pending bytes to the store.
    async fn flush(&mut self) -> Result<(), BlobError> {
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => {
                self.blobs.check_owner().await?;
                let begun = self.blobs.store.put_multipart(&self.name.path()).await;
                self.upload.insert(begun.map_err(BlobError::of_write)?)
            }
        };
        let part = PutPayload::from(std::mem::take(&mut self.pending));
        upload.put_part(part).await.map_err(BlobError::of_write)
    }

    /// Files that are smaller than a part are written at once.
    async fn finish(mut self) -> Result<(), BlobError> {
        if self.upload.is_none() {
            self.blobs.check_owner().await?;
            let payload = PutPayload::from(std::mem::take(&mut self.pending));
            let put = self.blobs.store.put(&self.name.path(), payload).await;
            return put.map(drop).map_err(BlobError::of_write);
        }
        if !self.pending.is_empty() {
            self.flush().await?;
        }
        if let Some(upload) = &mut self.upload {
            upload.complete().await.map_err(BlobError::of_write)?;
        }
        self.upload = None;
        Ok(())
    }
}

impl Drop for StoreWriter {
    /// Deletes the parts of a file that was not finished.
    fn drop(&mut self) {
        let Some(mut upload) = self.upload.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = upload.abort().await.map_err(BlobError::from) {
                tracing::warn!(%error, "parts of a file that was not finished could not be deleted");
            }
        });
    }
}
