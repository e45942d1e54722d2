//! Parsing of `to`: ids, names, e-mail addresses, lists of them, or plain text (docs/api/messages.md#send-a-message).

use crate::http::ApiError;
use serde_json::Value;

/// A channel as given by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelName {
    Id(i64),
    Name(String),
}

/// Users as given by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeopleNames {
    Ids(Vec<i64>),
    Emails(Vec<String>),
}

/// Parses a channel in `to`. Text that is not JSON is a name.
pub fn parse_channel(to: &str) -> Result<ChannelName, ApiError> {
    if !may_be_json(to) {
        return Ok(ChannelName::Name(to.to_owned()));
    }
    let value = match serde_json::from_str(to) {
        Ok(Value::Array(mut list)) => match list.pop() {
            Some(only) if list.is_empty() => only,
            _ => return Err(ApiError::bad_request("Expected exactly one channel")),
        },
        Ok(value) => value,
        Err(_) => return Ok(ChannelName::Name(to.to_owned())),
    };
    match (integer(&value), value) {
        (Some(id), _) => Ok(ChannelName::Id(id)),
        (None, Value::String(name)) => Ok(ChannelName::Name(name)),
        _ => Err(ApiError::bad_request("Invalid data type for channel")),
    }
}

/// Parses users in `to`. Text that is not JSON is a list of addresses, separated by commas.
pub fn parse_people(to: &str) -> Result<PeopleNames, ApiError> {
    let wrong_type = || ApiError::bad_request("Invalid data type for recipients");
    let list = match serde_json::from_str(to) {
        Ok(Value::Array(list)) => list,
        Ok(Value::String(text)) => return Ok(split_emails(&text)),
        Ok(_) => return Err(wrong_type()),
        Err(_) => return Ok(split_emails(to)),
    };
    let mixed = || ApiError::bad_request("Recipient lists may contain emails or user IDs, but not both.");
    match list.first() {
        Some(Value::String(_)) => {
            let emails = list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(mixed));
            emails.collect::<Result<_, _>>().map(PeopleNames::Emails)
        }
        Some(first) if integer(first).is_none() => Err(wrong_type()),
        _ => {
            let ids = list.iter().map(|item| integer(item).ok_or_else(mixed));
            ids.collect::<Result<_, _>>().map(PeopleNames::Ids)
        }
    }
}

/// Whether a text may be JSON, by its beginning: most names are not, and an error of the parser costs an allocation.
fn may_be_json(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let begins =
        text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '"' | '[' | '{' | '-'));
    begins || matches!(text, "true" | "false" | "null")
}

fn split_emails(text: &str) -> PeopleNames {
    PeopleNames::Emails(text.split(',').map(str::to_owned).collect())
}

/// An integer. One too large for an id becomes one that does not exist.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_u64().map(|_| i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_by_id_and_name() {
        let name = |name: &str| Ok(ChannelName::Name(name.to_owned()));
        let wrong = || Err(ApiError::bad_request("Invalid data type for channel"));
        let several = || Err(ApiError::bad_request("Expected exactly one channel"));
        let cases = [
            ("Verona", name("Verona")),
            ("\"Verona\"", name("Verona")),
            ("[\"Verona\"]", name("Verona")),
            ("7", Ok(ChannelName::Id(7))),
            ("[7]", Ok(ChannelName::Id(7))),
            ("-1", Ok(ChannelName::Id(-1))),
            ("18446744073709551615", Ok(ChannelName::Id(i64::MAX))),
            ("", name("")),
            ("[broken", name("[broken")),
            ("[]", several()),
            ("[1,2]", several()),
            ("true", wrong()),
            ("null", wrong()),
            ("1.5", wrong()),
            ("{\"a\":1}", wrong()),
            ("[[1]]", wrong()),
        ];
        for (to, expected) in cases {
            assert_eq!(parse_channel(to), expected, "{to}");
        }
    }

    #[test]
    fn people_by_ids_and_addresses() {
        let emails = |list: &[&str]| Ok(PeopleNames::Emails(list.iter().map(|e| (*e).to_owned()).collect()));
        let wrong = || Err(ApiError::bad_request("Invalid data type for recipients"));
        let mixed = || {
            let text = "Recipient lists may contain emails or user IDs, but not both.";
            Err(ApiError::bad_request(text))
        };
        let cases = [
            ("[1, 2]", Ok(PeopleNames::Ids(vec![1, 2]))),
            ("[]", Ok(PeopleNames::Ids(vec![]))),
            ("a@b.c, d@e.f", emails(&["a@b.c", " d@e.f"])),
            ("\"a@b.c,d@e.f\"", emails(&["a@b.c", "d@e.f"])),
            ("[\"a@b.c\"]", emails(&["a@b.c"])),
            ("[1, \"a@b.c\"]", mixed()),
            ("[\"a@b.c\", 1]", mixed()),
            ("[1, 2.5]", mixed()),
            ("5", wrong()),
            ("{\"a\":1}", wrong()),
            ("[null]", wrong()),
            ("[1.5]", wrong()),
        ];
        for (to, expected) in cases {
            assert_eq!(parse_people(to), expected, "{to}");
        }
    }
}
