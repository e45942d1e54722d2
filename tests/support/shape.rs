//! The keys of JSON responses.

use serde_json::Value;

/// The keys of an object, sorted.
#[track_caller]
pub fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The keys of a response other than `result` and `msg`, sorted.
#[track_caller]
pub fn fields(answer: &Value) -> Vec<&str> {
    keys(answer).into_iter().filter(|key| !["result", "msg"].contains(key)).collect()
}

/// The words of a text, sorted: a short way to write a list of keys.
pub fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}
