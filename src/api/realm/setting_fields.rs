//! Settings as parameters, with the names and kinds of the tables in `rules::settings`. Only types are checked here,
//! not whether a value is allowed.

use crate::http::{ApiError, Fields};
use model::SettingValue;
use rules::RuleError;
use rules::settings::{Setting, SettingKind};
use serde_json::Value;

/// The value of a limit that means no limit.
const UNLIMITED: &str = "unlimited";

/// Reads the given settings of a table, in its order.
///
/// Errors: mistyped values.
pub fn settings(
    fields: &Fields,
    table: impl IntoIterator<Item = &'static Setting>,
) -> Result<Vec<(&'static Setting, SettingValue)>, ApiError> {
    let mut found = Vec::new();
    for setting in table {
        if let Some(value) = value(fields, setting)? {
            found.push((setting, value));
        }
    }
    Ok(found)
}

fn value(fields: &Fields, setting: &Setting) -> Result<Option<SettingValue>, ApiError> {
    let name = setting.name;
    Ok(match setting.kind {
        SettingKind::Bool => fields.optional_bool(name)?.map(SettingValue::Bool),
        SettingKind::Word(_)
        | SettingKind::Text(_)
        | SettingKind::Timezone
        | SettingKind::Language
        | SettingKind::Sound => fields.optional(name).map(SettingValue::Text),
        SettingKind::Url(_) => fields.optional(name).map(|text| match text.as_str() {
            "" | "default" => SettingValue::Null,
            _ => SettingValue::Text(text),
        }),
        SettingKind::TimeLimit => limit(fields, name, SettingValue::Null)?,
        SettingKind::Retention => limit(fields, name, SettingValue::Int(-1))?,
        SettingKind::Int(..)
        | SettingKind::Choice(_)
        | SettingKind::BatchingPeriod
        | SettingKind::Channel
        | SettingKind::PrivateChannel => fields.optional_int(name)?.map(SettingValue::Int),
    })
}

/// A number above zero, or `unlimited` with or without quotes, or null for the same.
fn limit(
    fields: &Fields,
    name: &'static str,
    unlimited: SettingValue,
) -> Result<Option<SettingValue>, ApiError> {
    let Some(raw) = fields.optional_str(name) else { return Ok(None) };
    let value = serde_json::from_str(raw).unwrap_or_else(|_| Value::from(raw));
    let number = value.as_i64().filter(|number| *number > 0);
    match (number, &value) {
        (Some(number), _) => Ok(Some(SettingValue::Int(number))),
        (None, Value::Null) => Ok(Some(unlimited)),
        (None, Value::String(word)) if word == UNLIMITED => Ok(Some(unlimited)),
        (None, _) => Err(RuleError::SettingBadValue { name, value }.into()),
    }
}
