//! The storage of uploaded files: a folder in the data folder, or S3. Actors and journal know only their names.
//!
//! Bytes are written once under a random name, and never changed. A fact that names a file is committed after the
//! file is durable, so that no fact names a missing file.

pub mod backups;
#[cfg(feature = "cluster")]
pub mod copy;
mod error;
pub mod exports;
mod folder;
mod folder_writer;
mod health;
mod name;
mod owner;
pub mod pictures;
mod problem;
mod reader;
mod s3;
#[cfg(feature = "cluster")]
pub mod shared_files;
pub mod sweep;
pub mod uploads;
pub mod writer;

pub use error::BlobError;
pub use name::{BlobName, random_name};
pub use owner::{Owner, known_name_of_folder};
pub use reader::CHUNK_BYTES;

use super::block_writer::Durability;
use crate::config::{BlobKind, BlobSettings, Config};
use bytes::Bytes;
use folder::Folder;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use health::{FilesHealth, Operation};
use model::Timestamp;
use object_store::aws::AmazonS3;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt};
use owner::name_of_folder;
use s3::Retries;
use std::fmt;
use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The name of all servers whose data is temporary.
const TEMPORARY: &str = "temporary data";

/// A file that is being read.
pub struct Blob {
    pub size: u64,
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

/// A stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBlob {
    pub name: BlobName,
    /// When it was written, by the clock of the store.
    pub written: Timestamp,
}

/// The files of a server. Cheap to clone.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    /// The store of the same files, without a limit on how long reading a whole file may take.
    streaming: Arc<dyn ObjectStore>,
    /// Makes URLs at the store itself, if clients are sent there.
    signer: Option<Arc<AmazonS3>>,
    /// The folder, if files are in one.
    folder: Option<Folder>,
    /// Who may change the files of a bucket; none for all others.
    owner: Option<Arc<Owner>>,
    health: Arc<FilesHealth>,
}

impl fmt::Debug for Blobs {
    // The store's own debug output may contain keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blobs")
    }
}

impl Blobs {
    /// Opens the configured store. `is_durable` is false only for temporary data. Fails if the folder cannot be
    /// created, or the options for S3 are inconsistent. S3 is not contacted: a server starts without it.
    pub fn open(settings: &BlobSettings, data: &Path, is_durable: bool) -> Result<Self, BlobError> {
        match settings.kind {
            BlobKind::Local => Self::in_folder(data.join("blobs"), is_durable),
            BlobKind::S3 => Self::open_s3_store(settings, Retries::Few),
        }
    }

    fn open_s3_store(settings: &BlobSettings, retries: Retries) -> Result<Self, BlobError> {
        let streaming = Arc::new(s3::open(settings, retries, true)?);
        let signer = settings.redirects.then(|| streaming.clone());
        let store = Arc::new(s3::open(settings, retries, false)?);
        Ok(Self { store, streaming, signer, folder: None, owner: None, health: Arc::new(FilesHealth::new()) })
    }

    fn in_folder(folder: PathBuf, is_durable: bool) -> Result<Self, BlobError> {
        let store = Arc::new(open_folder(&folder, is_durable)?);
        let durability = if is_durable { Durability::Durable } else { Durability::Volatile };
        let folder = Some(Folder { path: folder, durability });
        let (streaming, health) = (store.clone(), Arc::new(FilesHealth::new()));
        Ok(Self { store, streaming, signer: None, folder, owner: None, health })
    }

    /// Opens the configured store for a server, or for a command that changes its files. `cluster` is the name of the cluster
    /// that it is a node of; `is_durable` is false for temporary data only.
    ///
    /// # Errors
    /// Those of [`Blobs::open`], and `Store` if the data folder can have no name.
    pub fn open_owned(config: &Config, cluster: Option<&str>, is_durable: bool) -> Result<Self, BlobError> {
        let blobs = Self::open(&config.blobs, config.files(), is_durable)?;
        if config.blobs.kind == BlobKind::Local {
            return Ok(blobs);
        }
        let owner = match cluster {
            Some(cluster) => format!("cluster {cluster}"),
            None if is_durable => name_of_folder(&config.data)?,
            None => TEMPORARY.to_owned(),
        };
        Ok(blobs.owned_by(Owner::new(owner)))
    }

