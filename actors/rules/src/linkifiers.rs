//! The organization's linkifiers: validation and order (docs/api/linkifiers.md#patterns).

use crate::error::{OrganizationError, RuleError};
use crate::markdown::{Linkifier, LinkifierError};
use model::{LinkifierRecord, Listed};
use regex_syntax::ast::ErrorKind;

/// Linkifiers of one organization: each is tried on every message.
const LINKIFIERS_MAX: usize = 200;
/// Longest pattern and longest template, in characters.
const TEXT_CHARS_MAX: usize = 1000;

/// A new linkifier, which applies after all others, without id: `FieldInvalid`, `TooMany`.
pub fn check_new_linkifier(
    all: &Listed<LinkifierRecord>,
    pattern: &str,
    url_template: &str,
) -> Result<LinkifierRecord, RuleError> {
    let record = check_record(all, None, pattern, url_template)?;
    if all.items.len() >= LINKIFIERS_MAX {
        return Err(OrganizationError::TooMany { what: "linkifiers", limit: LINKIFIERS_MAX }.into());
    }
    Ok(record)
}

/// A linkifier with another pattern and template: `LinkifierMissing`, `FieldInvalid`.
pub fn check_linkifier_update(
    all: &Listed<LinkifierRecord>,
    id: i64,
    pattern: &str,
    url_template: &str,
) -> Result<LinkifierRecord, RuleError> {
    let id = find_linkifier(all, id)?.id;
    Ok(check_record(all, Some(id), pattern, url_template)?)
}

/// Finds a linkifier by its id as sent: `LinkifierMissing`.
pub fn find_linkifier(all: &Listed<LinkifierRecord>, id: i64) -> Result<&LinkifierRecord, OrganizationError> {
    let mut items = all.items.iter();
    items.find(|known| i64::from(known.id) == id).ok_or(OrganizationError::LinkifierMissing)
}

/// The linkifiers in a new order, which contains every id once: `LinkifierOrderInvalid`.
pub fn check_linkifier_order(
    all: &Listed<LinkifierRecord>,
    order: &[i64],
) -> Result<Vec<LinkifierRecord>, OrganizationError> {
    let refusal = OrganizationError::LinkifierOrderInvalid;
    let mut ordered = Vec::with_capacity(order.len().min(LINKIFIERS_MAX));
    for id in order {
        let found = find_linkifier(all, *id).map_err(|_| refusal.clone())?;
        if ordered.contains(found) {
            return Err(refusal);
        }
        ordered.push(found.clone());
    }
    if ordered.len() == all.items.len() { Ok(ordered) } else { Err(refusal) }
}

/// The compiled linkifiers of an organization, shared with those that have the same.
pub fn compile_linkifiers(all: &Listed<LinkifierRecord>) -> Vec<Linkifier> {
    // Stored patterns are valid: each was compiled before.
    let shared = |known: &LinkifierRecord| Linkifier::shared(&known.pattern, &known.url_template).ok();
    all.items.iter().filter_map(shared).collect()
}

/// The validated record of the linkifier with an id, or of a new one.
fn check_record(
    all: &Listed<LinkifierRecord>,
    id: Option<u32>,
    pattern: &str,
    url_template: &str,
) -> Result<LinkifierRecord, OrganizationError> {
    check_text("pattern", pattern, TEXT_CHARS_MAX)?;
    check_text("url_template", url_template, TEXT_CHARS_MAX)?;
    check_groups(pattern, url_template)?;
    if all.items.iter().any(|known| Some(known.id) != id && known.pattern == pattern) {
        let why = "Realm filter with this Realm and Pattern already exists.";
        return Err(OrganizationError::field("__all__", why));
    }
    let (pattern, url_template) = (pattern.to_owned(), url_template.to_owned());
    Ok(LinkifierRecord { id: id.unwrap_or_default(), pattern, url_template })
}

/// Refuses what is blank or too long.
pub(crate) fn check_text(field: &'static str, text: &str, chars_max: usize) -> Result<(), OrganizationError> {
    let length = text.chars().count();
    if text.trim().is_empty() {
        Err(OrganizationError::field(field, "This field cannot be blank."))
    } else if length > chars_max {
        let why = format!("Ensure this value has at most {chars_max} characters (it has {length}).");
        Err(OrganizationError::field(field, why))
    } else {
        Ok(())
    }
}

/// The named groups of the pattern must be exactly the variables of the template.
fn check_groups(pattern: &str, url_template: &str) -> Result<(), OrganizationError> {
    let (field, why) = match Linkifier::new(pattern, url_template) {
        Ok(linkifier) => match linkifier.unused_group() {
            None => return Ok(()),
            Some(name) => {
                ("__all__", format!("Group '{name}' in linkifier pattern is not present in URL template."))
            }
        },
        Err(LinkifierError::Pattern(_)) => {
            ("pattern", format!("Bad regular expression: {}", pattern_mistake(pattern)))
        }
        Err(LinkifierError::Template(_)) => ("url_template", "Invalid URL template.".to_owned()),
        Err(LinkifierError::UnknownVariable(name)) => {
            ("__all__", format!("Group '{name}' in URL template is not present in linkifier pattern."))
        }
    };
    Err(OrganizationError::field(field, why))
}

