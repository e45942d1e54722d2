//! Applies facts about pictures to the directory and its rows.

use super::{Rows, View, key, records};
use crate::error::StoreError;
use model::picture::PictureFact;

impl View {
    /// Profile pictures, the organization's icon and logos, custom emoji.
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
                    rows.put::<records::Users>(realm, user, record)?;
                }
                self.put_row::<records::Avatars>(rows, *user, file.as_ref())
            }
            PictureFact::RealmPictureSet { .. } => {
                rows.put::<records::RealmPictures>(realm, &(), self.directory.realm_pictures())
            }
            PictureFact::EmojiSet(emoji) => {
                rows.put::<records::RealmEmoji>(realm, &key::Number(emoji.id), emoji)
            }
        }
    }
}
