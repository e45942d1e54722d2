//! Navigation views of the left sidebar (docs/api/users.md#navigation-views).

use crate::error::{PersonalError, RuleError};
use crate::text::strip;

/// Views that every client has by itself; they have no name of their own.
const BUILT_IN: [&str; 7] = [
    "inbox",
    "recent",
    "feed",
    "drafts",
    "narrow/has/reaction/sender/me",
    "narrow/is/mentioned",
    "narrow/is/starred",
];

/// So many views somebody may have.
pub const VIEWS_MAX: usize = 1000;
/// Longest fragment and name, in code points: longer ones than clients make of the longest narrow.
pub const VIEW_LENGTH_MAX: usize = 4096;

/// A fragment as sent → the fragment to store.
///
/// # Errors
/// `Blank`, `TooLong`.
pub fn parse_fragment(raw: &str) -> Result<&str, RuleError> {
    match strip(raw) {
        "" => Err(RuleError::Blank { field: "fragment" }),
        fragment => check_length("fragment", fragment),
    }
}

/// The name that a new view has.
///
/// # Errors
/// `Blank`; a built-in view has none, every other one needs one.
pub fn check_new_name<'n>(fragment: &str, name: Option<&'n str>) -> Result<Option<&'n str>, RuleError> {
    let name = parse_name(name)?;
    match (BUILT_IN.contains(&fragment), name) {
        (true, Some(_)) => Err(PersonalError::BuiltInName.into()),
        (false, None) => Err(PersonalError::CustomNameMissing.into()),
        (_, name) => Ok(name),
    }
}

/// A name that a view is given later, if it is given one.
///
/// # Errors
/// `Blank`; a built-in view has none.
pub fn check_later_name<'n>(fragment: &str, name: Option<&'n str>) -> Result<Option<&'n str>, RuleError> {
    let name = parse_name(name)?;
    match name {
        Some(_) if BUILT_IN.contains(&fragment) => Err(PersonalError::BuiltInName.into()),
        name => Ok(name),
    }
}

fn parse_name(raw: Option<&str>) -> Result<Option<&str>, RuleError> {
    match raw.map(strip) {
        Some("") => Err(RuleError::Blank { field: "name" }),
        Some(name) => check_length("name", name).map(Some),
        None => Ok(None),
    }
}

fn check_length<'t>(field: &'static str, text: &'t str) -> Result<&'t str, RuleError> {
    match text.chars().count() > VIEW_LENGTH_MAX {
        true => Err(RuleError::TooLong { field, limit: VIEW_LENGTH_MAX }),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_to_custom_views() {
        let blank = Err(RuleError::Blank { field: "name" });
        for (fragment, name, new, later) in [
            ("inbox", None, Ok(None), Ok(None)),
            (
                "inbox",
                Some("Mine"),
                Err(PersonalError::BuiltInName.into()),
                Err(PersonalError::BuiltInName.into()),
            ),
            ("narrow/is/unread", Some(" Unread "), Ok(Some("Unread")), Ok(Some("Unread"))),
            ("narrow/is/unread", None, Err(PersonalError::CustomNameMissing.into()), Ok(None)),
            ("narrow/is/unread", Some(" "), blank.clone(), blank.clone()),
            ("inbox", Some(""), blank.clone(), blank.clone()),
        ] {
            assert_eq!(check_new_name(fragment, name), new, "{fragment} {name:?}");
            assert_eq!(check_later_name(fragment, name), later, "{fragment} {name:?}");
        }
    }

    #[test]
    fn fragments_are_not_blank() {
        assert_eq!(parse_fragment(" narrow/is/dm "), Ok("narrow/is/dm"));
        assert_eq!(parse_fragment(" \n"), Err(RuleError::Blank { field: "fragment" }));
    }
}
