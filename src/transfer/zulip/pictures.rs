//! Profile pictures, custom emoji, icon and logos. As with uploads, pictures are decoded and encoded again, so that no bytes
//! of the export are served.

use super::organization::Builder;
use super::source::Source;
use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::blobs::{Blobs, random_name};
use crate::integrations::images::{self, ImageRefusal};
use crate::transfer::problem::TransferError;
use model::picture::{PictureFact, PictureRecord, RealmEmoji, RealmPicture};
use model::{Fact, UserId};
use rules::avatar::medium_file;
use serde_json::Value;
use std::path::Path;

/// Largest picture in bytes.
const BYTES_MAX: u64 = 25 << 20;
/// Largest list of pictures in bytes.
const RECORDS_BYTES_MAX: u64 = 256 << 20;
const EMOJI: &str = "zerver_realmemoji";

/// The organization's pictures: its kind, and the columns and files of the export.
const PICTURES: [(RealmPicture, &str, &str); 3] = [
    (RealmPicture::Icon, "icon", "icon"),
    (RealmPicture::Logo, "logo", "logo"),
    (RealmPicture::NightLogo, "night_logo", "night_logo"),
];

/// A picture that is made of bytes.
type Made<T> = Result<T, ImageRefusal>;

impl Builder<'_> {
    /// All pictures.
    ///
    /// # Errors
    /// `Files` when a picture cannot be stored, `System` and `Invalid` when the lists cannot be read.
    pub async fn pictures(&mut self, source: &Source, blobs: &Blobs) -> Result<(), TransferError> {
        self.avatars(source, blobs).await?;
        self.emoji(source, blobs).await?;
        self.realm_pictures(source, blobs).await
    }

    async fn avatars(&mut self, source: &Source, blobs: &Blobs) -> Result<(), TransferError> {
        let records = records(source, "avatars")?;
        self.report.read("avatars", records.len() as u64);
        for record in &records {
            let path = record["path"].as_str().unwrap_or_default();
            let user = record["user_profile_id"].as_u64().and_then(|id| u32::try_from(id).ok());
            let Some(user) = self.user(user) else {
                self.report.leave_out("avatars", "of a user that is not in the export", 1);
                continue;
            };
            // The other file of the same picture.
            let original = path.strip_suffix(".png").map(|stem| format!("{stem}.original"));
            if original.is_some_and(|path| source.stored_file("avatars", &path).is_some()) {
                self.report.carry("avatars", 1);
                continue;
            }
            match made(source, "avatars", path, |bytes| images::avatar(bytes, None)) {
                Ok(made) => {
                    let name = format!("{}.png", random_name()?);
                    self.store(blobs, &name, made.small).await?;
                    self.store(blobs, &medium_file(&name), made.medium).await?;
                    self.set_avatar(user, name);
                    self.report.carry("avatars", 1);
                }
                Err(why) => self.report.leave_out("avatars", why, 1),
            }
        }
        Ok(())
    }

    fn set_avatar(&mut self, user: UserId, file: String) {
        let version = self.directory.user(user).map_or(1, |user| user.avatar_version);
        self.put_picture(PictureFact::AvatarSet { user, file: Some(file), version });
    }

    fn put_picture(&mut self, fact: PictureFact) {
        self.directory.put_picture(&fact);
        self.facts.push(Fact::Picture(Box::new(fact)));
    }

    async fn store(&self, blobs: &Blobs, file: &str, bytes: Vec<u8>) -> Result<(), TransferError> {
        if let Some(name) = blob_name(self.directory.realm().id, file) {
            blobs.put(&name, bytes.into()).await?;
        }
        Ok(())
    }

    async fn emoji(&mut self, source: &Source, blobs: &Blobs) -> Result<(), TransferError> {
        let realm = self.tables.realm().id("id").unwrap_or_default();
        for row in self.rows_by_id(EMOJI) {
            let file = row.text("file_name");
            let found = [format!("{file}.original"), file.to_owned()].into_iter().find_map(|file| {
                let paths = [format!("{realm}/emoji/images/{file}"), file];
                paths.into_iter().find(|path| source.stored_file("emoji", path).is_some())
            });
            let bytes = match (row.id("id"), found) {
                (None, _) => Err("without an id"),
                (_, None) => Err("whose picture is not in the export"),
                (_, Some(path)) => made(source, "emoji", &path, |bytes| images::emoji(bytes, None)),
            };
            let picture = match bytes {
                Ok(picture) => picture,
                Err(why) => {
                    self.report.leave_out(EMOJI, why, 1);
                    continue;
                }
            };
            let word = random_name()?;
            let extension = if picture.still.is_some() { "gif" } else { "png" };
            let file = format!("emoji/images/{word}.{extension}");
            self.store(blobs, &file, picture.bytes).await?;
            let mut still = None;
            if let Some(bytes) = picture.still {
                let name = format!("emoji/images/still/{word}.png");
                self.store(blobs, &name, bytes).await?;
                still = Some(name);
            }
            let author = self.user(row.id("author"));
            let (id, name) = (row.id("id").unwrap_or_default(), row.text("name").to_owned());
            let is_deactivated = row.is("deactivated");
            let emoji = RealmEmoji { id, name, file, still, author, is_deactivated };
            self.put_picture(PictureFact::EmojiSet(emoji));
            self.report.carry(EMOJI, 1);
        }
        Ok(())
    }

    async fn realm_pictures(&mut self, source: &Source, blobs: &Blobs) -> Result<(), TransferError> {
        let row = self.tables.realm();
        let realm = row.id("id").unwrap_or_default();
        for (which, column, file) in PICTURES {
            if row.text(&format!("{column}_source")) != "U" {
                continue;
            }
            self.report.read("realm_icons", 1);
            let paths = [format!("{realm}/{file}.original"), format!("{realm}/{file}.png")];
            let path = paths.into_iter().find(|path| source.stored_file("realm_icons", path).is_some());
            let Some(path) = path else {
                self.report.leave_out("realm_icons", "whose file is not in the export", 1);
                continue;
            };
            let make = |bytes: &[u8]| match which {
                RealmPicture::Icon => images::icon(bytes, None),
                RealmPicture::Logo | RealmPicture::NightLogo => images::logo(bytes, None),
            };
            match made(source, "realm_icons", &path, make) {
                Ok(bytes) => {
                    let name = format!("realm/{}.png", random_name()?);
                    self.store(blobs, &name, bytes).await?;
                    let version = row.id(&format!("{column}_version")).unwrap_or(1).max(1);
                    let picture = PictureRecord { file: Some(name), version };
                    self.put_picture(PictureFact::RealmPictureSet { which, picture });
                    self.report.carry("realm_icons", 1);
                }
                Err(why) => self.report.leave_out("realm_icons", why, 1),
            }
        }
        Ok(())
    }
}

