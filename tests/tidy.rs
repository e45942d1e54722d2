//! Project conventions that are checked as tests.

mod comments;
mod docs;
mod imports;
mod syntax;

use std::fs;
use std::path::{Path, PathBuf};

const LINES_MAX: usize = 500;

/// Every Rust file of the project: its path from the root, and its text.
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
    assert!(sources.len() > 100, "the sources were not found");
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

/// The code of a source file without comments and with empty string literals, and the content of these literals.
fn split_literals(text: &str) -> (String, Vec<String>) {
    let (mut code, mut literals, mut rest) = (String::new(), Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let raw = rest.strip_prefix("r#\"").map(|raw| (raw, "\"#"));
        let is_escaped_char = rest.starts_with("'\\") || rest.starts_with("'\"'");
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some((raw, end)) = raw {
            let length = raw.find(end).expect("the end of a literal");
            literals.push(raw[..length].to_owned());
            code.push_str("\"\"");
            rest = &raw[length + end.len()..];
        } else if let Some(literal) = rest.strip_prefix('"') {
            let mut is_escape = false;
            let ends = |c: char| {
                let is_end = c == '"' && !is_escape;
                is_escape = c == '\\' && !is_escape;
                is_end
            };
            let length = literal.find(ends).expect("the end of a literal");
            literals.push(literal[..length].to_owned());
            code.push_str("\"\"");
            rest = &literal[length + 1..];
        } else {
            let length = if is_escaped_char { 3 } else { first.len_utf8() };
            code.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    (code, literals)
}

/// The code of a source file: without tests, comments and the content of string literals.
fn program(text: &str) -> String {
    split_literals(text.split("#[cfg(test)]\nmod tests {").next().expect("a first part")).0
}

/// Whether a file is compiled for tests only, by its path or by a declaration in the file above it.
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
    let shared = format!("#[cfg(any(test, feature = \"{name}\"))]\npub mod {name};");
    above.iter().any(|file| {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
        [&declared, &public, &shared].iter().any(|form| text.contains(*form))
    })
}

/// Whether a text contains a word between non-alphanumeric characters, in singular or plural; `_` separates words.
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
fn files_are_short_and_have_module_docs() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{path} has {lines} lines, more than {LINES_MAX}");
        // A `tests.rs` file is about the module beside it.
        let is_beside = path.ends_with("/tests.rs");
        assert!(is_beside || text.starts_with("//! "), "{path} does not say what it is for");
    }
}

/// Operators read the log: values in it have a text or fields of their own, and not the form of Rust's `Debug`.
#[test]
fn log_lines_have_no_debug_text() {
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_test_file(path)) {
        let code = program(&text);
        for level in ["info", "warn", "error"] {
            for call in code.split(&format!("tracing::{level}!(")).skip(1) {
                let mut depth = 1;
                let ends = |c: char| {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    depth == 0
                };
                let call = &call[..call.find(ends).expect("the end of the call")];
                let is_sigil = |at: usize| {
                    let before = call[..at].trim_end();
                    before.is_empty() || before.ends_with([',', '='])
                };
                let has_debug = call.match_indices('?').any(|(at, _)| is_sigil(at));
                assert!(!has_debug, "{path} logs the Debug text of a value: {call}");
            }
        }
    }
}

/// A file that no other one names is never compiled, and its tests never run.
#[test]
fn every_file_is_a_module_of_another_one() {
    let sources = sources();
    let is_named = |path: &Path| {
        let own = if path.ends_with("mod.rs") { path.parent().expect("a folder") } else { path };
        let (folder, name) =
            (own.parent().expect("a folder"), own.file_stem().expect("a name").to_string_lossy());
        let mut parents = vec![folder.with_extension("rs")];
        parents.extend(["mod.rs", "lib.rs", "main.rs"].map(|parent| folder.join(parent)));
        let by_path =
            format!("path = \"{}/{name}.rs\"", folder.file_name().expect("a folder").to_string_lossy());
        let names = |text: &str| text.contains(&format!("mod {name};")) || text.contains(&by_path);
        sources
            .iter()
            .any(|(other, text)| parents.iter().any(|parent| Path::new(other) == parent) && names(text))
    };
    // What Cargo compiles by itself.
    let roots = ["lib.rs", "main.rs", "build.rs"];
    let is_root = |path: &Path| {
        roots.iter().any(|root| path.ends_with(root))
            || path
                .parent()
                .is_some_and(|folder| folder.ends_with("examples") || folder == Path::new("tests"))
    };
    let orphans = sources.iter().map(|(path, _)| path).filter(|path| !is_root(Path::new(path)));
    let orphans: Vec<&String> = orphans.filter(|path| !is_named(Path::new(path))).collect();
    assert!(orphans.is_empty(), "no other file declares {orphans:?}");
}

#[test]
fn crate_boundaries_of_sled_actix_web_and_storage() {
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
fn state_and_rules_have_no_actors_disk_or_clock() {
    for (path, text) in sources() {
        let is_state = path.starts_with("actors/src/")
            && ["/state.rs", "/event_queues.rs"].iter().any(|name| path.ends_with(name));
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

/// Names of the API, and of the library of the search index, that contain `stream`, and are used unchanged.
const WIRE_NAMES: [&str; 5] =
    ["stream_typing_notifications", "token_stream", "into_stream", "type Stream", "futures_util::stream"];

#[test]
fn streams_are_called_channels_internally() {
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
fn no_todos_or_unexplained_panics() {
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

/// Whether a string literal is the path of a route. `{…}` in the literal is a formatted value: at the start any number of
/// segments, else one segment.
fn is_path_of(literal: &str, route: &str) -> bool {
    let literal = literal.split('?').next().expect("a path").strip_prefix("/api/v1").unwrap_or(literal);
    let mut given: Vec<&str> = literal.trim_end_matches('/').split('/').collect();
    let mut wanted: Vec<&str> = route.trim_end_matches('/').split('/').collect();
    if given[0].starts_with('{') && given.len() > 1 && given.len() <= wanted.len() {
        wanted.drain(..wanted.len() - given.len() + 1);
        given.remove(0);
    }
    given.len() == wanted.len()
        && given.iter().zip(&wanted).all(|(given, wanted)| given == wanted || wanted.starts_with('{'))
}

#[test]
fn every_route_is_called_by_a_test() {
    let is_of_calls = |path: &str| {
        // The tables of callers and of invalid input have a row for each route, which is no test of its behavior.
        path.starts_with("tests/") && !path.contains("/robustness/") && !path.contains("/authorization/")
    };
    let tests: Vec<(String, Vec<String>)> = sources()
        .into_iter()
        .filter(|(path, _)| is_of_calls(path) && path != "tests/tidy.rs")
        .map(|(_, text)| split_literals(&text))
        .collect();
    let mut missing = Vec::new();
    for route in millstream::routes::table() {
        let path = route.path.strip_prefix("/api/v1").unwrap_or(route.path);
        let calls = match route.method.as_str() {
            "POST" => vec![".post(", "Method::POST", ".upload("],
            "GET" => vec![".get(", "Method::GET", ".fetch("],
            method => vec![if method == "PATCH" { ".patch(" } else { ".delete(" }, "Method::"],
        };
        let is_called = tests.iter().any(|(code, literals)| {
            calls.iter().any(|call| code.contains(call))
                && literals.iter().any(|literal| is_path_of(literal, path))
        });
        if !is_called {
            missing.push(format!("{} {}", route.method, route.path));
        }
    }
    assert!(missing.is_empty(), "no test calls these:\n{}", missing.join("\n"));
}
