//! Mistakes in the form of single entries: where they are, and that no name of the format is ignored.

use super::tests::{OLGA, START};
use super::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The places of three entries, with what is right there.
const RIGHT: [(&str, &str); 3] =
    [("AUDIENCE", "[\"olga@acme.example\"]"), ("SETTING", "true"), ("MESSAGE", "\"two\"")];

const JSON: &str = r#"{
"name": "Acme", "email_domain": "acme.example", "creator": "olga@acme.example",
"users": [{"email": "olga@acme.example", "full_name": "Olga", "role": "owner"}],
"channels": [
  {"name": "a", "subscribers":
    AUDIENCE
  },
  {"name": "b"}
],
"settings": {
  "invite_required":
    SETTING
},
"topics": [{"channel": "a", "name": "t", "writers": ["olga@acme.example"], "messages": [
  "one",
  MESSAGE,
  "three"
]}]
}"#;

/// A place, what is wrong there, and the mistake.
const WRONG: [(&str, &str, &str); 11] = [
    (
        "MESSAGE",
        "5",
        "line 16, column 3: expected a text, or an object with `from` and `text`, not the number 5",
    ),
    (
        "MESSAGE",
        "{\"from\": \"olga@acme.example\", \"text\": \"x\",\n \"x\": 1}",
        "line 17, column 2: unknown field `x`, expected `from` or `text`",
    ),
    (
        "MESSAGE",
        "{\"from\": \"olga@acme.example\", \"texts\": \"x\"}",
        "line 16, column 33: unknown field `texts`; did you mean `text`?",
    ),
    ("MESSAGE", "{\n\"from\": \"olga@acme.example\"\n}", "line 16, column 3: missing field `text`"),
    (
        "MESSAGE",
        "{\"from\": \"olga@acme.example\", \"text\":\n[]}",
        "line 17, column 1: expected a text, not a list",
    ),
    (
        "AUDIENCE",
        "\"all\"",
        "line 6, column 5: expected \"everyone\", \"members\", \"moderators\" or a list of addresses, not the text \"all\"",
    ),
    ("AUDIENCE", "[\n\"olga@acme.example\",\n7\n]", "line 8, column 1: expected a text, not the number 7"),
    ("AUDIENCE", "{\n}", "line 6, column 5: expected \"everyone\""),
    (
        "SETTING",
        "1.5",
        "line 12, column 5: expected true, false, a whole number, a text, or an object with `users` and `groups`, \
         not the number 1.5",
    ),
    ("SETTING", "null", "line 12, column 5: expected true"),
    ("SETTING", "true,\n]", "line 13, column 1: "),
];

#[test]
fn mistakes_in_json_are_where_the_entry_is() {
    let text = |place: &str, wrong: &str| {
        RIGHT.iter().fold(JSON.to_owned(), |text, (known, right)| {
            text.replace(known, if *known == place { wrong } else { right })
        })
    };
    assert!(SeedDocument::read(&text("", "")).is_ok());
    for (place, wrong, expected) in WRONG {
        let mistake = SeedDocument::read(&text(place, wrong)).unwrap_err().to_string();
        assert!(mistake.starts_with(expected), "{mistake}\n{expected}");
    }
    let behind = SeedDocument::read(&(text("", "") + "\n}")).unwrap_err().to_string();
    assert!(behind.starts_with("line 20, column 1: "), "{behind}");
}

#[test]
fn mistakes_in_toml_are_where_the_entry_is() {
    let topic = |messages: &str| {
        let text = format!(
            "{START}{OLGA}[[channels]]\nname = \"c\"\n[[topics]]\nchannel = \"c\"\nname = \"t\"\nmessages = [\n{messages}\n]\n"
        );
        SeedDocument::read(&text).unwrap_err().to_string()
    };
    let unknown = topic("{ from = \"olga@acme.example\", text = \"a\", x = 1 }");
    assert!(unknown.starts_with("line 14, column 43: unknown field `x`"), "{unknown}");
    let number = topic("{ from = \"olga@acme.example\", text = \"a\" },\n5");
    assert_eq!(
        number,
        "line 15, column 1: expected a text, or a table with `from` and `text`, not the number 5"
    );
    let date = topic("2026-11-29");
    assert_eq!(date, "line 14, column 1: a date is not expected here; as a text it is in quotes");
}

/// Adds an unknown name to each object in turn, but once to those of a list.
fn with_unknown_names(document: &Value) -> Vec<(String, Value)> {
    fn objects(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.push(pointer.to_owned());
                members.iter().for_each(|(name, inner)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    objects(inner, &format!("{pointer}/{name}"), found);
                });
            }
            Value::Array(entries) => {
                (0..)
                    .zip(entries)
                    .for_each(|(number, inner)| objects(inner, &format!("{pointer}/{number}"), found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    objects(document, "", &mut found);
    let mut kinds = BTreeSet::new();
    found.retain(|pointer| {
        let names = pointer.split('/').filter(|step| step.parse::<usize>().is_err());
        kinds.insert(names.map(str::to_owned).collect::<Vec<_>>())
    });
    let changed = found.into_iter().map(|pointer| {
        let mut document = document.clone();
        if let Some(Value::Object(members)) = document.pointer_mut(&pointer) {
            members.insert("zzz".to_owned(), json!(1));
        }
        (pointer, document)
    });
    changed.collect()
}

#[test]
fn unknown_names_are_mistakes_in_every_table() {
    let mut sample = serde_json::to_value(SeedDocument::sample()).unwrap();
    sample["settings"]["can_invite_users_group"] = json!({"users": ["iago@zulip.com"]});
    sample["topics"][0]["messages"][0] = json!({"from": "iago@zulip.com", "text": "a"});
    assert!(SeedDocument::read(&sample.to_string()).is_ok());
    let changed = with_unknown_names(&sample);
    // The document itself, each list in it, and the tables in these.
    assert!(changed.len() > 20, "{}", changed.len());
    for (pointer, document) in changed {
        assert!(SeedDocument::read(&document.to_string()).is_err(), "zzz is accepted in {pointer:?}");
    }
}

#[test]
fn seed_has_at_most_sixteen_megabytes() {
    let text = format!("{START}{OLGA}");
    let padded = |bytes: usize| SeedDocument::read(&(text.clone() + &" ".repeat(bytes - text.len())));
    assert!(padded(16 << 20).is_ok());
    assert_eq!(padded((16 << 20) + 1).unwrap_err().to_string(), "the seed is larger than 16777216 bytes");
}
