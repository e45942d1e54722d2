//! Names of channels and users (docs/api/conventions.md#channel-names, docs/api/conventions.md#names-of-people).

use crate::error::RuleError;
use crate::settings;
use crate::text;
use model::{Directory, UserId};

/// Longest channel name, in code points.
pub const CHANNEL_NAME_LENGTH_MAX: usize = 60;
/// Longest channel description, in code points.
pub const DESCRIPTION_LENGTH_MAX: usize = 1024;
/// Longest full name, in code points.
pub const FULL_NAME_LENGTH_MAX: usize = 100;
/// Shortest full name, in code points.
pub const FULL_NAME_LENGTH_MIN: usize = 2;

/// Characters that would make mentions of a user ambiguous.
pub const NAME_CHARACTERS_REFUSED: [char; 6] = ['*', '`', '\\', '>', '"', '@'];

/// Refuses a text that has more than `limit` code points: `TooLong`.
pub(crate) fn check_length<'t>(
    field: &'static str,
    text: &'t str,
    limit: usize,
) -> Result<&'t str, RuleError> {
    if text.chars().count() > limit { Err(RuleError::TooLong { field, limit }) } else { Ok(text) }
}

/// A channel name as sent → the name to store or look up.
pub fn parse_channel_name(raw: &str) -> Result<&str, RuleError> {
    let name = text::strip(raw);
    if name.is_empty() {
        return Err(RuleError::ChannelNameEmpty);
    }
    if name.chars().count() > CHANNEL_NAME_LENGTH_MAX {
        return Err(RuleError::ChannelNameTooLong);
    }
    match text::forbidden_character(name) {
        Some(position) => Err(RuleError::ChannelNameCharacter { position }),
        None => Ok(name),
    }
}

/// The name of a channel to create: valid, and not the name of another channel, archived ones included.
pub fn check_new_channel_name<'n>(dir: &Directory, raw: &'n str) -> Result<&'n str, RuleError> {
    let name = parse_channel_name(raw)?;
    match dir.channel_by_name(name) {
        Some(_) => Err(RuleError::ChannelAlreadyExists { name: name.to_owned() }),
        None => Ok(name),
    }
}

/// A channel description as sent → the description to store, on one line.
pub fn parse_description(raw: &str) -> Result<String, RuleError> {
    let description = check_length("description", text::strip(raw), DESCRIPTION_LENGTH_MAX)?;
    Ok(description.replace('\n', " "))
}

/// A full name as sent → the name to store, stripped.
pub fn parse_full_name(raw: &str) -> Result<&str, RuleError> {
    let name = text::strip(raw);
    let length = name.chars().count();
    if length > FULL_NAME_LENGTH_MAX {
        return Err(RuleError::NameTooLong);
    }
    if length < FULL_NAME_LENGTH_MIN {
        return Err(RuleError::NameTooShort);
    }
    if name.chars().any(|c| NAME_CHARACTERS_REFUSED.contains(&c) || text::is_unprintable(c)) {
        return Err(RuleError::NameCharacters);
    }
    // `@**name|12**` mentions the user with id 12.
    let before_digits = name.trim_end_matches(char::is_numeric);
    if before_digits.len() < name.len() && before_digits.ends_with('|') {
        return Err(RuleError::NameFormat);
    }
    Ok(name)
}

/// Whether a user (none: a new one) may have this parsed name in an organization with unique names.
pub fn check_full_name_free(dir: &Directory, name: &str, user: Option<UserId>) -> Result<(), RuleError> {
    if !settings::realm_bool(dir.realm(), "require_unique_names") {
        return Ok(());
    }
    let is_taken = dir.users_by_name(name).any(|other| other.is_active && Some(other.id) != user);
    if is_taken { Err(RuleError::NameTaken) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn channel_names() {
        let long = "c".repeat(61);
        for (raw, expected) in [
            (" Verona ", Ok("Verona")),
            ("", Err(RuleError::ChannelNameEmpty)),
            (" \t", Err(RuleError::ChannelNameEmpty)),
            (&long, Err(RuleError::ChannelNameTooLong)),
            (&long[..60], Ok(&long[..60])),
            ("a\u{7}", Err(RuleError::ChannelNameCharacter { position: 2 })),
        ] {
            assert_eq!(parse_channel_name(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn full_names() {
        let long = "n".repeat(101);
        for (raw, expected) in [
            ("  King Hamlet ", Ok("King Hamlet")),
            ("aaron, héros", Ok("aaron, héros")),
            ("x", Err(RuleError::NameTooShort)),
            (" ", Err(RuleError::NameTooShort)),
            (&long, Err(RuleError::NameTooLong)),
            ("a*b", Err(RuleError::NameCharacters)),
            ("a@b", Err(RuleError::NameCharacters)),
            ("a\u{200b}b", Err(RuleError::NameCharacters)),
            ("Ada|12", Err(RuleError::NameFormat)),
            ("Ada|x12", Ok("Ada|x12")),
            ("Ada 12", Ok("Ada 12")),
        ] {
            assert_eq!(parse_full_name(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn names_are_unique_only_by_setting() {
        let mut dir = fixture::directory();
        let taken = dir.user(fixture::MEMBER).unwrap().full_name.to_uppercase();
        assert_eq!(check_full_name_free(&dir, &taken, None), Ok(()));
        fixture::set_realm(&mut dir, "require_unique_names", model::SettingValue::Bool(true));
        assert_eq!(check_full_name_free(&dir, &taken, None), Err(RuleError::NameTaken));
        assert_eq!(check_full_name_free(&dir, &taken, Some(fixture::MEMBER)), Ok(()));
    }
}
