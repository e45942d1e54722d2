//! Pictures that people upload: of themselves and their bots, the organization's icon and logos, its own emoji.
//!
//! The bytes are not here but in the blob store; a name that cannot be guessed says which they are. Other bytes always have
//! another name, so whoever keeps a picture by its address keeps the right one.

use crate::ids::UserId;
use serde::{Deserialize, Serialize};

/// One of the pictures of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RealmPicture {
    /// Square, for lists of organizations.
    Icon,
    /// Wide, on light ground.
    Logo,
    /// Wide, on dark ground.
    NightLogo,
}

/// A picture, and how often it was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureRecord {
    /// The name of its file; none where there is none.
    pub file: Option<String>,
    /// Counts changes, for caches; 1 before the first one.
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
    /// One of them.
    pub fn get(&self, which: RealmPicture) -> &PictureRecord {
        match which {
            RealmPicture::Icon => &self.icon,
            RealmPicture::Logo => &self.logo,
            RealmPicture::NightLogo => &self.night_logo,
        }
    }

    /// Sets one of them.
    pub fn put(&mut self, which: RealmPicture, picture: PictureRecord) {
        match which {
            RealmPicture::Icon => self.icon = picture,
            RealmPicture::Logo => self.logo = picture,
            RealmPicture::NightLogo => self.night_logo = picture,
        }
    }

    /// All of them.
    pub fn all(&self) -> [&PictureRecord; 3] {
        [&self.icon, &self.logo, &self.night_logo]
    }
}

/// An emoji of the organization's own. It stays for ever, so that what was written with it can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmEmoji {
    /// Unique in the organization.
    pub id: u32,
    /// Unique among those in use.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The name of the file that does not move, for one that does.
    pub still: Option<String>,
    /// Who added it.
    pub author: Option<UserId>,
    /// No longer offered.
    pub is_deactivated: bool,
}

/// What was decided about pictures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PictureFact {
    /// A user has another picture.
    AvatarSet {
        /// Whose.
        user: UserId,
        /// The name of its file; none: that which the address stands for.
        file: Option<String>,
        /// Counts changes, for caches.
        version: u32,
    },
    /// The organization has another picture.
    RealmPictureSet {
        /// Which.
        which: RealmPicture,
        /// What it is now.
        picture: PictureRecord,
    },
    /// An emoji came to be, or is no longer offered.
    EmojiSet(RealmEmoji),
}
