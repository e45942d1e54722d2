//! Navigation views of the left sidebar (docs/api/users.md#navigation-views).

use crate::error::{PersonalError, RuleError};
use crate::names::check_length;
use crate::text::strip;

/// Views that every client has; they have no custom name.
const BUILT_IN: [&str; 7] = [
    "inbox",
    "recent",
    "feed",
    "drafts",
    "narrow/has/reaction/sender/me",
    "narrow/is/mentioned",
    "narrow/is/starred",
];

/// Maximum number of views of one user.
pub const VIEWS_MAX: usize = 1000;
/// Longest fragment and name, in code points; clients need less for the longest narrow.
const VIEW_LENGTH_MAX: usize = 4096;

/// A fragment as sent → the fragment to store. `Blank`, `TooLong`.
pub fn parse_fragment(raw: &str) -> Result<&str, RuleError> {
    match strip(raw) {
        "" => Err(RuleError::Blank { field: "fragment" }),
        fragment => check_length("fragment", fragment, VIEW_LENGTH_MAX),
    }
}

/// The name of a new view: built-in views have none, others need one. `Blank`, `TooLong`, `BuiltInName`,
/// `CustomNameMissing`.
pub fn check_new_name<'n>(fragment: &str, name: Option<&'n str>) -> Result<Option<&'n str>, RuleError> {
    let name = parse_name(name)?;
    match (BUILT_IN.contains(&fragment), name) {
        (true, Some(_)) => Err(PersonalError::BuiltInName.into()),
        (false, None) => Err(PersonalError::CustomNameMissing.into()),
        (_, name) => Ok(name),
    }
}

/// The new name of an existing view, if any. `Blank`, `TooLong`, `BuiltInName`.
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
        Some(name) => check_length("name", name, VIEW_LENGTH_MAX).map(Some),
        None => Ok(None),
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
