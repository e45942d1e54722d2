//! `custom_profile_fields`: all custom profile fields of the organization.

use crate::api::wire::profile::{FieldJson, field};
use model::ProfileFields;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct CustomProfileFields<'e> {
    fields: Vec<FieldJson<'e>>,
}

pub(super) fn all(fields: &ProfileFields) -> CustomProfileFields<'_> {
    CustomProfileFields { fields: fields.list.iter().map(field).collect() }
}
