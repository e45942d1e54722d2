//! Pictures and custom emoji of a directory.

use super::Directory;
use crate::ids::UserId;
use crate::picture::{PictureFact, RealmEmoji, RealmPictures};
use crate::user::User;
use std::sync::Arc;

impl Directory {
    /// The blob of a user's uploaded avatar.
    pub fn avatar_file(&self, user: UserId) -> Option<&Arc<str>> {
        self.pictures.avatars.get(&user)
    }

    /// The blobs of all avatars.
    pub fn avatar_files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pictures.avatars.values()
    }

    /// The organization's icon and logos.
    pub fn realm_pictures(&self) -> &Arc<RealmPictures> {
        &self.pictures.realm
    }

    /// All custom emoji, oldest first, deactivated ones included.
    pub fn realm_emoji(&self) -> impl Iterator<Item = &Arc<RealmEmoji>> {
        self.pictures.emoji.values()
    }

    /// Number of custom emoji, deactivated ones included.
    pub fn realm_emoji_count(&self) -> usize {
        self.pictures.emoji.len()
    }

    /// The highest id of an emoji; 0 if there is none.
    pub fn last_realm_emoji(&self) -> u32 {
        self.pictures.emoji.get_max().map_or(0, |(id, _)| *id)
    }

    /// The active emoji of this name.
    pub fn realm_emoji_by_name(&self, name: &str) -> Option<&Arc<RealmEmoji>> {
        self.pictures.emoji.get(self.pictures.emoji_by_name.get(name)?)
    }

    /// Replaces the blob of a user's avatar; none removes it.
    pub fn put_avatar_file(&mut self, user: UserId, file: Option<&str>) {
        match file {
            Some(file) => self.pictures.avatars.insert(user, file.into()),
            None => self.pictures.avatars.remove(&user),
        };
    }

    /// Replaces the organization's icon and logos.
    pub fn put_realm_pictures(&mut self, pictures: RealmPictures) {
        self.pictures.realm = Arc::new(pictures);
    }

    /// Sets an emoji's record.
    pub fn put_realm_emoji(&mut self, emoji: RealmEmoji) {
        if !emoji.is_deactivated {
            self.pictures.emoji_by_name.insert(emoji.name.clone(), emoji.id);
        } else if self.pictures.emoji_by_name.get(&emoji.name) == Some(&emoji.id) {
            self.pictures.emoji_by_name.remove(&emoji.name);
        }
        self.pictures.emoji.insert(emoji.id, Arc::new(emoji));
    }

    /// Applies a fact about pictures.
    pub fn put_picture(&mut self, fact: &PictureFact) {
        match fact {
            PictureFact::AvatarSet { user, file, version } => {
                self.put_avatar_file(*user, file.as_deref());
                if let Some(before) = self.user(*user) {
                    let record = User { avatar_version: *version, ..User::clone(before) };
                    self.put_user(record);
                }
            }
            PictureFact::RealmPictureSet { which, picture } => {
                let mut pictures = RealmPictures::clone(&self.pictures.realm);
                pictures.put(*which, picture.clone());
                self.put_realm_pictures(pictures);
            }
            PictureFact::EmojiSet(emoji) => self.put_realm_emoji(emoji.clone()),
        }
    }

    /// Reverts a fact's effect on emoji; other facts about pictures need no reverting.
    pub fn undo_picture(&mut self, fact: &PictureFact) {
        match fact {
            PictureFact::EmojiSet(emoji) if emoji.is_deactivated => {
                self.put_realm_emoji(RealmEmoji { is_deactivated: false, ..emoji.clone() });
            }
            PictureFact::EmojiSet(emoji) => {
                self.pictures.emoji.remove(&emoji.id);
                if self.pictures.emoji_by_name.get(&emoji.name) == Some(&emoji.id) {
                    self.pictures.emoji_by_name.remove(&emoji.name);
                }
            }
            PictureFact::AvatarSet { .. } | PictureFact::RealmPictureSet { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RealmId;
    use crate::realm::Realm;
    use crate::time::Timestamp;

    fn directory() -> Directory {
        Directory::new(Realm::new(RealmId(1), "", "Test", "zulip.test", Timestamp(0)))
    }

    fn emoji(id: u32, is_deactivated: bool) -> PictureFact {
        let (name, file) = ("blob".to_owned(), format!("{id}.png"));
        PictureFact::EmojiSet(RealmEmoji { id, name, file, still: None, author: None, is_deactivated })
    }

    #[test]
    fn emoji_name_resolves_to_active_emoji() {
        let mut directory = directory();
        let found = |directory: &Directory| directory.realm_emoji_by_name("blob").map(|emoji| emoji.id);
        let steps = [(emoji(1, false), Some(1)), (emoji(1, true), None), (emoji(2, false), Some(2))];
        let mut states = Vec::new();
        for (fact, expected) in &steps {
            states.push(directory.clone());
            directory.put_picture(fact);
            assert_eq!(found(&directory), *expected);
        }
        assert_eq!((directory.realm_emoji_count(), directory.last_realm_emoji()), (2, 2));
        for ((fact, _), state) in steps.iter().zip(&states).rev() {
            directory.undo_picture(fact);
            assert_eq!(directory, *state, "{fact:?}");
        }
    }
}
