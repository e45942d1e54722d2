//! Where the uploaded files of an organization are among all files, and which of them are in use.

use super::{BlobError, BlobName, Blobs};
use crate::integrations::images::thumbnail::ThumbnailFormat;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{Directory, RealmId};
use rules::uploads::{folder_of, path_name};
use std::path::Path;
use std::time::SystemTime;

/// Bytes of randomness in the path of a file: 24 characters.
const PATH_BYTES: usize = 18;

/// The folder of an organization's uploaded files.
pub fn uploads_folder(realm: RealmId) -> String {
    format!("uploads/{realm}")
}

/// The file with the bytes of an upload; none if the path is invalid. The name that people see is not part of it.
pub fn upload_blob(path_id: &str) -> Option<BlobName> {
    let folder = folder_of(path_id).strip_suffix('/')?;
    BlobName::parse(&format!("uploads/{folder}"))
}

/// The folder of the thumbnails of an organization's uploaded files.
pub fn thumbnails_folder(realm: RealmId) -> String {
    format!("thumbnails/{realm}")
}

/// The file with a thumbnail of an upload; none if the path is invalid.
pub fn thumbnail_blob(path_id: &str, format: ThumbnailFormat) -> Option<BlobName> {
    let folder = folder_of(path_id).strip_suffix('/')?;
    BlobName::parse(&format!("thumbnails/{folder}/{}", format.name()))
}

/// The files with the thumbnails of an upload, whether or not they have been made.
pub fn thumbnail_blobs(path_id: &str) -> impl Iterator<Item = BlobName> {
    ThumbnailFormat::ALL.into_iter().filter_map(move |format| thumbnail_blob(path_id, format))
}

/// An unguessable path for a new upload.
pub fn new_path(realm: RealmId, name: &str) -> Result<String, BlobError> {
    let mut bytes = [0; PATH_BYTES + 1];
    getrandom::fill(&mut bytes).map_err(|error| BlobError::Store(error.to_string()))?;
    let (spread, random) = (bytes[PATH_BYTES], URL_SAFE_NO_PAD.encode(&bytes[..PATH_BYTES]));
    Ok(format!("{realm}/{spread:02x}/{random}/{}", path_name(name)))
}

/// Whether a file in the folder of uploads belongs to an upload.
pub fn is_named(directory: &Directory, blob: &BlobName) -> bool {
    let folder = blob.as_str().strip_prefix("uploads/");
    folder.is_some_and(|folder| directory.has_attachment_below(&format!("{folder}/")))
}

/// Whether a file in the folder of thumbnails belongs to an upload.
pub fn is_thumbnail(directory: &Directory, blob: &BlobName) -> bool {
    let path = blob.as_str().strip_prefix("thumbnails/").and_then(|path| path.rsplit_once('/'));
    path.is_some_and(|(folder, _)| directory.has_attachment_below(&format!("{folder}/")))
}

impl Blobs {
    /// Deletes what a server that was killed left of files that it was writing. Blocks: it walks through all folders.
    pub fn delete_unfinished(&self, before: SystemTime) {
        if let Some(folder) = &self.folder {
            delete_unfinished_in(&folder.path, before);
        }
    }

    /// What a file that is written now has as its time: file systems have clocks that lag by a tick, and those of a network their own.
    /// None without a folder, or if it cannot be written.
    pub fn time_of_folder(&self) -> Option<SystemTime> {
        let folder = self.folder.as_ref()?;
        let written = tempfile::tempfile_in(&folder.path).and_then(|file| file.metadata()?.modified());
        written
            .inspect_err(
                |error| tracing::warn!(%error, "the sweep for files left by a killed process is skipped"),
            )
            .ok()
    }
}

/// The store writes a file under its name, `#` and a number, and renames it at the end.
fn delete_unfinished_in(folder: &Path, before: SystemTime) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let is_unfinished = entry.file_name().to_string_lossy().contains('#');
        let is_old = || {
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            written.is_ok_and(|written| written < before)
        };
        if kind.is_dir() {
            delete_unfinished_in(&path, before);
        } else if is_unfinished && is_old() && std::fs::remove_file(&path).is_ok() {
            tracing::info!("an unfinished file was deleted");
        }
    }
}