/// The picture that is made of a file of the export, or why there is none.
fn made<T>(
    source: &Source,
    folder: &str,
    path: &str,
    make: impl FnOnce(&[u8]) -> Made<T>,
) -> Result<T, &'static str> {
    let file = source.stored_file(folder, path).ok_or("whose file is not in the export")?;
    let bytes = read_bounded(&file).ok_or("whose file is too large or cannot be read")?;
    make(&bytes).map_err(|_| "that are no pictures which can be shown")
}

fn read_bounded(file: &Path) -> Option<Vec<u8>> {
    let size = std::fs::metadata(file).ok()?.len();
    if size <= BYTES_MAX { std::fs::read(file).ok() } else { None }
}

/// The list of files of a folder; none if the export has no such folder.
fn records(source: &Source, folder: &str) -> Result<Vec<Value>, TransferError> {
    let Some(path) = source.stored_file(folder, "records.json") else { return Ok(Vec::new()) };
    let failed = |reason| TransferError::system(&path, reason);
    let file = format!("{folder}/records.json");
    if std::fs::metadata(&path).map_err(failed)?.len() > RECORDS_BYTES_MAX {
        return Err(TransferError::TooLarge(format!("{file} is too large")));
    }
    let text = std::fs::read(&path).map_err(failed)?;
    serde_json::from_slice(&text).map_err(|error| TransferError::invalid(file, error))
}
