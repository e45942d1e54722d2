//! The files of the sample organization.

use super::seed::SeedDocument;
use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::blobs::uploads::upload_blob;
use crate::integrations::blobs::{BlobError, BlobName, Blobs};
use bytes::Bytes;
use model::RealmId;
use std::collections::HashSet;

/// The picture of the custom emoji, as a blob of the organization.
pub const EMOJI_FILE: &str = "emoji/images/sample-green-tick.png";

/// The path of the only uploaded file, below the organization's.
pub const UPLOAD_PATH: &str = "sa/mpleorganizationfile0001/buckets.png";

/// The picture of the custom emoji, in the form that an upload gets.
pub const GREEN_TICK: &[u8] = include_bytes!("green_tick.png");
/// The picture that a message names.
pub const BUCKETS: &[u8] = include_bytes!("buckets.png");

/// Stores the files of a seed that are not stored yet.
///
/// # Errors
/// Those of the storage of files.
pub async fn store_files(blobs: &Blobs, realm: RealmId, seed: &SeedDocument) -> Result<(), BlobError> {
    for (name, bytes) in files(realm, seed) {
        if let Err(BlobError::Missing) = blobs.get(&name).await.map(drop) {
            blobs.put(&name, Bytes::copy_from_slice(bytes)).await?;
        }
    }
    Ok(())
}

/// Stores the files of a seed for a new organization, also over those that a failed call has left for its number.
///
/// # Errors
/// Those of the storage of files.
pub async fn replace_files(blobs: &Blobs, realm: RealmId, seed: &SeedDocument) -> Result<(), BlobError> {
    for (name, bytes) in files(realm, seed) {
        blobs.put(&name, Bytes::copy_from_slice(bytes)).await?;
    }
    Ok(())
}

/// The names of the files of a seed.
pub fn file_names(realm: RealmId, seed: &SeedDocument) -> HashSet<BlobName> {
    files(realm, seed).map(|(name, _)| name).collect()
}

/// The files of a seed, as blobs of an organization.
fn files(realm: RealmId, seed: &SeedDocument) -> impl Iterator<Item = (BlobName, &[u8])> {
    let emoji = seed.emoji_files().filter_map(move |(file, bytes)| Some((blob_name(realm, file)?, bytes)));
    let uploads = seed.uploads();
    emoji.chain(
        uploads.filter_map(move |(path, bytes)| Some((upload_blob(&format!("{realm}/{path}"))?, bytes))),
    )
}
