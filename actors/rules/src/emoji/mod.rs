//! The standard emoji: names and codes of Unicode emoji. Custom emoji of organizations are not included; callers check
//! them first.

mod literal;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub(crate) use literal::{Literal, scan_literal};

/// The file clients fetch from `server_emoji_data_url`, byte for byte.
const CODE_TO_NAMES_JSON: &str = include_str!("emoji_names.json");

/// The path of the picture of `:zulip:`, the only built-in emoji that is not in Unicode.
pub const ZULIP_PICTURE: &str = "/static/generated/emoji/images/emoji/unicode/zulip.png";

/// Emoticons that can be translated, with the names of their emoji.
const EMOTICONS: [(&str, &str); 12] = [
    (":)", "slight_smile"),
    ("(:", "slight_smile"),
    (":(", "frown"),
    ("<3", "heart"),
    (":|", "expressionless"),
    (":/", "confused"),
    (";)", "wink"),
    (":D", "smile"),
    (":o", "open_mouth"),
    (":O", "open_mouth"),
    (":p", "stuck_out_tongue"),
    (":P", "stuck_out_tongue"),
];

/// Built on first use, to keep the start of the server short.
static TABLE: LazyLock<Table> = LazyLock::new(Table::parse);

#[derive(Deserialize)]
struct EmojiFile {
    #[serde(borrow)]
    code_to_names: BTreeMap<&'static str, Vec<&'static str>>,
}

struct Entry {
    code: &'static str,
    /// The canonical name first.
    names: Box<[&'static str]>,
}

struct Table {
    /// Sorted by code.
    by_code: Box<[Entry]>,
    /// Sorted by name; the position in `by_code`.
    by_name: Box<[(&'static str, u16)]>,
}

impl Table {
    fn parse() -> Self {
        let file: EmojiFile =
            serde_json::from_str(CODE_TO_NAMES_JSON).expect("the compiled-in emoji table is tested to parse");
        let entries = file.code_to_names.into_iter().map(|(code, names)| Entry { code, names: names.into() });
        let by_code: Box<[Entry]> = entries.collect();
        let mut by_name = Vec::new();
        for (index, entry) in by_code.iter().enumerate() {
            let index = u16::try_from(index).expect("the compiled-in table has fewer than 65,536 codes");
            by_name.extend(entry.names.iter().map(|name| (*name, index)));
        }
        by_name.sort_unstable();
        Self { by_code, by_name: by_name.into_boxed_slice() }
    }
}

/// The code of the standard emoji with this name: lower-case hexadecimal code points joined by `-`.
pub fn code_of(name: &str) -> Option<&'static str> {
    let table = &*TABLE;
    let position = table.by_name.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    let (_, index) = table.by_name[position];
    Some(table.by_code[usize::from(index)].code)
}

/// All names of the standard emoji with this code, the canonical one first; `None` for an unknown code.
pub fn names_of(code: &str) -> Option<&'static [&'static str]> {
    let table = &*TABLE;
    let position = table.by_code.binary_search_by(|entry| entry.code.cmp(code)).ok()?;
    Some(&table.by_code[position].names)
}

/// The canonical name of the standard emoji with this code.
pub fn canonical_name(code: &str) -> Option<&'static str> {
    names_of(code)?.first().copied()
}

/// The characters of a code such as `1f604` or `1f1e6-1f1e8`; none if it is not a code.
pub fn characters(code: &str) -> Option<String> {
    let character = |part: &str| u32::from_str_radix(part, 16).ok().and_then(char::from_u32);
    code.split('-').map(character).collect()
}

/// The emoticon that the text begins with, such as `:)`, and the name of its emoji.
pub fn leading_emoticon(text: &str) -> Option<(&'static str, &'static str)> {
    EMOTICONS.iter().copied().find(|(emoticon, _)| text.starts_with(emoticon))
}

/// The document behind `server_emoji_data_url`: `{"code_to_names": {code: [name, …]}}`, canonical name first.
pub fn code_to_names_json() -> &'static str {
    CODE_TO_NAMES_JSON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_agree_both_ways() {
        assert_eq!(code_of("tada"), Some("1f389"));
        assert_eq!(code_of("+1"), Some("1f44d"));
        assert_eq!(code_of("thumbs_up"), Some("1f44d"));
        assert_eq!(canonical_name("1f44d"), Some("+1"));
        assert_eq!(code_of("smile"), Some("1f604"));
        assert_eq!(code_of("slight_smile"), Some("1f642"));
        assert_eq!(code_of("nopenope"), None);
        assert_eq!(names_of("zzzz"), None);
        for Entry { code, names } in &TABLE.by_code {
            assert!(!names.is_empty(), "{code} has no name");
            for name in names.iter() {
                assert_eq!(code_of(name), Some(*code), "{name}");
            }
        }
    }

    #[test]
    fn every_emoticon_has_a_known_emoji() {
        for (emoticon, name) in EMOTICONS {
            assert!(code_of(name).is_some(), "{name}");
            assert_eq!(leading_emoticon(&format!("{emoticon}x")), Some((emoticon, name)));
        }
        assert_eq!(leading_emoticon(":x"), None);
    }

    #[test]
    fn the_served_document_is_the_compiled_in_table() {
        let document: serde_json::Value = serde_json::from_str(code_to_names_json()).unwrap();
        assert_eq!(document["code_to_names"].as_object().unwrap().len(), TABLE.by_code.len());
    }
}
