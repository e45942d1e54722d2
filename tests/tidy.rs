//! Conventions that run as tests, so that nobody has to be the person who nags.

use std::fs;
use std::path::{Path, PathBuf};

const LINES_MAX: usize = 500;

/// Every Rust file of the project, with its path from the root and its text.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["src", "actors", "storage", "loadtest", "tests"] {
        collect(&root.join(folder), &mut found);
    }
    let name = |path: &PathBuf| path.strip_prefix(root).expect("inside").display().to_string();
    let mut sources: Vec<(String, String)> =
        found.iter().map(|path| (name(path), fs::read_to_string(path).expect("a source"))).collect();
    sources.sort();
    assert!(sources.len() > 100, "the sources are where they are looked for");
    sources
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The part of a source that is the program: without its tests, its comments and its strings' content.
fn program(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().expect("a first part");
    let mut kept = String::new();
    for line in text.lines() {
        let code = line.split("//").next().expect("a first part");
        // Good enough for words: what stands between quotes on one line is left out.
        let outside = code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        kept.push_str(&outside);
        kept.push('\n');
    }
    kept
}

/// Whether a file is compiled for tests alone: by where it is, or because a file above it says so.
fn is_test_file(path: &str) -> bool {
    let words = ["tests/", "tests.rs", "examples/", "loadtest/"];
    if words.iter().any(|word| path.contains(word)) {
        return true;
    }
    let file = Path::new(path);
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let folder = file.parent().expect("a folder");
    let above = [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")];
    let declared = format!("#[cfg(test)]\nmod {name};");
    let public = format!("#[cfg(test)]\npub(crate) mod {name};");
    above.iter().any(|file| {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
        text.contains(&declared) || text.contains(&public)
    })
}

/// Whether a word stands in a text with nothing of a word around it; `_` separates words here.
fn has_word(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    lower.match_indices(word).any(|(at, _)| {
        let end = at + word.len();
        let rest = lower[end..].trim_start_matches('s');
        !is_part(lower[..at].chars().next_back()) && !is_part(rest.chars().next())
    })
}

#[test]
fn files_are_short_and_begin_by_saying_what_they_are_for() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{path} has {lines} lines, more than {LINES_MAX}");
        // A file of tests is about the file beside it.
        let is_beside = path.ends_with("/tests.rs");
        assert!(is_beside || text.starts_with("//! "), "{path} does not say what it is for");
    }
}

#[test]
fn the_trees_are_known_to_storage_alone() {
    for (path, text) in sources() {
        let program = program(&text);
        assert!(path.starts_with("storage/") || !program.contains("sled::"), "{path} speaks of sled");
        let is_edge = path.starts_with("src/") || path.starts_with("tests/") || path.starts_with("loadtest/");
        let is_web = program.contains("actix_web::");
        assert!(is_edge || !is_web, "{path} speaks of actix-web");
        assert!(!path.starts_with("src/") || !program.contains("storage::"), "{path} reaches into storage");
    }
}

#[test]
fn what_decides_knows_no_actors_no_disk_and_no_time() {
    for (path, text) in sources() {
        let is_state = path.starts_with("actors/src/") && path.ends_with("/state.rs");
        let decides =
            is_state || path.starts_with("actors/rules/src") || path.starts_with("storage/model/src");
        if !decides || is_test_file(&path) {
            continue;
        }
        let program = program(&text);
        for word in ["actix", "sled", "Instant::now", "SystemTime::now", "clock.now(", "std::fs", "getrandom"]
        {
            assert!(!program.contains(word), "{path} speaks of {word}");
        }
    }
}

/// Words of the API that name a setting or a capability, and are called so everywhere.
const WIRE_NAMES: [&str; 1] = ["stream_typing_notifications"];

#[test]
fn streams_are_called_channels_inside() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let is_inside = ["actors/", "storage/"].iter().any(|folder| path.starts_with(folder));
        if !is_inside || is_test_file(&path) {
            continue;
        }
        for line in program(&text).lines() {
            let line = WIRE_NAMES.iter().fold(line.to_owned(), |line, name| line.replace(name, ""));
            if has_word(&line, "stream") {
                found.push(format!("{path}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "these say stream:\n{}", found.join("\n"));
}

#[test]
fn nothing_is_left_for_later_and_nothing_panics_without_a_reason() {
    let forbidden = [
        ["todo", "!("].concat(),
        ["unimplemented", "!("].concat(),
        ["dbg", "!("].concat(),
        ["FIX", "ME"].concat(),
    ];
    for (path, text) in sources() {
        for word in &forbidden {
            assert!(!text.contains(word), "{path} has {word}");
        }
        if is_test_file(&path) {
            continue;
        }
        let program = program(&text);
        assert!(!program.contains(".unwrap()"), "{path} unwraps");
        assert!(!text.contains(concat!(".expect(", "\"\")")), "{path} expects without a reason");
    }
}

#[test]
fn every_route_is_called_by_a_test_of_its_own() {
    let tests: Vec<(String, String)> =
        sources().into_iter().filter(|(path, _)| path.starts_with("tests/")).collect();
    // The rows of bad input are no test of what a route does.
    let texts: Vec<&str> = tests
        .iter()
        .filter(|(path, _)| !path.contains("robustness"))
        .map(|(_, text)| text.as_str())
        .collect();
    for route in millstream::http::routes::table() {
        let path = route.path.strip_prefix("/api/v1").unwrap_or(route.path);
        // Up to the first placeholder, then what comes behind it.
        let pieces: Vec<&str> = path.split(['{', '}']).step_by(2).filter(|piece| !piece.is_empty()).collect();
        let is_called = texts.iter().any(|text| pieces.iter().all(|piece| text.contains(piece)));
        assert!(is_called, "no test calls {} {}", route.method, route.path);
    }
}
