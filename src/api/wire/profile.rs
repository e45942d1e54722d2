//! Custom profile fields and their values as clients read them (docs/api/profile-fields.md#field-object).

use model::{ProfileField, ProfileFieldId, ProfileValue};
use serde::{Serialize, Serializer};

/// The custom profile field object of the API.
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

/// The JSON of a custom profile field.
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

/// An entry of a user's `profile_data`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ValueJson<'a> {
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_value: Option<&'a str>,
}

/// The JSON of a value.
pub fn value(value: &ProfileValue) -> ValueJson<'_> {
    ValueJson { value: &value.text, rendered_value: value.html.as_deref() }
}

/// A user's `profile_data`: an object with a member for each field, in the order of the list.
#[derive(Clone, Debug, Default)]
pub struct ProfileData<'a>(pub Vec<(ProfileFieldId, ValueJson<'a>)>);

impl Serialize for ProfileData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(field, value)| (field, value)))
    }
}

/// A value that was changed or removed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ChangedValueJson<'a> {
    id: ProfileFieldId,
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_value: Option<&'a str>,
}

/// The JSON of a changed value; none if it was removed.
pub fn changed_value(id: ProfileFieldId, value: Option<&ProfileValue>) -> ChangedValueJson<'_> {
    ChangedValueJson {
        id,
        value: value.map(|value| value.text.as_str()),
        rendered_value: value.and_then(|value| value.html.as_deref()),
    }
}