    /// The same files, which only `owner` may change if they are in a bucket.
    pub fn owned_by(self, owner: Owner) -> Self {
        let owner = self.folder.is_none().then(|| Arc::new(owner));
        Self { owner, ..self }
    }

    /// Refuses changes to a bucket of another owner.
    async fn check_owner(&self) -> Result<(), BlobError> {
        match &self.owner {
            Some(owner) => owner.check(&*self.store).await,
            None => Ok(()),
        }
    }

    /// Whether the bucket is known to be of another owner. Changes nothing.
    pub async fn is_of_another(&self) -> Result<bool, BlobError> {
        match &self.owner {
            Some(owner) => owner.is_other(&*self.store).await,
            None => Ok(false),
        }
    }

    /// Whether files take room on the disk of this server.
    pub fn is_on_disk(&self) -> bool {
        self.folder.is_some()
    }

    /// Stores a file. It is durable when this returns.
    pub async fn put(&self, name: &BlobName, bytes: Bytes) -> Result<(), BlobError> {
        let stored = self.put_unrecorded(name, bytes).await;
        self.record(Operation::Change, stored)
    }

    async fn put_unrecorded(&self, name: &BlobName, bytes: Bytes) -> Result<(), BlobError> {
        self.check_owner().await?;
        self.store.put(&name.path(), bytes.into()).await.map_err(BlobError::of_write)?;
        self.make_private(name)
    }

    /// Makes a new file private, whatever the umask of the process.
    fn make_private(&self, name: &BlobName) -> Result<(), BlobError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.file(name.as_str());
        let changed = std::fs::set_permissions(&path, Permissions::from_mode(0o600));
        changed.map_err(|error| BlobError::Store(format!("cannot make {} private: {error}", path.display())))
    }

    /// Reads a file.
    pub async fn get(&self, name: &BlobName) -> Result<Blob, BlobError> {
        self.record_read(self.get_unrecorded(name).await)
    }

    async fn get_unrecorded(&self, name: &BlobName) -> Result<Blob, BlobError> {
        let found = self.store.get(&name.path()).await?;
        Ok(Blob { size: found.meta.size, bytes: found.into_stream().map_err(BlobError::from).boxed() })
    }

    /// Deletes a file; a missing one is not an error.
    pub async fn delete(&self, name: &BlobName) -> Result<(), BlobError> {
        match self.delete_unrecorded(name).await {
            // A store that cannot store anything may still delete.
            Ok(()) => Ok(()),
            failed => self.record(Operation::Change, failed),
        }
    }

    async fn delete_unrecorded(&self, name: &BlobName) -> Result<(), BlobError> {
        self.check_owner().await?;
        match self.store.delete(&name.path()).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Every file in a folder and those below it, in no order.
    pub fn list(&self, folder: &BlobName) -> BoxStream<'static, Result<KnownBlob, BlobError>> {
        let listed = self.store.list(Some(&folder.path())).map_err(BlobError::from);
        let known = listed.try_filter_map(|meta| async move {
            let written = Timestamp(u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or_default());
            Ok(BlobName::parse(meta.location.as_ref()).map(|name| KnownBlob { name, written }))
        });
        known.boxed()
    }

    /// Whether the newest read or the newest change failed, less than five minutes ago.
    pub fn is_failing(&self) -> bool {
        self.health.is_failing(Instant::now())
    }

    /// Records how a request ended.
    fn record<T>(&self, operation: Operation, outcome: Result<T, BlobError>) -> Result<T, BlobError> {
        match &outcome {
            Ok(_) => self.health.set(operation, None),
            Err(error) => self.health.add_failure(operation, error, Instant::now()),
        }
        outcome
    }

    /// Records whether a file was found, and later whether its bytes can be read.
    fn record_read(&self, found: Result<Blob, BlobError>) -> Result<Blob, BlobError> {
        let Blob { size, bytes } = self.record(Operation::Read, found)?;
        let health = self.health.clone();
        let bytes = bytes.inspect_err(move |error| {
            health.add_failure(Operation::Read, error, Instant::now());
        });
        Ok(Blob { size, bytes: bytes.boxed() })
    }
}

fn open_folder(folder: &Path, is_durable: bool) -> Result<LocalFileSystem, BlobError> {
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| BlobError::Store(format!("cannot create {}: {error}", folder.display())))?;
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(is_durable))
}

#[cfg(test)]
mod tests;
