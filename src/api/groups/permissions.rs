//! Parsing of group-setting values and `{new, old}` changes (docs/api/permissions.md#group-setting-values). Ids are
//! resolved when the change is decided.

use crate::http::params::Json;
use crate::http::{ApiError, Fields};
use rules::permissions::group_setting::ProposedGroupSetting;
use rules::permissions::group_setting_change::ProposedChange;

/// A group-setting value that may be absent: an id, or `{direct_members, direct_subgroups}`.
///
/// Errors: not valid JSON, or which part of it is mistyped.
pub fn optional_group_setting(fields: &Fields, name: &str) -> Result<Option<ProposedGroupSetting>, ApiError> {
    fields.optional_json(name)?.map(|field| group_setting(&field.root())).transpose()
}

/// A change that may be absent: `{new, old}` with group-setting values, `old` being optional.
///
/// Errors: not valid JSON, or which part of it is mistyped.
pub fn optional_group_setting_change(
    fields: &Fields,
    name: &str,
) -> Result<Option<ProposedChange>, ApiError> {
    fields.optional_json(name)?.map(|field| group_setting_change(&field.root())).transpose()
}

/// As [`optional_group_setting_change`], but a plain value means `{new}`.
pub fn optional_group_setting_or_change(
    fields: &Fields,
    name: &str,
) -> Result<Option<ProposedChange>, ApiError> {
    let Some(field) = fields.optional_json(name)? else { return Ok(None) };
    let root = field.root();
    let is_change = root.object().is_ok_and(|object| object.optional("new").is_some());
    if is_change {
        return group_setting_change(&root).map(Some);
    }
    Ok(Some(ProposedChange { new: group_setting(&root)?, old: None }))
}

fn group_setting_change(value: &Json<'_>) -> Result<ProposedChange, ApiError> {
    let object = value.object()?;
    let new = group_setting(&object.required("new")?)?;
    let old = object.optional("old").map(|old| group_setting(&old)).transpose()?;
    Ok(ProposedChange { new, old })
}

fn group_setting(value: &Json<'_>) -> Result<ProposedGroupSetting, ApiError> {
    if value.value().is_number() {
        return value.int().map(ProposedGroupSetting::Group);
    }
    let object = value.object()?;
    let ids = |key: &str| object.required(key)?.list()?.map(|id| id.int()).collect::<Result<Vec<i64>, _>>();
    Ok(ProposedGroupSetting::Listed { members: ids("direct_members")?, subgroups: ids("direct_subgroups")? })
}
