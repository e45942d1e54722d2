//! Custom profile fields and their values as clients read them (endpoints.md 11, api.md User).

use model::{ProfileField, ProfileFieldId, ProfileValue};
use serde::Serialize;

/// A field.
#[derive(Clone, Debug, Serialize)]
pub struct FieldJson<'a> {
    id: ProfileFieldId,
    name: &'a str,
    #[serde(rename = "type")]
    kind: u8,
    hint: &'a str,
    field_data: &'a str,
    order: u32,
    required: bool,
    editable_by_user: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_in_profile_summary: Option<bool>,
}

/// A field.
pub fn field(field: &ProfileField) -> FieldJson<'_> {
    FieldJson {
        id: field.id,
        name: &field.name,
        kind: field.kind.code(),
        hint: &field.hint,
        field_data: &field.data,
        order: field.order,
        required: field.is_required,
        editable_by_user: field.is_editable_by_user,
        display_in_profile_summary: field.is_in_summary.then_some(true),
    }
}

/// A value among others of its user.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ValueJson<'a> {
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_value: Option<&'a str>,
}

/// A value.
pub fn value(value: &ProfileValue) -> ValueJson<'_> {
    ValueJson { value: &value.text, rendered_value: value.html.as_deref() }
}

/// A value that changed, or was taken away.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ChangedValueJson<'a> {
    id: ProfileFieldId,
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_value: Option<&'a str>,
}

/// A value that changed; none was taken away.
pub fn changed_value(id: ProfileFieldId, value: Option<&ProfileValue>) -> ChangedValueJson<'_> {
    ChangedValueJson {
        id,
        value: value.map(|value| value.text.as_str()),
        rendered_value: value.and_then(|value| value.html.as_deref()),
    }
}
