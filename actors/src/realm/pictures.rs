//! Pictures: avatars, icon and logos, custom emoji (docs/api/users.md#avatars). The edge stores their bytes before the
//! decision, which names the files.

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::picture::{PictureFact, PictureRecord, RealmEmoji, RealmPicture};
use model::{Directory, Fact, User, UserId};
use rules::RuleError;
use rules::avatar::check_avatar_change;
use rules::custom_emoji::{check_emoji_name, check_emoji_override, check_emoji_removal, check_new_emoji};
use rules::permissions::roles::check_administrator;

fn decided(fact: PictureFact) -> Vec<Fact> {
    vec![Fact::Picture(Box::new(fact))]
}

/// Whose picture it is: one's own, or that of a bot that one looks after.
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
    /// The acting user.
    pub by: UserId,
    /// The user whose avatar changes.
    pub user: UserId,
    /// Its file; none: the picture that the address stands for.
    pub file: Option<String>,
}

impl SerializedCommand for SetAvatar {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let user = access_avatar(directory, requester(directory, self.by)?, self.user)?;
        let version = user.avatar_version.saturating_add(1);
        Ok(((), decided(PictureFact::AvatarSet { user: user.id, file: self.file, version })))
    }
}

/// Give the organization another icon or logo.
pub struct SetRealmPicture {
    /// The acting user.
    pub by: UserId,
    /// Whether it is the icon, the logo or the logo for the night theme.
    pub which: RealmPicture,
    /// Its file; none: the default one.
    pub file: Option<String>,
}

impl SerializedCommand for SetRealmPicture {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_administrator(requester(directory, self.by)?)?;
        let version = directory.realm_pictures().get(self.which).version.saturating_add(1);
        let picture = PictureRecord { file: self.file, version };
        Ok(((), decided(PictureFact::RealmPictureSet { which: self.which, picture })))
    }
}

/// The files of an emoji.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiFiles {
    /// The name of the stored picture file.
    pub file: String,
    /// The first frame of an animation.
    pub still: Option<String>,
}

/// Add an emoji of the organization's own.
pub struct AddEmoji {
    /// The acting user.
    pub by: UserId,
    /// Its name as given.
    pub name: String,
    /// What it looks like.
    pub files: EmojiFiles,
}

impl SerializedCommand for AddEmoji {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let author = requester(directory, self.by)?;
        let name = check_emoji_name(&self.name)?;
        check_new_emoji(directory, author, &name)?;
        check_emoji_override(directory, author, &name)?;
        let EmojiFiles { file, still } = self.files;
        let id = directory.last_realm_emoji() + 1;
        let author = Some(author.id);
        let emoji = RealmEmoji { id, name, file, still, author, is_deactivated: false };
        Ok(((), decided(PictureFact::EmojiSet(emoji))))
    }
}

/// Deactivates a custom emoji.
pub struct RemoveEmoji {
    /// The acting user.
    pub by: UserId,
    /// The name of the emoji.
    pub name: String,
}

impl SerializedCommand for RemoveEmoji {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let found = check_emoji_removal(directory, requester(directory, self.by)?, &self.name)?;
        let emoji = RealmEmoji { is_deactivated: true, ..RealmEmoji::clone(found) };
        Ok(((), decided(PictureFact::EmojiSet(emoji))))
    }
}
