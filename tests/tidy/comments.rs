//! Comments: public items have one, none is too short to say something, and they use the field's words.

use super::{is_test_file, sources};
use std::fs;
use std::path::Path;

/// The words of production files, line by line, up to their unit tests.
fn production() -> impl Iterator<Item = (String, Vec<String>)> {
    sources().into_iter().filter(|(path, _)| !is_test_file(path)).map(|(path, text)| {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        (path, text.lines().map(str::to_owned).collect())
    })
}

/// The line of the item that a doc comment or attributes before `at` belong to.
fn item_after(lines: &[String], at: usize) -> &str {
    let attribute = |line: &&String| line.trim_start().starts_with("#[");
    lines[at..].iter().find(|line| !attribute(line)).map_or("", |line| line.trim())
}

fn is_public_item(line: &str) -> bool {
    let Some(item) = line.trim_start().strip_prefix("pub ") else { return false };
    let item = item.trim_start_matches("const ").trim_start_matches("async ");
    ["fn ", "struct ", "enum ", "trait "].iter().any(|keyword| item.starts_with(keyword))
}

#[test]
fn every_public_item_is_documented() {
    let mut missing = Vec::new();
    for (path, lines) in production() {
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_public_item(line)) {
            // Attributes may take several lines; a documented item has its comment above the first of them.
            let mut above = lines[..number].iter().rev().map(|line| line.trim());
            let comment = above
                .find(|line| line.starts_with("//") || line.is_empty() || line.ends_with(['{', '}', ';']));
            if !comment.is_some_and(|line| line.starts_with("///")) {
                missing.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(missing.is_empty(), "public items without a doc comment:\n{}", missing.join("\n"));
}

#[test]
fn no_doc_comment_has_only_one_or_two_words() {
    let mut short = Vec::new();
    for (path, lines) in production() {
        let comment = |at: usize| lines.get(at).and_then(|line| line.trim().strip_prefix("///"));
        for number in 0..lines.len() {
            let Some(words) = comment(number).map(|text| text.split_whitespace().count()) else { continue };
            let is_alone = (number == 0 || comment(number - 1).is_none()) && comment(number + 1).is_none();
            if is_alone && words <= 2 {
                short.push(format!("{path}:{}: {}", number + 1, item_after(&lines, number + 1)));
            }
        }
    }
    assert!(short.is_empty(), "doc comments that say nothing:\n{}", short.join("\n"));
}

/// Words that stand for concepts with names of their own.
const PRIVATE_WORDS: &[&str] = &["somebody", "whoever", "noticing", "courier", "errand", "parcel"];

#[test]
fn concepts_have_the_names_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/config/default.toml"];
    let documents =
        documents.map(|path| (path.to_owned(), fs::read_to_string(root.join(path)).expect("a document")));
    let own = Path::new(file!()).to_string_lossy().into_owned();
    let mut found = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| *path != own).chain(documents) {
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase);
            if let Some(word) = words.find(|word| PRIVATE_WORDS.contains(&word.as_str())) {
                found.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "private words, see the glossary in CONTRIBUTING.md:\n{}", found.join("\n"));
}
