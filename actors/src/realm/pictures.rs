//! Pictures: avatars, icon and logos, custom emoji (docs/api/users.md#avatars). The edge stores their bytes before the
//! decision, which names the files.

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use model::picture::{PictureFact, PictureRecord, RealmEmoji, RealmPicture};
use model::{Directory, Fact, User, UserId};
use rules::RuleError;
use rules::avatar::check_avatar_change;
use rules::custom_emoji::{check_emoji_name, check_emoji_override, check_emoji_removal, check_new_emoji};
use rules::new_ids::id_after;
use rules::permissions::roles::check_administrator;

fn decided(fact: PictureFact) -> Vec<Fact> {
    vec![Fact::Picture(Box::new(fact))]
}

/// The fact that a user (the record before it) has another avatar; none: the one that is derived from the address.
pub(super) fn avatar_set(user: &User, file: Option<String>) -> Fact {
    let version = user.avatar_version.saturating_add(1);
    Fact::Picture(Box::new(PictureFact::AvatarSet { user: user.id, file, version }))
}

/// The user whose avatar `by` may change: the own account, or a bot that `by` manages.
fn access_avatar<'d>(directory: &'d Directory, by: &User, user: UserId) -> Result<&'d User, DomainError> {
    let about = directory.user(user).ok_or(RuleError::InsufficientPermission)?;
    if by.id == user {
        check_avatar_change(directory, by)?;
        return Ok(about);
    }
    let owner = about.bot.as_ref().filter(|bot| !bot.is_system).map(|bot| bot.owner);
    match owner {
        Some(owner) if by.is_administrator() || owner == Some(by.id) => Ok(about),
        _ => Err(RuleError::InsufficientPermission.into()),
    }
}

/// Changes a user's avatar.
pub struct SetAvatar {
    pub by: UserId,
    pub user: UserId,
    /// None: the picture that is derived from the address.
    pub file: Option<String>,
}

impl SerializedChange for SetAvatar {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let user = access_avatar(directory, requester(directory, self.by)?, self.user)?;
        Ok(vec![avatar_set(user, self.file)])
    }
}

/// Changes the icon or a logo of the organization.
pub struct SetRealmPicture {
    pub by: UserId,
    pub which: RealmPicture,
    /// None: the default one.
    pub file: Option<String>,
}

impl SerializedChange for SetRealmPicture {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        check_administrator(requester(directory, self.by)?)?;
        let version = directory.realm_pictures().get(self.which).version.saturating_add(1);
        let picture = PictureRecord { file: self.file, version };
        Ok(decided(PictureFact::RealmPictureSet { which: self.which, picture }))
    }
}

/// The stored files of an emoji.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiFiles {
    pub file: String,
    /// The first frame of an animation.
    pub still: Option<String>,
}

/// Adds a custom emoji.
pub struct AddEmoji {
    pub by: UserId,
    pub name: String,
    pub files: EmojiFiles,
}

impl SerializedChange for AddEmoji {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let author = requester(directory, self.by)?;
        let name = check_emoji_name(&self.name)?;
        check_new_emoji(directory, author, &name)?;
        check_emoji_override(directory, author, &name)?;
        let EmojiFiles { file, still } = self.files;
        let id = id_after(directory.last_realm_emoji(), "custom emoji")?;
        let author = Some(author.id);
        let emoji = RealmEmoji { id, name, file, still, author, is_deactivated: false };
        Ok(decided(PictureFact::EmojiSet(emoji)))
    }
}

/// Deactivates a custom emoji.
pub struct RemoveEmoji {
    pub by: UserId,
    pub name: String,
}

impl SerializedChange for RemoveEmoji {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let found = check_emoji_removal(directory, requester(directory, self.by)?, &self.name)?;
        let emoji = RealmEmoji { is_deactivated: true, ..RealmEmoji::clone(found) };
        Ok(decided(PictureFact::EmojiSet(emoji)))
    }
}
