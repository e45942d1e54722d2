//! Commands about pictures: of people and bots, of the organization, its own emoji. The files are there before.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{AddEmoji, EmojiFiles, RemoveEmoji, SetAvatar, SetRealmPicture};
use model::UserId;
use model::picture::RealmPicture;

impl RealmHandle {
    /// Gives a user another picture: oneself, or a bot that one looks after. Without a file it is the picture that
    /// the user's address stands for.
    ///
    /// # Errors
    /// `AvatarChangesDisabled` for oneself, `InsufficientPermission` for others.
    pub async fn set_avatar(
        &self,
        by: UserId,
        user: UserId,
        file: Option<String>,
    ) -> Result<(), DomainError> {
        self.settle(SetAvatar { by, user, file }).await
    }

    /// Gives the organization another icon or logo; without a file, the default one.
    ///
    /// # Errors
    /// Only administrators may.
    pub async fn set_realm_picture(
        &self,
        by: UserId,
        which: RealmPicture,
        file: Option<String>,
    ) -> Result<(), DomainError> {
        self.settle(SetRealmPicture { by, which, file }).await
    }

    /// Adds an emoji of the organization's own.
    ///
    /// # Errors
    /// As `rules::custom_emoji::{check_emoji_name, check_new_emoji, check_emoji_override}`.
    pub async fn add_emoji(&self, by: UserId, name: String, files: EmojiFiles) -> Result<(), DomainError> {
        self.settle(AddEmoji { by, name, files }).await
    }

    /// Takes an emoji out of use: it is no longer offered, and what was written with it stays as it is.
    ///
    /// # Errors
    /// As `rules::custom_emoji::check_emoji_removal`.
    pub async fn remove_emoji(&self, by: UserId, name: String) -> Result<(), DomainError> {
        self.settle(RemoveEmoji { by, name }).await
    }
}
