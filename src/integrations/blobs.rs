//! The storage of uploaded files: a folder in the data folder, or S3. Actors and journal know only their names.
//!
//! Bytes are written once under a random name, and never changed. A fact that names a file is committed after the
//! file is durable, so that no fact names a missing file.

pub mod backups;
#[cfg(feature = "cluster")]
pub mod copy;
pub mod exports;
mod folder;
mod folder_writer;
mod health;
mod owner;
pub mod pictures;
mod reader;
mod s3;
#[cfg(feature = "cluster")]
pub mod shared;
pub mod sweep;
pub mod uploads;
pub mod writer;

pub use owner::{Owner, known_name_of_folder};
pub use reader::CHUNK_BYTES;

use super::block_writer::Durability;
use crate::config::{BlobKind, BlobSettings};
use bytes::Bytes;
use folder::Folder;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use health::{FilesHealth, Operation};
use model::Timestamp;
use object_store::aws::AmazonS3;
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt};
use s3::{Retries, problem_text};
use std::fmt;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME_BYTES: usize = 16;

/// Why a file could not be stored or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no such file")]
    Missing,
    /// The folder or service failed. Contains no keys.
    #[error("files cannot be stored or read: {0}")]
    Store(String),
    #[error("the disk for files is full: {0}")]
    Full(String),
    /// The bucket has the files of another data folder or cluster, which would be deleted as unused.
    #[error(
        "the bucket belongs to another data folder or cluster, so files are neither stored nor deleted; choose another bucket, or, \
         if nothing else uses this one any more, delete its object `owner`"
    )]
    Owned,
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { source, .. } if !is_missing_bucket(&*source) => Self::Missing,
            other if is_full(&other) => Self::Full(problem_text(&other)),
            other => Self::Store(problem_text(&other)),
        }
    }
}

impl From<std::io::Error> for BlobError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(error.to_string()),
            _ => Self::Store(error.to_string()),
        }
    }
}

impl BlobError {
    /// The error of a write. If a write misses something, it is the folder or bucket itself.
    fn of_write(error: object_store::Error) -> Self {
        match error {
            missing @ object_store::Error::NotFound { .. } => Self::Store(problem_text(&missing)),
            other => other.into(),
        }
    }
}

/// S3 responds with 404 for a missing bucket as for a missing object; only the body distinguishes them.
fn is_missing_bucket(source: &(dyn std::error::Error + 'static)) -> bool {
    causes(source).any(|cause| cause.to_string().contains("NoSuchBucket"))
}

fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let kinds =
        causes(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
    kinds.into_iter().any(|kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// An error and its causes, the outermost first.
fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// The name of a file: folders and a last part, of letters, digits, `-`, `_` and dots, without `..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobName(String);

impl BlobName {
    /// Parses a name; none if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain);
        (text.len() <= 512 && text.split('/').all(is_part)).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn path(&self) -> StorePath {
        StorePath::from(self.0.as_str())
    }
}

/// A random name for a new file.
pub fn random_name() -> Result<String, BlobError> {
    let mut bytes = [0; NAME_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| BlobError::Store(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

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
}

fn open_folder(folder: &Path, is_durable: bool) -> Result<LocalFileSystem, BlobError> {
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| BlobError::Store(format!("cannot create {}: {error}", folder.display())))?;
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(is_durable))
}

#[cfg(test)]
mod tests;
