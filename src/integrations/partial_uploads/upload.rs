//! One unfinished upload: what is known of it, and its two files.

use model::{RealmId, Timestamp, UserId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use tokio::sync::watch;

/// Milliseconds without progress after which an upload is deleted: a day.
pub const EXPIRY_MILLIS: u64 = 24 * 3600 * 1000;
/// Why an upload cannot be begun or continued.
#[derive(Debug, thiserror::Error)]
pub enum PartialError {
    #[error("there is no such upload")]
    Missing,
    #[error("another request writes to this upload")]
    Busy,
    /// The account has too many unfinished uploads, or bytes of them.
    #[error("the account has too many unfinished uploads")]
    AccountFull,
    /// All accounts have.
    #[error("there are too many unfinished uploads")]
    Full,
    #[error("an unfinished upload cannot be stored or read: {0}")]
    Io(#[from] std::io::Error),
}

/// What is known of an upload from its creation on. Stored beside its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadInfo {
    pub realm: RealmId,
    pub user: UserId,
    /// Bytes of the complete file.
    pub length: u64,
    /// The name of the file as the client sent it.
    pub file_name: String,
    /// The declared media type.
    pub content_type: Option<String>,
    /// The header `Upload-Metadata`, which clients get back.
    pub metadata: String,
    /// Where the complete file will be, below `/user_uploads/`: chosen at the beginning, so that completing it twice is
    /// noticed.
    pub path_id: String,
}

/// An unfinished upload.
#[derive(Debug)]
pub struct PartialUpload {
    pub id: String,
    pub info: UploadInfo,
    folder: Arc<PathBuf>,
    pub(super) is_durable: bool,
    pub(super) progress: Mutex<Progress>,
    /// Held by the request that writes to it.
    pub(super) lock: Arc<tokio::sync::Mutex<()>>,
    /// Counts the requests that wanted to write.
    pub(super) asked: watch::Sender<u64>,
}

/// How far an upload is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub offset: u64,
    /// When the last bytes arrived, by the wall clock.
    pub touched: Timestamp,
}

impl PartialUpload {
    pub(super) fn new(
        id: String,
        info: UploadInfo,
        folder: Arc<PathBuf>,
        is_durable: bool,
        progress: Progress,
    ) -> Self {
        let (lock, asked) = (Arc::default(), watch::Sender::new(0));
        Self { id, info, folder, is_durable, progress: Mutex::new(progress), lock, asked }
    }

    /// The number of bytes that are durable, at most all but the last one. A client that has sent everything but got no response
    /// so sends the last byte again, and learns the outcome.
    pub fn offset(&self) -> u64 {
        self.progress.lock().offset.min(self.info.length.saturating_sub(1))
    }

    /// When the upload expires if nothing more arrives.
    pub fn expires(&self) -> Timestamp {
        Timestamp(self.progress.lock().touched.0 + EXPIRY_MILLIS)
    }

    /// The file with the bytes.
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.bytes", self.id))
    }

    fn description(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.id))
    }

    pub(super) fn has_same_creator(&self, info: &UploadInfo) -> bool {
        (self.info.realm, self.info.user) == (info.realm, info.user)
    }

    /// Whether no request writes to it, and none has for a while.
    pub(super) fn is_idle(&self, now: Timestamp, millis: u64) -> bool {
        now.millis_since(self.progress.lock().touched) >= millis && self.lock.try_lock().is_ok()
    }

    /// Creates both files: first the empty bytes, so that a description always has some.
    pub(super) fn write_description(&self) -> Result<(), PartialError> {
        let bytes = private_file(&self.file())?;
        let json = serde_json::to_vec(&self.info).map_err(std::io::Error::other)?;
        let new = self.description().with_extension("new");
        let mut description = private_file(&new)?;
        description.write_all(&json)?;
        if self.is_durable {
            bytes.sync_all()?;
            description.sync_all()?;
        }
        std::fs::rename(&new, self.description())?;
        if self.is_durable {
            File::open(&*self.folder)?.sync_all()?;
        }
        Ok(())
    }

    pub(super) fn delete_files(&self) -> Result<(), PartialError> {
        for path in [self.description(), self.file()] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// The upload that a file of an earlier run describes.
pub(super) fn restored(folder: &Arc<PathBuf>, path: &Path, is_durable: bool) -> Option<PartialUpload> {
    let id = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
    let info: UploadInfo = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let bytes = std::fs::metadata(path.with_extension("bytes")).ok()?;
    let modified = bytes.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let touched = Timestamp(u64::try_from(modified.as_millis()).ok()?);
    let progress = Progress { offset: bytes.len().min(info.length), touched };
    Some(PartialUpload::new(id, info, folder.clone(), is_durable, progress))
}

/// Runs work on files off the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PartialError> + Send + 'static,
) -> Result<T, PartialError> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}
