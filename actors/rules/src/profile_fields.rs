//! Custom profile fields: validation of fields and of their values (docs/api/profile-fields.md).
//!
//! Changing fields is for administrators (`permissions::roles::check_administrator`).

mod values;

pub use values::{ProfileEntry, check_entries, check_may_fill_in, check_text, check_value};

use crate::error::{PersonalError, RuleError};
use crate::names::check_length;
use crate::text::strip;
use model::{FieldKind, ProfileField, ProfileFieldId};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};

/// Longest name of a field, in code points.
const FIELD_NAME_LENGTH_MAX: usize = 40;
/// Longest hint, in code points.
const FIELD_HINT_LENGTH_MAX: usize = 80;
/// Maximum number of fields in the summary of profiles.
const SUMMARY_FIELDS_MAX: usize = 2;
/// Maximum number of fields in an organization.
pub const FIELDS_MAX: usize = 100;
/// Known external accounts: subtype, name, hint.
const DEFAULT_ACCOUNTS: [(&str, &str, &str); 2] =
    [("twitter", "Twitter username", ""), ("github", "GitHub username", "")];

/// The parameters of a new field, or the changed ones of an existing field.
#[derive(Clone, Debug, Default)]
pub struct FieldRequest {
    pub name: Option<String>,
    pub hint: Option<String>,
    /// The parsed `field_data`.
    pub data: Option<Map<String, Value>>,
    pub is_in_summary: Option<bool>,
    pub is_required: Option<bool>,
    pub is_editable_by_user: Option<bool>,
}

/// Decides a new field, checking in the order of docs/api/profile-fields.md#manage-fields; the caller fills in id and
/// order.
pub fn check_new_field(
    fields: &[ProfileField],
    kind: i64,
    request: &FieldRequest,
) -> Result<ProfileField, RuleError> {
    let wants_summary = request.is_in_summary.unwrap_or_default();
    check_summary_room(fields, None, wants_summary)?;
    let known_kind = FieldKind::from_code(kind);
    let data = request.data.clone().unwrap_or_default();
    if let Some(kind) = known_kind {
        check_data(kind, &data)?;
    }
    let default = known_kind.and_then(|kind| default_account(kind, &data));
    let (name, hint) = match default {
        Some((name, hint)) => (name.to_owned(), hint.to_owned()),
        None => {
            let name = parse_name(request.name.as_deref().unwrap_or_default())?;
            (name, parse_hint(request.hint.as_deref().unwrap_or_default())?)
        }
    };
    let kind = known_kind.ok_or(PersonalError::KindInvalid)?;
    check_kind_in_summary(kind, wants_summary)?;
    check_name_free(fields, None, &name)?;
    if fields.len() >= FIELDS_MAX {
        return Err(PersonalError::TooManyFields { limit: FIELDS_MAX }.into());
    }
    Ok(ProfileField {
        id: ProfileFieldId::default(),
        name,
        hint,
        kind,
        data: data_text(&data),
        order: 0,
        is_in_summary: wants_summary,
        is_required: request.is_required.unwrap_or_default(),
        is_editable_by_user: request.is_editable_by_user.unwrap_or(true),
    })
}

/// Decides a change of a field and returns the new record. `FieldMissing`, the errors of a new field, `DefaultField` for
/// changes of a known external account.
pub fn check_field_update(
    fields: &[ProfileField],
    id: i64,
    request: &FieldRequest,
) -> Result<ProfileField, RuleError> {
    let before = find_field(fields, id)?;
    let mut field = before.clone();
    let wants_summary = request.is_in_summary.unwrap_or(before.is_in_summary);
    check_summary_room(fields, Some(before.id), wants_summary)?;
    if let Some(data) = &request.data {
        check_data(field.kind, data)?;
        field.data = data_text(data);
    }
    let is_default = default_account(before.kind, &parse_data(&before.data)).is_some();
    let renames = request.name.as_ref().is_some_and(|name| strip(name) != before.name)
        || request.hint.as_ref().is_some_and(|hint| strip(hint) != before.hint);
    if is_default && (renames || field.data != before.data) {
        return Err(PersonalError::DefaultField.into());
    }
    if let Some(name) = &request.name {
        field.name = parse_name(name)?;
    }
    if let Some(hint) = &request.hint {
        field.hint = parse_hint(hint)?;
    }
    check_kind_in_summary(field.kind, wants_summary)?;
    check_name_free(fields, Some(field.id), &field.name)?;
    field.is_in_summary = wants_summary;
    field.is_required = request.is_required.unwrap_or(field.is_required);
    field.is_editable_by_user = request.is_editable_by_user.unwrap_or(field.is_editable_by_user);
    Ok(field)
}

/// Whether a stored value is one of the field's choices; true for other kinds of fields.
pub fn offers(field: &ProfileField, text: &str) -> bool {
    field.kind != FieldKind::Choice || parse_data(&field.data).contains_key(text)
}

