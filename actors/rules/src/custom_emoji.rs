//! Custom emoji: valid names, and who may add and remove them (docs/api/emoji.md#custom-emoji).

use crate::avatar::picture_url;
use crate::emoji;
use crate::error::{PictureError, RuleError};
use crate::permissions::group_setting::holds_realm;
use crate::reactions::CustomEmoji;
use crate::settings::RealmPermission;
use crate::text::strip;
use model::picture::RealmEmoji;
use model::{Directory, RealmId, User};
use std::sync::Arc;

/// Emoji of one organization, including deactivated ones: clients receive all of them.
const EMOJI_MAX: usize = 5000;

/// The name to store of a name as sent, with underscores for spaces: `EmojiNameMissing`, `EmojiNameCharacters`,
/// `EmojiNameEnd`, `TooLong`.
pub fn check_emoji_name(given: &str) -> Result<String, RuleError> {
    let name = strip(given).replace(' ', "_");
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    match name.bytes().last() {
        None => Err(PictureError::EmojiNameMissing.into()),
        Some(_) if !name.bytes().all(is_allowed) => Err(PictureError::EmojiNameCharacters.into()),
        Some(b'_' | b'-') => Err(PictureError::EmojiNameEnd.into()),
        Some(_) if name.len() > NAME_LENGTH_MAX => {
            Err(RuleError::TooLong { field: "emoji_name", limit: NAME_LENGTH_MAX })
        }
        Some(_) => Ok(name),
    }
}

/// Longest name, in characters.
const NAME_LENGTH_MAX: usize = 100;

/// Whether a user may add an emoji with a name, checked before the picture is decoded: `InsufficientPermission`,
/// `EmojiExists`.
pub fn check_new_emoji(dir: &Directory, user: &User, name: &str) -> Result<(), RuleError> {
    if user.is_guest() || !holds_realm(dir, RealmPermission::AddCustomEmoji, user.id) {
        return Err(RuleError::InsufficientPermission);
    }
    if dir.realm_emoji_by_name(name).is_some() {
        return Err(PictureError::EmojiExists.into());
    }
    Ok(())
}

/// Whether a user may add an emoji with the name of a standard one, and one more at all: `EmojiOverridesDefault`,
/// except for administrators; `TooManyEmoji`.
pub fn check_emoji_override(dir: &Directory, user: &User, name: &str) -> Result<(), RuleError> {
    if emoji::code_of(name).is_some() && !user.is_administrator() {
        return Err(PictureError::EmojiOverridesDefault.into());
    }
    if dir.realm_emoji_count() >= EMOJI_MAX {
        return Err(PictureError::TooManyEmoji { limit: EMOJI_MAX }.into());
    }
    Ok(())
}

/// Finds an emoji that a user may deactivate: `EmojiMissing`, `EmojiNotOwn`.
pub fn check_emoji_removal<'d>(
    dir: &'d Directory,
    user: &User,
    name: &str,
) -> Result<&'d Arc<RealmEmoji>, RuleError> {
    let missing = || PictureError::EmojiMissing { name: name.to_owned() };
    let found = dir.realm_emoji_by_name(name).ok_or_else(missing)?;
    match user.is_administrator() || found.author == Some(user.id) {
        true => Ok(found),
        false => Err(PictureError::EmojiNotOwn.into()),
    }
}

/// The organization's custom emoji, in the form that reactions and statuses use.
pub fn choices(dir: &Directory) -> Vec<CustomEmoji<'_>> {
    let all = dir.realm_emoji();
    all.map(|emoji| CustomEmoji { id: emoji.id, name: &emoji.name, is_deactivated: emoji.is_deactivated })
        .collect()
}

/// The URL of an emoji.
pub fn emoji_url(realm: RealmId, emoji: &RealmEmoji) -> String {
    picture_url(realm, &emoji.file, None)
}

/// The URL of the still picture of an animated emoji.
pub fn still_url(realm: RealmId, emoji: &RealmEmoji) -> Option<String> {
    emoji.still.as_ref().map(|file| picture_url(realm, file, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn names() {
        let good = [("blob", "blob"), (" my emoji ", "my_emoji"), ("a-b_9", "a-b_9")];
        for (given, name) in good {
            assert_eq!(check_emoji_name(given), Ok(name.to_owned()));
        }
        let characters = "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and \
                          underscores.";
        let end = "Emoji names must end with either a letter or digit.";
        let long = "a".repeat(101);
        let bad = [
            ("", "Emoji name is missing"),
            (" ", "Emoji name is missing"),
            ("Blob", characters),
            ("a/b", characters),
            ("my_em*oji", characters),
            ("é", characters),
            ("blob_", end),
            ("blob-", end),
            (long.as_str(), "emoji_name is too long (limit: 100 characters)"),
        ];
        for (given, expected) in bad {
            assert_eq!(check_emoji_name(given).unwrap_err().to_string(), expected, "{given}");
        }
    }

    fn emoji(id: u32, name: &str, author: model::UserId) -> RealmEmoji {
        let (name, file) = (name.to_owned(), format!("emoji/images/{id}.png"));
        RealmEmoji { id, name, file, still: None, author: Some(author), is_deactivated: false }
    }

    #[test]
    fn who_may_add() {
        let mut dir = fixture::directory();
        dir.put_realm_emoji(emoji(1, "blob", fixture::MEMBER));
        let add = |id, name: &str| {
            let user = dir.user(id).unwrap();
            check_new_emoji(&dir, user, name).and_then(|()| check_emoji_override(&dir, user, name))
        };
        assert_eq!(add(fixture::MEMBER, "other"), Ok(()));
        assert_eq!(add(fixture::OWNER, "tada"), Ok(()));
        let refused = [
            (fixture::GUEST, "other", "Insufficient permission"),
            (fixture::MEMBER, "blob", "A custom emoji with this name already exists."),
            (fixture::MEMBER, "tada", "Only administrators can override default emoji."),
        ];
        for (id, name, expected) in refused {
            assert_eq!(add(id, name).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn who_may_remove() {
        let mut dir = fixture::directory();
        dir.put_realm_emoji(emoji(1, "blob", fixture::MEMBER));
        let remove = |id, name: &str| {
            let found = check_emoji_removal(&dir, dir.user(id).unwrap(), name);
            found.map(|emoji| emoji.id).map_err(|error| error.to_string())
        };
        assert_eq!(remove(fixture::MEMBER, "blob"), Ok(1));
        assert_eq!(remove(fixture::OWNER, "blob"), Ok(1));
        let not_own = Err("Must be an organization administrator or emoji author".to_owned());
        assert_eq!(remove(fixture::OTHER_MEMBER, "blob"), not_own);
        assert_eq!(remove(fixture::OWNER, "x"), Err("Emoji 'x' does not exist".to_owned()));
    }
}
