//! Where files are kept: in a folder beside the journal, or in S3. What decides and what remembers knows only their names.
//!
//! Bytes are written once under a name that nobody can guess, and never changed: whoever has a name has these bytes or none.
//! A fact that names a file is decided after the file is durable, so that none names what is not there.

mod sweep;

pub use sweep::{UNNAMED_SECS_MAX, sweep, sweep_regularly};

use super::http_client::use_ring;
use crate::config::{BlobKind, BlobSettings};
use bytes::{Bytes, BytesMut};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt};
use model::Timestamp;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, RetryConfig,
    WriteMultipart,
};
use std::fmt;
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a part of what is written in several. S3 takes no smaller ones.
const PART_BYTES: usize = 5 << 20;
/// Parts of one file that are under way at once.
const PARTS_MAX: usize = 2;
/// Random bytes in a name.
const NAME_BYTES: usize = 16;

/// Why a file could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// There is none of this name.
    #[error("there is no such file")]
    Missing,
    /// The range lies behind the end of the file.
    #[error("the file has no such bytes")]
    OutOfRange,
    /// The folder or service does not do what it should. Names no keys.
    #[error("files cannot be kept or read: {0}")]
    Store(String),
    /// What was to be written broke off, or was refused while it came.
    #[error("the source of a file broke off: {0}")]
    Source(String),
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::Missing,
            other => Self::Store(other.to_string()),
        }
    }
}

/// The name of a file: folders and a last part, of letters, digits, `-`, `_` and dots that lead nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobName(String);

impl BlobName {
    /// The name in these words; none if it is no name of a file.
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

/// A word that nobody can guess, for the name of a new file.
pub fn random_word() -> Result<String, BlobError> {
    let mut bytes = [0; NAME_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| BlobError::Store(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A file as it is read.
pub struct Blob {
    /// How long the whole file is, in bytes.
    pub size: u64,
    /// Which of its bytes these are.
    pub range: Range<u64>,
    /// The bytes, as they come.
    pub bytes: BoxStream<'static, Result<Bytes, BlobError>>,
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBlob {
    /// Its name.
    pub name: BlobName,
    /// When it was written, by the clock of whoever keeps it.
    pub written: Timestamp,
}

/// The files of a server. Cheap to clone.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
}

impl fmt::Debug for Blobs {
    // What the store would say of itself may name keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blobs")
    }
}

impl Blobs {
    /// Opens what the configuration says. `is_durable` is false only for data that nobody keeps.
    ///
    /// # Errors
    /// When the folder cannot be made, or the options for S3 do not go together. Whether S3 answers is not asked: a
    /// server starts without it.
    pub fn open(settings: &BlobSettings, data: &Path, is_durable: bool) -> Result<Self, BlobError> {
        let store: Arc<dyn ObjectStore> = match settings.kind {
            BlobKind::Local => Arc::new(open_folder(&data.join("blobs"), is_durable)?),
            BlobKind::S3 => Arc::new(open_s3(settings)?),
        };
        Ok(Self { store })
    }

    /// Keeps a file. It is durable when this returns.
    pub async fn put(&self, name: &BlobName, bytes: Bytes) -> Result<(), BlobError> {
        self.store.put(&name.path(), bytes.into()).await?;
        Ok(())
    }

    /// Keeps a file as its bytes come, in as many pieces as it takes, and says how long it was. It is durable when this
    /// returns; where it breaks off there is nothing. At most three parts are in memory.
    pub async fn put_stream<E: fmt::Display>(
        &self,
        name: &BlobName,
        source: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<u64, BlobError> {
        let mut source = std::pin::pin!(source);
        let mut first = BytesMut::new();
        while first.len() < PART_BYTES {
            match source.next().await {
                Some(chunk) => first.extend_from_slice(&chunk.map_err(broken_off)?),
                // Short enough for one piece.
                None => {
                    let size = first.len() as u64;
                    return self.put(name, first.freeze()).await.map(|()| size);
                }
            }
        }
        let upload = self.store.put_multipart(&name.path()).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        match write_parts(&mut upload, first.freeze(), source).await {
            Ok(size) => {
                upload.finish().await?;
                Ok(size)
            }
            Err(error) => {
                // What was written of it is nobody's any more; a store that is gone keeps it until it is back.
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    /// Reads a file, or some of its bytes.
    pub async fn get(&self, name: &BlobName, range: Option<Range<u64>>) -> Result<Blob, BlobError> {
        let options = GetOptions { range: range.clone().map(GetRange::Bounded), ..GetOptions::default() };
        let found = match self.store.get_opts(&name.path(), options).await {
            Ok(found) => found,
            Err(error) => return Err(self.why_not(name, range, error).await),
        };
        let (size, range) = (found.meta.size, found.range.clone());
        Ok(Blob { size, range, bytes: found.into_stream().map_err(BlobError::from).boxed() })
    }

    /// A range behind the end of a file is not a fault of the store, but looks like one.
    async fn why_not(
        &self,
        name: &BlobName,
        range: Option<Range<u64>>,
        error: object_store::Error,
    ) -> BlobError {
        let error = BlobError::from(error);
        match (&error, range) {
            (BlobError::Store(_), Some(range)) => match self.store.head(&name.path()).await {
                Ok(meta) if range.start >= meta.size || range.is_empty() => BlobError::OutOfRange,
                _ => error,
            },
            _ => error,
        }
    }

    /// Takes a file away; one that is not there is gone already.
    pub async fn delete(&self, name: &BlobName) -> Result<(), BlobError> {
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

async fn write_parts<E: fmt::Display>(
    upload: &mut WriteMultipart,
    first: Bytes,
    mut source: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<u64, BlobError> {
    let mut size = first.len() as u64;
    upload.put(first);
    while let Some(chunk) = source.next().await {
        let chunk = chunk.map_err(broken_off)?;
        size += chunk.len() as u64;
        // Before more is taken in: what comes fast must not pile up here.
        upload.wait_for_capacity(PARTS_MAX).await?;
        upload.put(chunk);
    }
    Ok(size)
}

fn broken_off(error: impl fmt::Display) -> BlobError {
    BlobError::Source(error.to_string())
}

fn open_folder(folder: &Path, is_durable: bool) -> Result<LocalFileSystem, BlobError> {
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| BlobError::Store(format!("cannot create {}: {error}", folder.display())))?;
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(is_durable))
}

fn open_s3(settings: &BlobSettings) -> Result<object_store::aws::AmazonS3, BlobError> {
    use_ring();
    let time_max = Duration::from_secs(settings.request_secs_max.get());
    let client = ClientOptions::new()
        .with_timeout(time_max)
        .with_connect_timeout(time_max.min(Duration::from_secs(5)))
        .with_allow_http(true);
    // Whoever uploads is waiting: soon an error is better than later an answer.
    let retry = RetryConfig { max_retries: 2, retry_timeout: time_max, backoff: BackoffConfig::default() };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_virtual_hosted_style_request(!settings.path_style)
        .with_client_options(client)
        .with_retry(retry);
    if !settings.endpoint.is_empty() {
        builder = builder.with_endpoint(&settings.endpoint);
    }
    // Without keys those are used that the machine has by itself, where it runs at the same provider.
    if !settings.access_key_id.is_empty() {
        builder = builder
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(&settings.secret_access_key.0);
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests;