/// The field with an id: `FieldMissing`.
pub fn find_field(fields: &[ProfileField], id: i64) -> Result<&ProfileField, PersonalError> {
    fields.iter().find(|field| i64::from(field.id.0) == id).ok_or(PersonalError::FieldMissing { id })
}

/// A new order, which must have every field exactly once: `FieldOrderInvalid`.
pub fn check_field_order(
    fields: &[ProfileField],
    order: &[i64],
) -> Result<Vec<ProfileFieldId>, PersonalError> {
    let known: BTreeSet<i64> = fields.iter().map(|field| field.id.0.into()).collect();
    let named: BTreeSet<i64> = order.iter().copied().collect();
    if known != named || order.len() != named.len() {
        return Err(PersonalError::FieldOrderInvalid);
    }
    Ok(order.iter().filter_map(|id| u32::try_from(*id).ok().map(ProfileFieldId)).collect())
}

fn check_summary_room(
    fields: &[ProfileField],
    except: Option<ProfileFieldId>,
    wants: bool,
) -> Result<(), PersonalError> {
    let shown = fields.iter().filter(|field| field.is_in_summary && Some(field.id) != except).count();
    if wants && shown >= SUMMARY_FIELDS_MAX { Err(PersonalError::SummaryFull) } else { Ok(()) }
}

fn check_kind_in_summary(kind: FieldKind, wants: bool) -> Result<(), PersonalError> {
    if wants && matches!(kind, FieldKind::LongText | FieldKind::Person) {
        return Err(PersonalError::KindNotInSummary);
    }
    Ok(())
}

fn parse_name(raw: &str) -> Result<String, RuleError> {
    let name = strip(raw);
    if name.is_empty() {
        return Err(PersonalError::LabelBlank.into());
    }
    check_length("name", name, FIELD_NAME_LENGTH_MAX).map(str::to_owned)
}

fn parse_hint(raw: &str) -> Result<String, RuleError> {
    check_length("hint", strip(raw), FIELD_HINT_LENGTH_MAX).map(str::to_owned)
}

fn check_name_free(
    fields: &[ProfileField],
    except: Option<ProfileFieldId>,
    name: &str,
) -> Result<(), PersonalError> {
    match fields.iter().any(|field| field.name == name && Some(field.id) != except) {
        true => Err(PersonalError::LabelExists),
        false => Ok(()),
    }
}

fn check_data(kind: FieldKind, data: &Map<String, Value>) -> Result<(), PersonalError> {
    match kind {
        FieldKind::Choice => check_choices(data),
        FieldKind::ExternalAccount => check_account(data),
        _ => Ok(()),
    }
}

fn check_choices(data: &Map<String, Value>) -> Result<(), PersonalError> {
    if data.is_empty() {
        return Err(PersonalError::ChoicesMissing);
    }
    let mut texts = HashSet::new();
    for (key, choice) in data {
        if strip(key).is_empty() {
            return Err(PersonalError::ChoiceKeyBlank);
        }
        if !choice.is_object() {
            return Err(PersonalError::ChoiceInvalidForm);
        }
        for part in ["text", "order"] {
            if choice.get(part).is_none() {
                return Err(PersonalError::ChoiceKeyMissing { key: part });
            }
        }
        let text = choice.get("text").and_then(Value::as_str).ok_or(PersonalError::ChoiceTextInvalid)?;
        if strip(text).is_empty() {
            return Err(PersonalError::ChoiceTextBlank);
        }
        if !texts.insert(text) {
            return Err(PersonalError::ChoicesDuplicate);
        }
    }
    Ok(())
}

fn check_account(data: &Map<String, Value>) -> Result<(), PersonalError> {
    match data.get("subtype").and_then(Value::as_str) {
        Some("custom") => {
            let pattern = data.get("url_pattern").and_then(Value::as_str);
            let pattern = pattern.ok_or(PersonalError::AccountKindInvalid)?;
            match pattern.matches("%(username)s").count() {
                1 => Ok(()),
                _ => Err(PersonalError::AccountPatternInvalid),
            }
        }
        Some(subtype) if DEFAULT_ACCOUNTS.iter().any(|(known, ..)| *known == subtype) => Ok(()),
        _ => Err(PersonalError::AccountKindInvalid),
    }
}

/// Name and hint of a known external account.
fn default_account(kind: FieldKind, data: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let subtype = data.get("subtype").and_then(Value::as_str)?;
    let found = DEFAULT_ACCOUNTS.iter().find(|(known, ..)| *known == subtype);
    found.filter(|_| kind == FieldKind::ExternalAccount).map(|(_, name, hint)| (*name, *hint))
}

fn data_text(data: &Map<String, Value>) -> String {
    if data.is_empty() { String::new() } else { Value::Object(data.clone()).to_string() }
}

/// The parsed data of a stored field; empty for kinds without data.
fn parse_data(data: &str) -> Map<String, Value> {
    serde_json::from_str(data).unwrap_or_default()
}

#[cfg(test)]
mod tests;
