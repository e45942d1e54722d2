//! Typed access to the parameters of a request: one method for each kind of value.
//!
//! Strings are taken raw; everything else is JSON. The error texts and codes are those of the API.

use super::json::{JsonField, not_json, out_of_range};
use super::parse::Fields;
use crate::http::error::{ApiError, Code};
use serde::de::{DeserializeOwned, IgnoredAny};

const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

impl Fields {
    /// A required string; may be empty. Error: REQUEST_VARIABLE_MISSING.
    pub fn required(&self, name: &str) -> Result<String, ApiError> {
        self.required_str(name).map(str::to_owned)
    }

    /// An optional string.
    pub fn optional(&self, name: &str) -> Option<String> {
        self.optional_str(name).map(str::to_owned)
    }

    /// As [`Fields::required`], borrowed.
    pub fn required_str(&self, name: &str) -> Result<&str, ApiError> {
        self.optional_str(name).ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional string under its name or an older one. Error: REQUEST_CONFUSING_VAR if both are given.
    pub fn alias(&self, name: &str, old_name: &str) -> Result<Option<String>, ApiError> {
        match (self.optional_str(name), self.optional_str(old_name)) {
            (Some(_), Some(_)) => Err(confusing(name, old_name)),
            (found, None) | (None, found) => Ok(found.map(str::to_owned)),
        }
    }

    /// As [`Fields::alias`], but required; the newer name is the one reported missing.
    pub fn required_alias(&self, name: &str, old_name: &str) -> Result<String, ApiError> {
        self.alias(name, old_name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// A required string of a fixed set. Error: `Invalid {name}`.
    pub fn one_of(&self, name: &str, choices: &[&'static str]) -> Result<&'static str, ApiError> {
        self.optional_one_of(name, choices)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional string of a fixed set. Error: `Invalid {name}`.
    pub fn optional_one_of(
        &self,
        name: &str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, ApiError> {
        let Some(given) = self.optional_str(name) else { return Ok(None) };
        let choice = choices.iter().find(|choice| **choice == given);
        choice.map(|choice| Some(*choice)).ok_or_else(|| ApiError::invalid_parameter(name))
    }

    /// A required integer that fits `T`. Errors: not valid JSON, not an integer, too small, too large.
    pub fn required_int<T: TryFrom<i128>>(&self, name: &str) -> Result<T, ApiError> {
        self.optional_int(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional integer. Errors as [`Fields::required_int`].
    pub fn optional_int<T: TryFrom<i128>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        self.optional_str(name).map(|text| parse_int(name, text)).transpose()
    }

    /// An integer with a default. Errors as [`Fields::required_int`].
    pub fn int_or<T: TryFrom<i128>>(&self, name: &str, default: T) -> Result<T, ApiError> {
        Ok(self.optional_int(name)?.unwrap_or(default))
    }

    /// A required id. Integers outside the range of ids become one that does not exist (0 or the largest), so that
    /// the endpoint responds as for any unknown id.
    pub fn required_id(&self, name: &str) -> Result<u32, ApiError> {
        self.optional_id(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional id; otherwise as [`Fields::required_id`].
    pub fn optional_id(&self, name: &str) -> Result<Option<u32>, ApiError> {
        Ok(self.optional_str(name).map(|text| parse_big_int(name, text)).transpose()?.map(saturate_id))
    }

    /// A required boolean: `true` or `false`. Errors: not valid JSON, not a boolean.
    pub fn required_bool(&self, name: &str) -> Result<bool, ApiError> {
        self.optional_bool(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional boolean. Errors as [`Fields::required_bool`].
    pub fn optional_bool(&self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.optional_str(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(text) => parse_typed(name, text, "is not a boolean").map(Some),
        }
    }

    /// A boolean with a default. Errors as [`Fields::required_bool`].
    pub fn bool_or(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        Ok(self.optional_bool(name)?.unwrap_or(default))
    }

    /// A string with or without the quotes of JSON, for parameters whose form changed over time.
    pub fn optional_loose_string(&self, name: &str) -> Option<String> {
        let text = self.optional_str(name)?;
        Some(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()))
    }

    /// A required list of integers. Errors: not valid JSON, not a list, and those of its elements.
    pub fn required_ints<T: TryFrom<i128> + DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, ApiError> {
        self.optional_ints(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional list of integers. Errors as [`Fields::required_ints`].
    pub fn optional_ints<T: TryFrom<i128> + DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<Vec<T>>, ApiError> {
        let Some(text) = self.optional_str(name) else { return Ok(None) };
        if let Ok(list) = serde_json::from_str(text) {
            return Ok(Some(list));
        }
        // Parsed again as generic JSON, to find the place of the error.
        let field = JsonField::parse(name, text)?;
        field.root().list()?.map(|item| item.int()).collect::<Result<_, _>>().map(Some)
    }

    /// A required list of ids; out-of-range ids as in [`Fields::required_id`].
    pub fn required_ids(&self, name: &str) -> Result<Vec<u32>, ApiError> {
        let list: Vec<i128> = self.required_ints(name)?;
        Ok(list.into_iter().map(saturate_id).collect())
    }

    /// An optional list of ids; otherwise as [`Fields::required_ids`].
    pub fn optional_ids(&self, name: &str) -> Result<Option<Vec<u32>>, ApiError> {
        let list: Option<Vec<i128>> = self.optional_ints(name)?;
        Ok(list.map(|list| list.into_iter().map(saturate_id).collect()))
    }

    /// A required list of strings. Errors: not valid JSON, not a list, an element not a string.
    pub fn required_strings(&self, name: &str) -> Result<Vec<String>, ApiError> {
        self.optional_strings(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional list of strings. Errors as [`Fields::required_strings`].
    pub fn optional_strings(&self, name: &str) -> Result<Option<Vec<String>>, ApiError> {
        let Some(text) = self.optional_str(name) else { return Ok(None) };
        if let Ok(list) = serde_json::from_str(text) {
            return Ok(Some(list));
        }
        // Parsed again as generic JSON, to find the place of the error.
        let field = JsonField::parse(name, text)?;
        let strings = field.root().list()?;
        strings.map(|item| item.string().map(str::to_owned)).collect::<Result<_, _>>().map(Some)
    }

    /// A required JSON value of any type. Error: not valid JSON.
    pub fn required_json(&self, name: &str) -> Result<JsonField, ApiError> {
        self.optional_json(name)?.ok_or_else(|| ApiError::missing_parameter(name))
    }

    /// An optional JSON value of any type. Error: not valid JSON.
    pub fn optional_json(&self, name: &str) -> Result<Option<JsonField>, ApiError> {
        self.optional_str(name).map(|text| JsonField::parse(name, text)).transpose()
    }
}

/// Refuses more than `chars_max` characters: `{name} is too long (limit: {n} characters)`.
pub fn check_length_max(name: &str, text: &str, chars_max: usize) -> Result<(), ApiError> {
    // Bytes are never fewer than characters, so most texts need no counting.
    if text.len() > chars_max && text.chars().count() > chars_max {
        return Err(ApiError::bad_request(format!("{name} is too long (limit: {chars_max} characters)")));
    }
    Ok(())
}

/// Refuses an empty text: `{name} cannot be blank`. Strip first if the endpoint does.
pub fn check_not_blank(name: &str, text: &str) -> Result<(), ApiError> {
    if text.is_empty() {
        return Err(ApiError::bad_request(format!("{name} cannot be blank")));
    }
    Ok(())
}

impl ApiError {
    /// REQUEST_VARIABLE_MISSING for one parameter.
    pub fn missing_parameter(name: &str) -> Self {
        Self::new(Code::REQUEST_VARIABLE_MISSING, format!("Missing '{name}' argument")).with("var_name", name)
    }

    /// `Invalid {name}`: not one of the allowed values.
    pub fn invalid_parameter(name: &str) -> Self {
        Self::bad_request(format!("Invalid {name}"))
    }

    /// REQUEST_VARIABLE_INVALID: a converter of the endpoint's own rejects the value.
    pub fn bad_value(name: &str, bad_value: &str) -> Self {
        Self::new(Code::REQUEST_VARIABLE_INVALID, format!("Bad value for '{name}': {bad_value}"))
            .with("var_name", name)
            .with("bad_value", bad_value)
    }
}

fn confusing(first: &str, second: &str) -> ApiError {
    let msg = format!("Can't decide between '{first}' and '{second}' arguments");
    ApiError::new(Code::REQUEST_CONFUSING_VAR, msg).with("var_name1", first).with("var_name2", second)
}

fn saturate_id(number: i128) -> u32 {
    u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX })
}

fn parse_int<T: TryFrom<i128>>(name: &str, text: &str) -> Result<T, ApiError> {
    let number = parse_big_int(name, text)?;
    T::try_from(number).map_err(|_| out_of_range(name, number < 0))
}

/// A JSON integer, with or without white space around it; numbers beyond 128 bits become the nearest bound.
fn parse_big_int(name: &str, text: &str) -> Result<i128, ApiError> {
    let text = text.trim_matches(JSON_SPACE);
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_integer = match digits {
        [] => false,
        [b'0', _, ..] => false,
        _ => digits.iter().all(u8::is_ascii_digit),
    };
    if is_integer {
        let bound = if text.starts_with('-') { i128::MIN } else { i128::MAX };
        return Ok(text.parse().unwrap_or(bound));
    }
    Err(mistyped(name, text, "is not an integer"))
}

fn parse_typed<T: DeserializeOwned>(name: &str, text: &str, what: &str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|_| mistyped(name, text, what))
}

/// The error for a value that is not JSON, or JSON of another type.
fn mistyped(name: &str, text: &str, what: &str) -> ApiError {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => ApiError::bad_request(format!("{name} {what}")),
        Err(_) => not_json(name),
    }
}
