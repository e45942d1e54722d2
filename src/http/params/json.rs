//! Access to the inside of a JSON parameter, with the place of an error as clients know it.
//!
//! `messages[2] is not an integer`, `subscription_data[0]["stream_id"] is not an integer`.

use crate::http::error::ApiError;
use serde_json::Value;

/// A parameter parsed as JSON, and its name for error texts.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonField {
    name: String,
    value: Value,
}

impl JsonField {
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, ApiError> {
        match serde_json::from_str(text) {
            Ok(value) => Ok(Self { name: name.to_owned(), value }),
            Err(_) => Err(not_json(name)),
        }
    }

    /// The cursor at the outermost value.
    pub fn root(&self) -> Json<'_> {
        Json { place: self.name.clone(), value: &self.value }
    }

    /// The value itself, for custom parsing.
    pub fn into_value(self) -> Value {
        self.value
    }
}

/// One value inside a parameter.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    place: String,
    value: &'a Value,
}

impl<'a> Json<'a> {
    /// The place of this value, as in error texts.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The raw value.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// An integer that fits `T`; else `… is not an integer`, `… is too small` or `… is too large`.
    pub fn int<T: TryFrom<i128>>(&self) -> Result<T, ApiError> {
        let number = match self.value {
            Value::Number(number) => number.as_i128().or_else(|| number.as_u64().map(i128::from)),
            _ => None,
        };
        let number = number.ok_or_else(|| self.fault("is not an integer"))?;
        T::try_from(number).map_err(|_| out_of_range(&self.place, number < 0))
    }

    /// A string; else `… is not a string`.
    pub fn string(&self) -> Result<&'a str, ApiError> {
        self.value.as_str().ok_or_else(|| self.fault("is not a string"))
    }

    /// A boolean; else `… is not a boolean`.
    pub fn boolean(&self) -> Result<bool, ApiError> {
        self.value.as_bool().ok_or_else(|| self.fault("is not a boolean"))
    }

    /// The elements of a list, one at a time, so that a long list takes no memory for their places; else
    /// `… is not a list`.
    pub fn list(&self) -> Result<impl ExactSizeIterator<Item = Json<'a>> + use<'a>, ApiError> {
        let Value::Array(items) = self.value else { return Err(self.fault("is not a list")) };
        let list = self.place.clone();
        let item = move |(index, value)| Json { place: format!("{list}[{index}]"), value };
        Ok(items.iter().enumerate().map(item))
    }

    /// The members of an object; else `… is not a dict`.
    pub fn object(&self) -> Result<JsonObject<'a>, ApiError> {
        let Value::Object(members) = self.value else { return Err(self.fault("is not a dict")) };
        Ok(JsonObject { place: self.place.clone(), members })
    }

    /// An error at this place: `{place} {what}`.
    pub fn fault(&self, what: &str) -> ApiError {
        ApiError::bad_request(format!("{} {what}", self.place))
    }
}

/// An object inside a parameter.
#[derive(Clone, Debug)]
pub struct JsonObject<'a> {
    place: String,
    members: &'a serde_json::Map<String, Value>,
}

impl<'a> JsonObject<'a> {
    /// A required member; else `{place}["{key}"] field is missing`.
    pub fn required(&self, key: &str) -> Result<Json<'a>, ApiError> {
        let missing = || ApiError::bad_request(format!("{} field is missing", self.place_of(key)));
        self.optional(key).ok_or_else(missing)
    }

    /// The members of an object, in the order of the text.
    pub fn members(&self) -> impl Iterator<Item = (&'a str, Json<'a>)> {
        let members = self.members.iter();
        members.map(|(key, value)| (key.as_str(), Json { place: self.place_of(key), value }))
    }

    /// An optional member. An explicit null is a value.
    pub fn optional(&self, key: &str) -> Option<Json<'a>> {
        self.members.get(key).map(|value| Json { place: self.place_of(key), value })
    }

    /// Refuses any other member: `Argument "{key}" at {place} is unexpected`.
    pub fn check_only(&self, keys: &[&str]) -> Result<(), ApiError> {
        match self.members.keys().find(|key| !keys.contains(&key.as_str())) {
            Some(key) => {
                Err(ApiError::bad_request(format!("Argument \"{key}\" at {} is unexpected", self.place)))
            }
            None => Ok(()),
        }
    }

    fn place_of(&self, key: &str) -> String {
        format!("{}[{}]", self.place, Value::from(key))
    }
}

pub(super) fn not_json(name: &str) -> ApiError {
    ApiError::bad_request(format!("{name} is not valid JSON"))
}

pub(super) fn out_of_range(place: &str, negative: bool) -> ApiError {
    let what = if negative { "is too small" } else { "is too large" };
    ApiError::bad_request(format!("{place} {what}"))
}
