//! The files of the sample organization.

use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::blobs::uploads::upload_blob;
use crate::integrations::blobs::{BlobError, Blobs};
use bytes::Bytes;
use model::RealmId;

/// The picture of the custom emoji, as a blob of the organization.
pub const EMOJI_FILE: &str = "emoji/images/sample-green-tick.png";

/// The path of the only uploaded file, below the organization's.
pub const UPLOAD_PATH: &str = "sa/mpleorganizationfile0001/buckets.png";

/// The picture of the custom emoji, in the form that an upload gets.
const GREEN_TICK: &[u8] = include_bytes!("green_tick.png");
/// The picture that a message names.
pub const BUCKETS: &[u8] = include_bytes!("buckets.png");

/// Stores the files that are not stored yet.
///
/// # Errors
/// Those of the storage of files.
pub async fn store_files(blobs: &Blobs, realm: RealmId) -> Result<(), BlobError> {
    let emoji = blob_name(realm, EMOJI_FILE).map(|name| (name, GREEN_TICK));
    let upload = upload_blob(&format!("{realm}/{UPLOAD_PATH}")).map(|name| (name, BUCKETS));
    for (name, bytes) in emoji.into_iter().chain(upload) {
        if let Err(BlobError::Missing) = blobs.get(&name).await.map(drop) {
            blobs.put(&name, Bytes::from_static(bytes)).await?;
        }
    }
    Ok(())
}
