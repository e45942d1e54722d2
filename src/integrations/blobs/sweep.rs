//! Deletes unused files: of refused uploads, and replaced images. They are deleted once they are old enough that no
//! upload in progress can still refer to them.

use super::exports::{self, exports_folder};
use super::pictures::{named_files, pictures_folder};
use super::uploads::{is_named, is_thumbnail, thumbnails_folder, uploads_folder};
use super::{BlobError, BlobName, Blobs};
use actors::{RealmHandle, Server};
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Minimum age of an unused file in seconds.
const UNNAMED_SECS_MAX: u64 = 3 * 3600;
/// What is deleted is gone within a day, together with `uploads.released_hours` and the sweep of records.
const EVERY: Duration = Duration::from_secs(6 * 3600);

/// The sweeps of a server's files.
pub struct Sweep {
    blobs: Blobs,
    server: Arc<Server>,
    /// Unfinished files that were last written before are those of a former process. None if the folder cannot be written.
    unfinished_before: Option<SystemTime>,
}

impl Sweep {
    /// Must be called before the server accepts requests: what they write is not of a former process.
    pub fn new(blobs: Blobs, server: Arc<Server>) -> Self {
        let started = blobs.time_of_folder();
        let unfinished_before = started.map(|started| unfinished_before(started, server.is_node()));
        Self { blobs, server, unfinished_before }
    }

    /// Deletes unfinished files of a former process, and sweeps the files of all organizations every few hours, for as long as the
    /// server runs.
    pub async fn run(self) {
        let Self { blobs, server, unfinished_before } = self;
        if let Some(before) = unfinished_before {
            let blobs = blobs.clone();
            if tokio::task::spawn_blocking(move || blobs.delete_unfinished(before)).await.is_err() {
                tracing::warn!("unfinished files could not be cleaned up");
            }
        }
        let mut tick = tokio::time::interval(EVERY);
        loop {
            tick.tick().await;
            if let Some(owner) = &blobs.owner {
                owner.forget();
            }
            match sweep(&blobs, &server).await {
                Ok(0) => {}
                Err(error @ BlobError::Owned) => tracing::error!(%error, "unused files were not looked for"),
                Ok(count) => tracing::info!(count, "unused files were deleted"),
                Err(error) => tracing::warn!(%error, "unused files could not be cleaned up"),
            }
        }
    }
}

/// When an unfinished file was last written that no request is writing any more, for a server that has started now: nothing that
/// its own requests write is older, but other nodes may share the folder.
fn unfinished_before(started: SystemTime, is_node: bool) -> SystemTime {
    started - Duration::from_secs(if is_node { UNNAMED_SECS_MAX } else { 0 })
}

/// Deletes unused files that are old enough, and returns their number. After an error, the next sweep continues.
pub async fn sweep(blobs: &Blobs, server: &Server) -> Result<usize, BlobError> {
    blobs.check_owner().await?;
    let mut count = 0;
    for realm in server.realms() {
        let Some(folder) = BlobName::parse(&pictures_folder(realm.id())) else { continue };
        // A file is referred to right after it is written: an old file without a reference will never have one.
        let named = named_files(&realm);
        count += sweep_folder(blobs, &realm, &folder, |known| named.contains(known.as_str())).await?;
        let Some(folder) = BlobName::parse(&uploads_folder(realm.id())) else { continue };
        count += sweep_folder(blobs, &realm, &folder, |known| is_named(&realm.directory(), known)).await?;
        let Some(folder) = BlobName::parse(&exports_folder(realm.id())) else { continue };
        count += sweep_folder(blobs, &realm, &folder, |known| exports::is_named(&realm.directory(), known))
            .await?;
        let Some(folder) = BlobName::parse(&thumbnails_folder(realm.id())) else { continue };
        count +=
            sweep_folder(blobs, &realm, &folder, |known| is_thumbnail(&realm.directory(), known)).await?;
    }
    Ok(count)
}

/// Deletes the files of one folder that nothing refers to.
async fn sweep_folder(
    blobs: &Blobs,
    realm: &RealmHandle,
    folder: &BlobName,
    is_named: impl Fn(&BlobName) -> bool,
) -> Result<usize, BlobError> {
    let mut count = 0;
    let mut listed = blobs.list(folder);
    while let Some(known) = listed.try_next().await? {
        let age = realm.now().millis_since(known.written) / 1000;
        if age >= UNNAMED_SECS_MAX && !is_named(&known.name) {
            blobs.delete(&known.name).await?;
            count += 1;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_leaves_what_other_nodes_may_be_writing() {
        let now = SystemTime::now();
        let paused_upload = now - Duration::from_secs(600);
        assert!(paused_upload < unfinished_before(now, false), "of this server's former process");
        assert!(paused_upload > unfinished_before(now, true), "perhaps of another node");
        assert!(now - Duration::from_secs(UNNAMED_SECS_MAX + 1) < unfinished_before(now, true));
    }
}
