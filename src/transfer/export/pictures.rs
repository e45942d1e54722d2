//! Profile pictures, custom emoji, icon and logos: the stored pictures with a list for each folder.

use super::archive::Archive;
use super::files::Store;
use super::snapshot::{Snapshot, seconds};
use crate::integrations::blobs::pictures::blob_name;
use crate::transfer::problem::TransferError;
use model::picture::{RealmEmoji, RealmPicture};
use rules::avatar::medium_file;
use serde_json::{Value, json};
use std::io::Write;

/// The name of the file of an emoji, without folders.
pub fn emoji_file_name(emoji: &RealmEmoji) -> &str {
    emoji.file.rsplit('/').next().unwrap_or(&emoji.file)
}

impl Snapshot<'_> {
    /// All pictures, with the lists of their files.
    pub fn pictures<W: Write>(
        &self,
        archive: &mut Archive<W>,
        store: &Store<'_>,
    ) -> Result<(), TransferError> {
        self.avatars(archive, store)?;
        self.emoji_files(archive, store)?;
        self.realm_pictures(archive, store)
    }

    fn avatars<W: Write>(&self, archive: &mut Archive<W>, store: &Store<'_>) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let mut records: Vec<Value> = Vec::new();
        for user in self.users() {
            let Some(file) = self.directory.avatar_file(user.id) else { continue };
            let stem = file.strip_suffix(".png").unwrap_or(file);
            // The larger one stands for the original, which is not kept.
            for (stored, extension) in [(file.to_string(), "png"), (medium_file(file), "original")] {
                let path = format!("{realm}/{stem}.{extension}");
                let name = blob_name(realm, &stored);
                let Some(size) = store.copy(archive, name, &format!("avatars/{path}"))? else { continue };
                records.push(json!({
                    "realm_id": realm, "user_profile_id": user.id,
                    "user_profile_email": self.directory.made_up_email(user.id),
                    "avatar_version": user.avatar_version, "s3_path": path, "path": path, "size": size,
                    "last_modified": seconds(self.at), "content_type": null,
                }));
            }
        }
        add_records(archive, "avatars", &records)
    }

    fn emoji_files<W: Write>(
        &self,
        archive: &mut Archive<W>,
        store: &Store<'_>,
    ) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let mut records: Vec<Value> = Vec::new();
        for emoji in self.directory.realm_emoji() {
            let file = emoji_file_name(emoji);
            for extension in ["", ".original"] {
                let path = format!("{realm}/emoji/images/{file}{extension}");
                let name = blob_name(realm, &emoji.file);
                if store.copy(archive, name, &format!("emoji/{path}"))?.is_some() {
                    records.push(json!({
                        "realm_id": realm, "author": emoji.author, "path": path, "s3_path": path,
                        "file_name": file, "name": emoji.name, "deactivated": emoji.is_deactivated,
                    }));
                }
            }
        }
        add_records(archive, "emoji", &records)
    }

    fn realm_pictures<W: Write>(
        &self,
        archive: &mut Archive<W>,
        store: &Store<'_>,
    ) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let mut records: Vec<Value> = Vec::new();
        for (which, name) in [
            (RealmPicture::Icon, "icon"),
            (RealmPicture::Logo, "logo"),
            (RealmPicture::NightLogo, "night_logo"),
        ] {
            let Some(file) = &self.directory.realm_pictures().get(which).file else { continue };
            for extension in ["png", "original"] {
                let path = format!("{realm}/{name}.{extension}");
                let stored = blob_name(realm, file);
                if store.copy(archive, stored, &format!("realm_icons/{path}"))?.is_some() {
                    records.push(json!({"realm_id": realm, "path": path, "s3_path": path}));
                }
            }
        }
        add_records(archive, "realm_icons", &records)
    }
}

/// Adds the list of the files of a folder, in the order of their paths.
fn add_records<W: Write>(
    archive: &mut Archive<W>,
    folder: &str,
    records: &[Value],
) -> Result<(), TransferError> {
    let mut sorted: Vec<&Value> = records.iter().collect();
    sorted.sort_by_key(|record| record["path"].as_str().unwrap_or_default().to_owned());
    let text = serde_json::to_vec_pretty(&sorted).unwrap_or_default();
    archive.count_records(folder, sorted.len() as u64);
    archive.bytes(&format!("{folder}/records.json"), &text)
}
