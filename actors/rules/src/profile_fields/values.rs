//! Values of profile fields: one check for each kind.

use super::{find_field, parse_data};
use crate::error::{PersonalError, RuleError};
use crate::permissions::users::sees_user;
use model::{Directory, FieldKind, ProfileField, ProfileFieldId, ProfileValue, User, UserId};
use serde_json::Value;
use std::collections::BTreeSet;

/// Longest value of a short text, in code points.
const SHORT_TEXT_LENGTH_MAX: usize = 50;
/// Longest value of a long text, in code points.
const LONG_TEXT_LENGTH_MAX: usize = 500;
/// Maximum number of people in one value.
const PEOPLE_MAX: usize = 100;

/// A new value of a field.
#[derive(Clone, Debug)]
pub struct ProfileEntry {
    /// The field's id, as sent.
    pub field: i64,
    /// As sent; null removes the value.
    pub value: Value,
    /// Its HTML; used only for fields with Markdown values.
    pub html: Option<String>,
}

impl ProfileEntry {
    /// Removes the value of a field.
    pub fn removal(field: i64) -> Self {
        Self { field, value: Value::Null, html: None }
    }
}

/// The values in a user's profile that change when `by` sets these. `FieldMissing`, `FieldNotEditable`, and the errors of
/// `check_value`.
pub fn check_entries(
    dir: &Directory,
    by: &User,
    user: &User,
    entries: Vec<ProfileEntry>,
) -> Result<Vec<(ProfileFieldId, Option<ProfileValue>)>, RuleError> {
    let fields = dir.profile_fields();
    let mut changes: Vec<(ProfileFieldId, Option<ProfileValue>)> = Vec::new();
    for ProfileEntry { field, value, html } in entries {
        let field = find_field(&fields.list, field)?;
        check_may_fill_in(by, field)?;
        let text = if value.is_null() { String::new() } else { check_value(dir, by, field, &value)? };
        let html = html.filter(|_| field.kind.is_markdown());
        let value = (!text.is_empty()).then_some(ProfileValue { text, html });
        // The last entry of a field counts.
        changes.retain(|(known, _)| *known != field.id);
        changes.push((field.id, value));
    }
    changes.retain(|(field, value)| user.profile_data.get(field) != value.as_ref());
    Ok(changes)
}

/// Whether users may set a field of their own profile: `FieldNotEditable`.
pub fn check_may_fill_in(user: &User, field: &ProfileField) -> Result<(), PersonalError> {
    match field.is_editable_by_user || user.is_administrator() {
        true => Ok(()),
        false => Err(PersonalError::FieldNotEditable),
    }
}

/// A value as sent by a user → the text to store; empty removes the value. Errors name the field.
pub fn check_value(
    dir: &Directory,
    by: &User,
    field: &ProfileField,
    value: &Value,
) -> Result<String, RuleError> {
    if field.kind == FieldKind::Person {
        return check_people(dir, by, value);
    }
    let text = value.as_str().ok_or_else(|| invalid(field, "is not a string"))?;
    if !text.is_empty() {
        check_text(field, text)?;
    }
    Ok(text.to_owned())
}

/// Whether a text is a value of a field; fields for people have other values, of which all pass. Errors name the field.
pub fn check_text(field: &ProfileField, text: &str) -> Result<(), RuleError> {
    match field.kind {
        FieldKind::ShortText | FieldKind::Pronouns | FieldKind::ExternalAccount => {
            check_length(field, text, SHORT_TEXT_LENGTH_MAX)
        }
        FieldKind::LongText => check_length(field, text, LONG_TEXT_LENGTH_MAX),
        FieldKind::Date => check_date(field, text),
        FieldKind::Link => check_link(field, text),
        FieldKind::Choice => check_choice(field, text),
        FieldKind::Person => Ok(()),
    }
}

fn invalid(field: &ProfileField, detail: impl Into<String>) -> RuleError {
    PersonalError::ValueInvalid { field: field.name.clone(), detail: detail.into() }.into()
}

fn check_length(field: &ProfileField, text: &str, limit: usize) -> Result<(), RuleError> {
    match text.chars().count() > limit {
        true => Err(invalid(field, format!("is too long (limit: {limit} characters)"))),
        false => Ok(()),
    }
}

fn check_date(field: &ProfileField, text: &str) -> Result<(), RuleError> {
    match text.parse::<jiff::civil::Date>() {
        Ok(_) if text.len() == "YYYY-MM-DD".len() => Ok(()),
        _ => Err(invalid(field, "is not a date")),
    }
}

fn check_link(field: &ProfileField, text: &str) -> Result<(), RuleError> {
    let parsed = url::Url::parse(text).ok();
    match parsed.filter(|url| matches!(url.scheme(), "http" | "https" | "ftp" | "ftps")) {
        Some(url) if url.has_host() => Ok(()),
        _ => Err(invalid(field, "is not a URL")),
    }
}

fn check_choice(field: &ProfileField, text: &str) -> Result<(), RuleError> {
    match parse_data(&field.data).contains_key(text) {
        true => Ok(()),
        false => {
            Err(PersonalError::ChoiceInvalid { value: text.to_owned(), field: field.name.clone() }.into())
        }
    }
}

/// The ids as JSON text, each once, in the order as sent. Errors name a list of users by `User IDs`, not by the field. Hidden
/// users are like missing ones.
fn check_people(dir: &Directory, by: &User, value: &Value) -> Result<String, RuleError> {
    let invalid =
        |place: String, detail: &str| PersonalError::ValueInvalid { field: place, detail: detail.to_owned() };
    let place = "User IDs";
    let people = value.as_array().ok_or_else(|| invalid(place.to_owned(), "is not a list"))?;
    let (mut ids, mut known) = (Vec::new(), BTreeSet::new());
    for (index, person) in people.iter().enumerate() {
        let not_integer = || invalid(format!("{place}[{index}]"), "is not an integer");
        let id = person.as_i64().ok_or_else(not_integer)?;
        let user = u32::try_from(id).ok().and_then(|id| dir.user(UserId(id)));
        match user.filter(|user| sees_user(dir, by, user)) {
            None => return Err(RuleError::InvalidMember { id }),
            Some(user) if !user.is_active => return Err(PersonalError::PersonDeactivated { id }.into()),
            Some(user) if user.is_bot() => return Err(PersonalError::PersonIsBot { id }.into()),
            Some(user) if !known.insert(user.id) => {}
            Some(_) if known.len() > PEOPLE_MAX => {
                let detail = format!("is too long (limit: {PEOPLE_MAX} users)");
                return Err(invalid(place.to_owned(), &detail).into());
            }
            Some(user) => ids.push(user.id.0),
        }
    }
    if ids.is_empty() { Ok(String::new()) } else { Ok(Value::from(ids).to_string()) }
}
