//! Files that nothing names: of uploads that were refused while the process died, and pictures that were replaced. They
//! go once they are old enough that no upload can still be about to name them.

use super::{BlobError, BlobName, Blobs};
use crate::api::pictures::{named_files, pictures_folder};
use actors::Server;
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::Duration;

/// Seconds that a file stays which nothing names: a week.
pub const UNNAMED_SECS_MAX: u64 = 7 * 24 * 3600;
/// How often is looked.
const EVERY: Duration = Duration::from_secs(24 * 3600);

/// Looks after the files of all organizations, once a day, for as long as the server runs.
pub async fn sweep_regularly(blobs: Blobs, server: Arc<Server>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        match sweep(&blobs, &server).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "files that nothing names are gone"),
            Err(error) => tracing::warn!(%error, "files that nothing names stay for now"),
        }
    }
}

/// Takes away what nothing names and is old enough. Says how many files that were.
///
/// # Errors
/// When files cannot be listed or taken away; the next look goes on.
pub async fn sweep(blobs: &Blobs, server: &Server) -> Result<usize, BlobError> {
    let mut count = 0;
    for realm in server.realms() {
        let Some(folder) = BlobName::parse(&pictures_folder(realm.id())) else { continue };
        // A name is decided right after its file is written: what is old and has none now will never have one.
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
