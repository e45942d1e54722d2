//! Where the pictures of an organization are among all files, and which of them are in use.

use super::BlobName;
use actors::RealmHandle;
use model::RealmId;
use rules::avatar::medium_file;
use std::collections::HashSet;

/// The folder of an organization's images.
pub fn pictures_folder(realm: RealmId) -> String {
    format!("avatars/{realm}")
}

/// The name of an image file of an organization; none if it is invalid.
pub fn blob_name(realm: RealmId, file: &str) -> Option<BlobName> {
    BlobName::parse(&format!("{}/{file}", pictures_folder(realm)))
}

/// Every file that an organization uses.
pub fn named_files(realm: &RealmHandle) -> HashSet<String> {
    let directory = realm.directory();
    let folder = pictures_folder(realm.id());
    let avatars = directory.avatar_files().flat_map(|file| [file.to_string(), medium_file(file)]);
    let pictures = directory.realm_pictures().all().map(|picture| picture.file.clone());
    let emoji = directory.realm_emoji().flat_map(|emoji| [Some(emoji.file.clone()), emoji.still.clone()]);
    let all = avatars.chain(pictures.into_iter().chain(emoji).flatten());
    all.map(|file| format!("{folder}/{file}")).collect()
}
