//! Facts about pictures become the directory's records and their rows.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use model::picture::PictureFact;

impl View {
    /// Avatars, the organization's icon and logos, its own emoji.
    pub(super) fn apply_picture_fact(
        &mut self,
        fact: &PictureFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        self.directory.put_picture(fact);
        let realm = self.realm();
        match fact {
            PictureFact::AvatarSet { user, file, .. } => {
                if let Some(record) = self.directory.user(*user) {
                    rows.put(tables::user(realm, *user), record)?;
                }
                let key = tables::avatar(realm, *user);
                match file {
                    Some(file) => rows.put(key, file),
                    None => {
                        rows.remove(key);
                        Ok(())
                    }
                }
            }
            PictureFact::RealmPictureSet { .. } => {
                rows.put(Key::table(realm, Table::RealmPictures), self.directory.realm_pictures())
            }
            PictureFact::EmojiSet(emoji) => rows.put(tables::realm_emoji(realm, emoji.id), emoji),
        }
    }
}
