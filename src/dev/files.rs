//! The files of the sample organization.

use super::lists::EMOJI_FILE;
use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::blobs::{BlobError, Blobs};
use bytes::Bytes;
use model::RealmId;

/// Pictures of the organization: the name of the blob, and its bytes in the form that an upload gets.
const PICTURES: [(&str, &[u8]); 1] = [(EMOJI_FILE, include_bytes!("green_tick.png"))];

/// Stores the files that are not stored yet.
///
/// # Errors
/// Those of the storage of files.
pub async fn store_files(blobs: &Blobs, realm: RealmId) -> Result<(), BlobError> {
    for (file, bytes) in PICTURES {
        let Some(name) = blob_name(realm, file) else { continue };
        if let Err(BlobError::Missing) = blobs.get(&name).await.map(drop) {
            blobs.put(&name, Bytes::from_static(bytes)).await?;
        }
    }
    Ok(())
}
