//! The folder of files, as far as this server writes to it itself: large files, which arrive in pieces.

use super::{BlobError, BlobName};
use crate::integrations::block_writer::{BlockWriter, Durability};
use std::fs::{DirBuilder, File, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A folder with files, below it by their names.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    pub durability: Durability,
}

impl From<Error> for BlobError {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(error.to_string()),
            _ => Self::Store(error.to_string()),
        }
    }
}

impl Folder {
    /// Where a file is.
    pub fn file(&self, name: &BlobName) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// Creates the folder of a file, with those above it.
    fn create_parents(&self, file: &Path) -> Result<(), Error> {
        let Some(parent) = file.parent() else { return Ok(()) };
        let missing: Vec<&Path> = parent.ancestors().take_while(|folder| !folder.exists()).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        for folder in missing {
            folder.parent().map_or(Ok(()), |above| self.sync_folder(above))?;
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> Result<(), Error> {
        match self.durability {
            Durability::Durable => File::open(folder)?.sync_all(),
            Durability::Volatile => Ok(()),
        }
    }

    /// Gives a durable file its name.
    fn publish(&self, written: &Path, name: &BlobName) -> Result<(), Error> {
        let file = self.file(name);
        std::fs::rename(written, &file)?;
        file.parent().map_or(Ok(()), |parent| self.sync_folder(parent))
    }

    /// Gives a file of the data folder, which is durable, a name here, too.
    fn link(&self, file: &Path, name: &BlobName) -> Result<(), Error> {
        let own = self.file(name);
        self.create_parents(&own)?;
        match std::fs::remove_file(&own) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        std::fs::hard_link(file, &own)?;
        std::fs::set_permissions(&own, Permissions::from_mode(0o600))?;
        own.parent().map_or(Ok(()), |parent| self.sync_folder(parent))
    }
}

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
        let mut path = folder.file(&name).into_os_string();
        path.push("#1");
        let writer = BlockWriter::new(path.into(), 0, folder.durability);
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
            let (folder, file) = (self.folder.clone(), self.folder.file(&self.name));
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
        blocking(move || folder.publish(&written, &name)).await?;
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
    blocking(move || folder.link(&file, &name)).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, BlobError> {
    let done =
        tokio::task::spawn_blocking(work).await.map_err(|ended| BlobError::Store(ended.to_string()))?;
    Ok(done?)
}
