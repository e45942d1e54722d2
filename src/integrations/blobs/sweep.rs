//! Deletes unused files: of refused uploads, and replaced images. They are deleted once they are old enough that no
//! upload in progress can still refer to them.

use super::exports::{self, exports_folder};
use super::pictures::{named_files, pictures_folder};
use super::uploads::{self, is_thumbnail, thumbnails_folder, uploads_folder};
use super::{BlobError, BlobName, Blobs, KnownBlob};
use actors::{RealmHandle, Server};
use futures_util::TryStreamExt;
use model::{Directory, Timestamp};
use std::collections::HashSet;
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
                Err(error @ BlobError::Owned) => {
                    tracing::error!(%error, "the sweep for unused files was skipped")
                }
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
        let is_old = |known: &KnownBlob| realm.now().millis_since(known.written) / 1000 >= UNNAMED_SECS_MAX;
        count += sweep_realm(blobs, &realm, is_old).await?;
    }
    Ok(count)
}

/// Deletes what an organization that was reset has left: unused files that were written before, except for those of its seed.
/// Returns their number.
pub async fn sweep_reset(
    blobs: &Blobs,
    realm: &RealmHandle,
    before: Timestamp,
    seed: &HashSet<BlobName>,
) -> Result<usize, BlobError> {
    blobs.check_owner().await?;
    sweep_realm(blobs, realm, |known| known.written < before && !seed.contains(&known.name)).await
}

/// Deletes the unused files of an organization that are old.
async fn sweep_realm(
    blobs: &Blobs,
    realm: &RealmHandle,
    is_old: impl Fn(&KnownBlob) -> bool,
) -> Result<usize, BlobError> {
    let mut count = 0;
    if let Some(folder) = BlobName::parse(&pictures_folder(realm.id())) {
        // A file is referred to right after it is written: an old file without a reference will never have one.
        let named = named_files(realm);
        let is_unused = |known: &KnownBlob| is_old(known) && !named.contains(known.name.as_str());
        count += sweep_folder(blobs, &folder, is_unused).await?;
    }
    let is_named: [(String, IsNamed); 3] = [
        (uploads_folder(realm.id()), uploads::is_named),
        (exports_folder(realm.id()), exports::is_named),
        (thumbnails_folder(realm.id()), is_thumbnail),
    ];
    for (folder, is_named) in is_named {
        let Some(folder) = BlobName::parse(&folder) else { continue };
        let is_unused = |known: &KnownBlob| is_old(known) && !is_named(&realm.directory(), &known.name);
        count += sweep_folder(blobs, &folder, is_unused).await?;
    }
    Ok(count)
}

/// Whether an organization refers to a file.
type IsNamed = fn(&Directory, &BlobName) -> bool;

/// Deletes the unused files of one folder.
async fn sweep_folder(
    blobs: &Blobs,
    folder: &BlobName,
    is_unused: impl Fn(&KnownBlob) -> bool,
) -> Result<usize, BlobError> {
    let mut count = 0;
    let mut listed = blobs.list(folder);
    while let Some(known) = listed.try_next().await? {
        if is_unused(&known) {
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