/// The error in a pattern, with the texts of common regular expression libraries where they exist.
fn pattern_mistake(pattern: &str) -> String {
    match regex_syntax::parse(pattern) {
        Ok(_) => "pattern too large - compile failed".into(),
        Err(regex_syntax::Error::Parse(error)) => {
            let (start, end) = (error.span().start.offset, error.span().end.offset);
            let from = pattern.get(start..).unwrap_or_default();
            let here = pattern.get(start..end).unwrap_or_default();
            match error.kind() {
                ErrorKind::GroupUnclosed => format!("missing ): {pattern}"),
                ErrorKind::GroupUnopened => format!("unexpected ): {pattern}"),
                ErrorKind::ClassUnclosed => format!("missing ]: {from}"),
                ErrorKind::RepetitionMissing => {
                    let operator: String = from.chars().take(1).collect();
                    format!("no argument for repetition operator: {operator}")
                }
                ErrorKind::EscapeUnrecognized => format!("invalid escape sequence: {here}"),
                ErrorKind::UnsupportedLookAround => format!("invalid perl operator: {here}"),
                kind => kind.to_string(),
            }
        }
        Err(regex_syntax::Error::Translate(error)) => error.kind().to_string(),
        Err(_) => "syntax error".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: &str = "#(?P<id>[0-9]+)";
    const TEMPLATE: &str = "https://t.example/{id}";

    fn some() -> Listed<LinkifierRecord> {
        let item = |id: u32, pattern: &str| LinkifierRecord {
            id,
            pattern: pattern.to_owned(),
            url_template: TEMPLATE.to_owned(),
        };
        Listed { items: vec![item(1, PATTERN), item(3, "x(?P<id>[0-9]+)")], last_id: 3 }
    }

    #[test]
    fn validation() {
        let check = |pattern: &str, template: &str| {
            check_new_linkifier(&some(), pattern, template).map_err(|error| error.to_string())
        };
        assert!(check("y(?P<id>[0-9]+)(?P<part>[a-z])", "https://t.example/{id}{?part}").is_ok());
        let long = "x".repeat(1001);
        for (pattern, template, why) in [
            ("", TEMPLATE, "This field cannot be blank."),
            ("x(?P<id>.)", " ", "This field cannot be blank."),
            (&long, TEMPLATE, "Ensure this value has at most 1000 characters (it has 1001)."),
            ("(foo", TEMPLATE, "Bad regular expression: missing ): (foo"),
            ("foo)", TEMPLATE, "Bad regular expression: unexpected ): foo)"),
            ("a[b", TEMPLATE, "Bad regular expression: missing ]: [b"),
            ("+a", TEMPLATE, "Bad regular expression: no argument for repetition operator: +"),
            ("(?P<id>a{1000}){1000}", TEMPLATE, "Bad regular expression: pattern too large - compile failed"),
            ("y(?P<id>[0-9]+)", "https://t.example/{id", "Invalid URL template."),
            ("y[0-9]+", TEMPLATE, "Group 'id' in URL template is not present in linkifier pattern."),
            (
                "y(?P<id>[0-9]+)(?P<hash>.)",
                TEMPLATE,
                "Group 'hash' in linkifier pattern is not present in URL template.",
            ),
            (PATTERN, TEMPLATE, "Realm filter with this Realm and Pattern already exists."),
        ] {
            assert_eq!(check(pattern, template), Err(why.to_owned()), "{pattern} {template}");
        }
    }

    #[test]
    fn updates_and_order() {
        let all = some();
        let updated = check_linkifier_update(&all, 3, "y(?P<id>.)", TEMPLATE).unwrap();
        assert_eq!((updated.id, updated.pattern.as_str()), (3, "y(?P<id>.)"));
        assert!(check_linkifier_update(&all, 1, PATTERN, TEMPLATE).is_ok(), "its own pattern is not taken");
        assert!(check_linkifier_update(&all, 3, PATTERN, TEMPLATE).is_err());
        for id in [2, 0, -1, i64::MAX] {
            let refusal = check_linkifier_update(&all, id, PATTERN, TEMPLATE);
            assert_eq!(refusal, Err(OrganizationError::LinkifierMissing.into()), "{id}");
        }
        let ids = |order: &[i64]| {
            check_linkifier_order(&all, order).map(|all| all.iter().map(|known| known.id).collect::<Vec<_>>())
        };
        assert_eq!(ids(&[3, 1]), Ok(vec![3, 1]));
        for order in [&[] as &[i64], &[1], &[1, 1], &[1, 3, 3], &[1, 2], &[1, 3, 4]] {
            assert_eq!(ids(order), Err(OrganizationError::LinkifierOrderInvalid), "{order:?}");
        }
        assert_eq!(compile_linkifiers(&all).len(), 2);
    }
}
