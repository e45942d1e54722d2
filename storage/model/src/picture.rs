//! Uploaded pictures: avatars of users and bots, the organization's icon and logos, custom emoji.
//!
//! The bytes are in the blob store under a random name. A name is never reused for other bytes, so pictures can be
//! cached by their URL.

use crate::ids::UserId;
use serde::{Deserialize, Serialize};

/// A picture of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RealmPicture {
    /// The square icon, for lists of organizations.
    Icon,
    /// The wide logo on a light background.
    Logo,
    /// The wide logo on a dark background.
    NightLogo,
}

/// A picture with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureRecord {
    /// Name of the blob; none if there is no picture.
    pub file: Option<String>,
    /// Incremented by each change, for caches; initially 1.
    pub version: u32,
}

impl Default for PictureRecord {
    fn default() -> Self {
        Self { file: None, version: 1 }
    }
}

/// The pictures of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmPictures {
    icon: PictureRecord,
    logo: PictureRecord,
    night_logo: PictureRecord,
}

impl RealmPictures {
    /// The record of one picture.
    pub fn get(&self, which: RealmPicture) -> &PictureRecord {
        match which {
            RealmPicture::Icon => &self.icon,
            RealmPicture::Logo => &self.logo,
            RealmPicture::NightLogo => &self.night_logo,
        }
    }

    /// Replaces the record of one picture.
    pub fn put(&mut self, which: RealmPicture, picture: PictureRecord) {
        match which {
            RealmPicture::Icon => self.icon = picture,
            RealmPicture::Logo => self.logo = picture,
            RealmPicture::NightLogo => self.night_logo = picture,
        }
    }

    /// The records of all pictures.
    pub fn all(&self) -> [&PictureRecord; 3] {
        [&self.icon, &self.logo, &self.night_logo]
    }
}

/// A custom emoji. Records are stored permanently, so that old messages stay readable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmEmoji {
    pub id: u32,
    /// Unique among active emoji.
    pub name: String,
    /// Name of the blob.
    pub file: String,
    /// Name of the still picture's blob, for animated emoji.
    pub still: Option<String>,
    pub author: Option<UserId>,
    /// No longer offered for new messages.
    pub is_deactivated: bool,
}

/// Changes of pictures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PictureFact {
    /// A user's avatar changed.
    AvatarSet {
        user: UserId,
        /// Name of the blob; none for the default avatar.
        file: Option<String>,
        version: u32,
    },
    /// A picture of the organization changed.
    RealmPictureSet { which: RealmPicture, picture: PictureRecord },
    /// A custom emoji was added or deactivated.
    EmojiSet(RealmEmoji),
}
