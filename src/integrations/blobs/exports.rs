//! Where the files of exports are among all files, and which of them are in use.

use super::{BlobError, BlobName, random_name};
use model::{Directory, RealmId};

/// The beginning of the URLs of exports, below that of the organization.
pub const FOLDER_URL: &str = "/user_avatars/exports/";

/// The folder of an organization's exports.
pub fn exports_folder(realm: RealmId) -> String {
    format!("exports/{realm}")
}

/// The file of an export; none if the path is invalid.
pub fn export_blob(path: &str) -> Option<BlobName> {
    BlobName::parse(&format!("exports/{path}"))
}

/// An unguessable path for a new export, and the name of the folder in its archive.
pub fn new_export(realm: RealmId) -> Result<(String, String), BlobError> {
    let (token, name) = (random_name()?, random_name()?);
    let top = format!("zulip-export-{}", name.get(..8).unwrap_or(&name));
    Ok((format!("{realm}/{token}/{top}.tar.gz"), top))
}

/// Whether a file in the folder of exports belongs to an export.
pub fn is_named(directory: &Directory, blob: &BlobName) -> bool {
    let path = blob.as_str().strip_prefix("exports/");
    path.is_some() && directory.exports().items.iter().any(|export| export.path() == path)
}
