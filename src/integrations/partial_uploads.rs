//! Uploads that arrive in parts and can be resumed: what has arrived of each is a file in the data folder, also when complete
//! files are in S3.
//!
//! The offset of an upload is the length of its file, and clients get it only after it is durable. So it survives a
//! restart and a crash without any record in the journal; the upload becomes one when it is complete. One request at a time
//! writes to an upload. A newer one takes over, because clients resume before the server notices that a connection is dead.

mod upload;
mod write_lock;

pub use upload::{PartialError, PartialUpload, UploadInfo};
pub use write_lock::WriteLock;

use super::blobs::random_name;
use model::{RealmId, Timestamp, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use upload::{EXPIRY_MILLIS, Progress, blocking, restored};

/// Unfinished uploads of one account.
pub const ACCOUNT_UPLOADS_MAX: usize = 16;
/// Unfinished uploads of all accounts.
const UPLOADS_MAX: usize = 1000;
/// Bytes that the unfinished uploads of all accounts may have when they are complete.
const BYTES_MAX: u64 = 64 << 30;
/// Milliseconds without progress after which an upload makes room for another one of its account.
const IDLE_MILLIS: u64 = 10 * 60 * 1000;
/// How long a request waits until an older one has stopped writing.
const TAKEOVER_MAX: Duration = Duration::from_secs(5);
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// The unfinished uploads of a server.
#[derive(Debug)]
pub struct PartialUploads {
    folder: Arc<PathBuf>,
    is_durable: bool,
    uploads: Mutex<HashMap<String, Arc<PartialUpload>>>,
}

impl PartialUploads {
    /// Opens the folder and finds the uploads of earlier runs.
    ///
    /// # Errors
    /// If the folder cannot be created or read.
    pub fn open(data: &Path, is_durable: bool) -> Result<Self, PartialError> {
        let folder = Arc::new(data.join("partial-uploads"));
        DirBuilder::new().recursive(true).mode(0o700).create(&*folder)?;
        let mut uploads = HashMap::new();
        for entry in std::fs::read_dir(&*folder)? {
            let path = entry?.path();
            match restored(&folder, &path, is_durable) {
                Some(upload) => drop(uploads.insert(upload.id.clone(), Arc::new(upload))),
                None if path.extension().is_some_and(|kind| kind == "bytes") => {
                    // The bytes of a description below, or of none.
                    if !path.with_extension("json").exists() {
                        std::fs::remove_file(&path)?;
                    }
                }
                None => std::fs::remove_file(&path)?,
            }
        }
        Ok(Self { folder, is_durable, uploads: Mutex::new(uploads) })
    }

    /// Begins an upload. `bytes_max` is the bound on the bytes of all uploads of the account.
    ///
    /// # Errors
    /// If there are too many, or the disk fails.
    pub async fn create(
        &self,
        info: UploadInfo,
        bytes_max: u64,
        now: Timestamp,
    ) -> Result<Arc<PartialUpload>, PartialError> {
        let id = random_name().map_err(std::io::Error::other)?;
        let upload = Arc::new(PartialUpload::new(
            id,
            info,
            self.folder.clone(),
            self.is_durable,
            Progress { offset: 0, touched: now },
        ));
        // The place is taken first, so that parallel requests cannot exceed the bounds together.
        let ended = self.take_place(&upload, bytes_max, now)?;
        let stored = upload.clone();
        let written = blocking(move || {
            ended.iter().try_for_each(|old| old.delete_files())?;
            stored.write_description()
        });
        if let Err(error) = written.await {
            self.uploads.lock().remove(&upload.id);
            return Err(error);
        }
        if !self.has(&upload) {
            // Its organization was reset meanwhile.
            blocking(move || upload.delete_files()).await?;
            return Err(PartialError::Missing);
        }
        Ok(upload)
    }

    /// Adds an upload, and returns those that made room for it.
    fn take_place(
        &self,
        upload: &Arc<PartialUpload>,
        bytes_max: u64,
        now: Timestamp,
    ) -> Result<Vec<Arc<PartialUpload>>, PartialError> {
        let mut uploads = self.uploads.lock();
        let mut own: Vec<_> =
            uploads.values().filter(|other| other.has_same_creator(&upload.info)).cloned().collect();
        own.sort_unstable_by_key(|other| other.progress.lock().touched);
        let mut count = own.len();
        let mut bytes: u64 = own.iter().map(|other| other.info.length).sum();
        let mut ended = Vec::new();
        for old in own {
            if count < ACCOUNT_UPLOADS_MAX && bytes + upload.info.length <= bytes_max {
                break;
            }
            if old.is_idle(now, IDLE_MILLIS) {
                count -= 1;
                bytes -= old.info.length;
                ended.push(old);
            }
        }
        if count >= ACCOUNT_UPLOADS_MAX || bytes + upload.info.length > bytes_max {
            return Err(PartialError::AccountFull);
        }
        let all_bytes: u64 = uploads.values().map(|other| other.info.length).sum();
        if uploads.len() >= UPLOADS_MAX + ended.len() || all_bytes + upload.info.length > BYTES_MAX {
            return Err(PartialError::Full);
        }
        for old in &ended {
            uploads.remove(&old.id);
        }
        uploads.insert(upload.id.clone(), upload.clone());
        Ok(ended)
    }

    /// An upload of an account.
    ///
    /// # Errors
    /// If there is none, or it has expired.
    pub fn find(
        &self,
        (realm, user): (RealmId, UserId),
        id: &str,
        now: Timestamp,
    ) -> Result<Arc<PartialUpload>, PartialError> {
        let upload = self.uploads.lock().get(id).cloned();
        let own = upload.filter(|upload| upload.info.realm == realm && upload.info.user == user);
        own.filter(|upload| upload.expires() > now).ok_or(PartialError::Missing)
    }

    /// Waits until the upload is free, and asks the request that writes to it to stop.
    ///
    /// # Errors
    /// If it does not stop in time, or ended the upload.
    pub async fn write_lock(&self, upload: &Arc<PartialUpload>) -> Result<WriteLock, PartialError> {
        let mut asked = upload.asked.subscribe();
        upload.asked.send_modify(|count| *count += 1);
        asked.mark_unchanged();
        let waiting = timeout(TAKEOVER_MAX, upload.lock.clone().lock_owned());
        let guard = waiting.await.map_err(|_| PartialError::Busy)?;
        if !self.has(upload) {
            return Err(PartialError::Missing);
        }
        Ok(WriteLock::new(upload.clone(), guard, asked))
    }

    /// Whether an upload was neither completed nor deleted.
    pub fn has(&self, upload: &PartialUpload) -> bool {
        self.uploads.lock().contains_key(&upload.id)
    }

    /// Ends all uploads of an organization, also those that requests write to, and returns them: their files are to be deleted.
    pub fn end_all(&self, realm: RealmId) -> Vec<Arc<PartialUpload>> {
        let ended: Vec<_> = self
            .uploads
            .lock()
            .extract_if(|_, upload| upload.info.realm == realm)
            .map(|(_, upload)| upload)
            .collect();
        for upload in &ended {
            upload.asked.send_modify(|count| *count += 1);
        }
        ended
    }

    /// Deletes the files of ended uploads.
    ///
    /// # Errors
    /// If they cannot be deleted.
    pub async fn delete_ended(ended: Vec<Arc<PartialUpload>>) -> Result<(), PartialError> {
        blocking(move || ended.iter().try_for_each(|upload| upload.delete_files())).await
    }

    /// Deletes an upload, which is complete or not wanted.
    ///
    /// # Errors
    /// If its files cannot be deleted.
    pub async fn delete(&self, lock: WriteLock) -> Result<(), PartialError> {
        let upload = lock.upload().clone();
        self.uploads.lock().remove(&upload.id);
        blocking(move || upload.delete_files()).await
    }

    /// Deletes expired uploads, and returns their number.
    ///
    /// # Errors
    /// If files cannot be deleted.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, PartialError> {
        let mut expired = Vec::new();
        self.uploads.lock().retain(|_, upload| {
            let is_kept = !upload.is_idle(now, EXPIRY_MILLIS);
            if !is_kept {
                expired.push(upload.clone());
            }
            is_kept
        });
        let count = expired.len();
        Self::delete_ended(expired).await?;
        Ok(count)
    }
}

/// Sweeps expired uploads for as long as the server runs.
pub async fn sweep_regularly(uploads: Arc<PartialUploads>, clock: Arc<dyn actors::Clock>) {
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    loop {
        tick.tick().await;
        match uploads.sweep(clock.now()).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "expired unfinished uploads were deleted"),
            Err(error) => tracing::warn!(%error, "expired unfinished uploads could not be deleted"),
        }
    }
}

#[cfg(test)]
mod tests;
