//! Deletes unused files: of refused uploads, and replaced images. They are deleted once they are old enough that no
//! upload in progress can still refer to them.

use super::pictures::{named_files, pictures_folder};
use super::{BlobError, BlobName, Blobs};
use actors::Server;
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::Duration;

/// Minimum age of an unused file in seconds: a week.
pub const UNNAMED_SECS_MAX: u64 = 7 * 24 * 3600;
const EVERY: Duration = Duration::from_secs(24 * 3600);

/// Sweeps the files of all organizations, once a day, for as long as the server runs.
pub async fn sweep_regularly(blobs: Blobs, server: Arc<Server>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        match sweep(&blobs, &server).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "unused files were deleted"),
            Err(error) => tracing::warn!(%error, "unused files could not be cleaned up"),
        }
    }
}

/// Deletes unused files that are old enough, and returns their number. After an error, the next sweep continues.
pub async fn sweep(blobs: &Blobs, server: &Server) -> Result<usize, BlobError> {
    let mut count = 0;
    for realm in server.realms() {
        let Some(folder) = BlobName::parse(&pictures_folder(realm.id())) else { continue };
        // A file is referred to right after it is written: an old file without a reference will never have one.
        let named = named_files(&realm);
        let mut listed = blobs.list(&folder);
        while let Some(known) = listed.try_next().await? {
            let age = realm.now().millis_since(known.written) / 1000;
            if age >= UNNAMED_SECS_MAX && !named.contains(known.name.as_str()) {
                blobs.delete(&known.name).await?;
                count += 1;
            }
        }
    }
    Ok(count)
}
