//! A file in the folder of files that is written as it arrives.

use super::folder::{Folder, unfinished};
use super::{BlobError, BlobName};
use crate::integrations::block_writer::BlockWriter;
use std::io::Error;
use std::path::PathBuf;

/// A file that is being written, under its name with `#` until it is complete. Nothing of it is left if it is dropped before,
/// unless the process ends.
pub struct FolderWriter {
    folder: Folder,
    name: BlobName,
    /// None once the file is complete.
    writer: Option<BlockWriter>,
    has_parents: bool,
}

impl FolderWriter {
    /// Begins a file; nothing is created yet.
    pub fn new(folder: Folder, name: BlobName) -> Self {
        let writer = BlockWriter::new(unfinished(folder.file(name.as_str())), 0, folder.durability);
        Self { folder, name, writer: Some(writer), has_parents: false }
    }

    /// Adds bytes to the end of the file.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), BlobError> {
        self.create_parents().await?;
        match &mut self.writer {
            Some(writer) => Ok(writer.write(piece).await?),
            None => Err(BlobError::Missing),
        }
    }

    async fn create_parents(&mut self) -> Result<(), BlobError> {
        if !self.has_parents {
            let (folder, file) = (self.folder.clone(), self.folder.file(self.name.as_str()));
            blocking(move || folder.create_parents(&file)).await?;
            self.has_parents = true;
        }
        Ok(())
    }

    /// Finishes the file. It is durable when this returns.
    pub async fn finish(mut self) -> Result<(), BlobError> {
        self.create_parents().await?;
        let Some(writer) = &mut self.writer else { return Err(BlobError::Missing) };
        writer.sync().await?;
        let (folder, written, name) = (self.folder.clone(), writer.path().to_owned(), self.name.clone());
        blocking(move || folder.publish(&written, name.as_str())).await?;
        self.writer = None;
        Ok(())
    }
}

impl Drop for FolderWriter {
    fn drop(&mut self) {
        let Some(writer) = self.writer.take().filter(|_| self.has_parents) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let path = writer.path().to_owned();
            writer.stop().await;
            let deleted = blocking(move || std::fs::remove_file(path)).await;
            if let Err(error) = deleted {
                tracing::debug!(%error, "nothing of a file that was not finished could be deleted");
            }
        });
    }
}

/// Gives a durable file of the data folder a name in the folder of files.
pub async fn link(folder: Folder, file: PathBuf, name: BlobName) -> Result<(), BlobError> {
    blocking(move || folder.link(&file, name.as_str())).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, BlobError> {
    let done =
        tokio::task::spawn_blocking(work).await.map_err(|ended| BlobError::Store(ended.to_string()))?;
    Ok(done?)
}
