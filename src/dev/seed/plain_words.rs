//! The errors of the libraries that read TOML and JSON, without the names of types of this program.

use super::near_name::near_name;

/// How errors of types begin.
const WRONG_TYPE: [&str; 2] = ["invalid type: ", "invalid value: "];

/// The text of an error for people. `table` is what names with values are called in the file's language.
pub(super) fn in_plain_words(text: &str, table: &str) -> String {
    let wrong = WRONG_TYPE.iter().find_map(|start| text.strip_prefix(start));
    if let Some((found, expected)) = wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("expected {}, not {}", expectation(expected, table), finding(found, table));
    }
    if text.starts_with("unknown field `$__toml_private_datetime`") {
        return "a date is not expected here; as a text it is in quotes".to_owned();
    }
    if let Some(near) = near_field(text) {
        return near;
    }
    if let Some(rest) = text.strip_prefix("unknown variant ") {
        return format!("unknown value {rest}");
    }
    if text.starts_with("invalid length ") {
        return format!("expected {table}, not a list");
    }
    if text.starts_with("wanted exactly 1 element") || text.starts_with("expected table with exactly 1 entry")
    {
        return format!("expected {table} with one name");
    }
    if text.starts_with("EOF while parsing") {
        return "the file ends here, before the seed is complete".to_owned();
    }
    match text {
        "wanted string or table" => format!("expected a text or {table}"),
        other => other.to_owned(),
    }
}

/// The text of an unknown name with the one that it may mean.
fn near_field(text: &str) -> Option<String> {
    let (name, known) = text.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    // Every second part is a name.
    let near = near_name(name, known.split('`').skip(1).step_by(2))?;
    Some(format!("unknown field `{name}`; did you mean `{near}`?"))
}

/// What is in the file.
fn finding(found: &str, table: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let value = value.trim_start_matches("point ").trim_matches('`');
    match kind {
        "integer" | "floating" => format!("the number {value}"),
        "boolean" => value.to_owned(),
        "string" => format!("the text {value}"),
        "sequence" | "tuple" => "a list".to_owned(),
        "map" | "newtype" | "struct" => table.to_owned(),
        "null" => "null".to_owned(),
        "unit" if value == "variant" => "a name alone".to_owned(),
        "unit" => "null".to_owned(),
        _ => "this".to_owned(),
    }
}

/// What should be in the file. Texts of this program's own stay as they are.
fn expectation(expected: &str, table: &str) -> String {
    let kind = expected.split_once(' ').map_or(expected, |(kind, _)| kind);
    match (expected, kind) {
        ("u32", _) => format!("a whole number from 0 to {}", u32::MAX),
        ("u64" | "usize", _) => "a whole number from 0 on".to_owned(),
        ("i64", _) => "a whole number".to_owned(),
        ("a string" | "string", _) => "a text".to_owned(),
        ("a boolean", _) => "true or false".to_owned(),
        ("a sequence" | "sequence", _) => "a list".to_owned(),
        ("string or map", _) => format!("a text or {table}"),
        ("map with a single key", _) => format!("{table} with one name"),
        ("a map" | "map", _) | (_, "struct" | "enum" | "newtype") => table.to_owned(),
        // What may be a table or something else.
        (other, _) => other.replace("a table", table),
    }
}
