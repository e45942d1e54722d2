//! Whose pictures are which, and the organization's own emoji.

use super::Directory;
use crate::ids::UserId;
use crate::picture::{PictureFact, RealmEmoji, RealmPictures};
use crate::user::User;
use imbl::{HashMap, OrdMap};
use std::sync::Arc;

/// Everything about pictures in one organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PictureRecords {
    avatars: OrdMap<UserId, Arc<str>>,
    realm: Arc<RealmPictures>,
    emoji: OrdMap<u32, Arc<RealmEmoji>>,
    /// Those in use: asked for by each `:name:` in a text.
    emoji_by_name: HashMap<String, u32>,
}

impl Directory {
    /// The file of the picture that a user uploaded.
    pub fn avatar_file(&self, user: UserId) -> Option<&Arc<str>> {
        self.pictures.avatars.get(&user)
    }

    /// All files of users' pictures.
    pub fn avatar_files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pictures.avatars.values()
    }

    /// The organization's icon and logos.
    pub fn realm_pictures(&self) -> &Arc<RealmPictures> {
        &self.pictures.realm
    }

    /// The organization's own emoji, oldest first, with those no longer offered.
    pub fn realm_emoji(&self) -> impl Iterator<Item = &Arc<RealmEmoji>> {
        self.pictures.emoji.values()
    }

    /// How many emoji the organization ever had.
    pub fn realm_emoji_count(&self) -> usize {
        self.pictures.emoji.len()
    }

    /// The newest id of an emoji; 0 before the first one.
    pub fn last_realm_emoji(&self) -> u32 {
        self.pictures.emoji.get_max().map_or(0, |(id, _)| *id)
    }

    /// The emoji that is offered by this name.
    pub fn realm_emoji_by_name(&self, name: &str) -> Option<&Arc<RealmEmoji>> {
        self.pictures.emoji.get(self.pictures.emoji_by_name.get(name)?)
    }

    /// Sets the file of a user's picture; none takes it away.
    pub fn put_avatar_file(&mut self, user: UserId, file: Option<&str>) {
        match file {
            Some(file) => self.pictures.avatars.insert(user, file.into()),
            None => self.pictures.avatars.remove(&user),
        };
    }

    /// Sets the organization's icon and logos.
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

    /// Makes the records what a fact says.
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

    /// Makes the emoji what they were before a fact; everything else that facts about pictures say is about themselves.
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
    fn a_name_belongs_to_the_emoji_that_is_in_use() {
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
