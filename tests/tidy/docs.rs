//! The documents agree with the source: every route and event is in the reference, every setting in its tables,
//! and links in documents and comments lead to files and headings that exist.

use millstream::http::caller::Login;
use millstream::routes::table;
use model::EventKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Every Markdown document of the project: those in the root, and everything below `docs`, `tests` and `loadtest`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> =
        ["docs", "tests", "loadtest"].iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.extend(fs::read_dir(root).expect("the root").map(|entry| entry.expect("an entry").path()));
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    assert!(found.len() > 20, "the documents are not where they are searched");
    found.sort();
    found
}

/// Lines of a document outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_fence = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        !in_fence && !is_fence
    })
}

/// Anchors of a document's headings, as GitHub derives them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text)
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|heading| {
            heading.trim().to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-")
        })
        .collect()
}

/// Whether the target of a link in `document` exists: a file, or a heading of a file or of the document itself.
fn exists(document: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => document.to_owned(),
        file => document.with_file_name(file),
    };
    match heading {
        "" => path.exists(),
        heading => fs::read_to_string(path).is_ok_and(|text| anchors(&text).contains(heading)),
    }
}

/// Paths of Markdown files that a comment names, with their headings: `docs/api/narrow.md#operators`.
fn documents_named_in(comment: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/._-#".contains(c);
    let words = comment.split(move |c| !is_part(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.ends_with(".md") || word.contains(".md#"))
}

#[test]
fn every_route_is_listed_in_the_reference() {
    let index = fs::read_to_string(Path::new(ROOT).join("docs/api/README.md")).expect("the index");
    for route in table() {
        let path = ["int", "text", "rest"]
            .iter()
            .fold(route.path.to_owned(), |path, kind| path.replace(&format!(":{kind}}}"), "}"));
        let who = match route.login {
            Login::None => "anyone",
            Login::Spectator | Login::SpectatorOrKeyInUrl => "account or visitor",
            Login::AccountOrBrowser => "account, or visitor below `/json`",
            Login::Account => "account",
            Login::KeyInUrl => "account, by `api_key`",
            Login::Human => "person",
            Login::NotGuest => "not guest",
            Login::HumanNotGuest => "person, not guest",
            Login::Administrator => "administrator",
            Login::Owner => "owner",
        };
        let row = format!("| `{} {path}` | {who} | ", route.method);
        assert!(index.contains(&row), "docs/api/README.md lacks a row that starts with {row:?}");
    }
}

#[test]
fn every_setting_is_listed_in_the_reference() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/api/settings.md")).expect("the page");
    for setting in rules::settings::USER_SETTINGS.iter().chain(rules::settings::REALM_SETTINGS) {
        let row = format!("| `{}` | {} | ", setting.name, setting.kind.type_name());
        assert!(page.contains(&row), "docs/api/settings.md lacks a row that starts with {row:?}");
    }
    for rule in &rules::settings::REALM_PERMISSIONS {
        let row = format!("| `{}` | `{}` | ", rule.name, rule.default_group_name);
        assert!(page.contains(&row), "docs/api/settings.md lacks a row that starts with {row:?}");
    }
}

#[test]
fn every_event_type_has_a_section_in_the_reference() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/api/events.md")).expect("the page of events");
    let (sent, not_sent) = text.split_once("\n## Not sent\n").expect("a section of events that are not sent");
    let is_described =
        |name: &str| sent.contains(&format!("\n## {name}\n")) != not_sent.contains(&format!("`{name}`"));
    let missing: Vec<&str> =
        EventKind::ALL.iter().map(|kind| kind.as_str()).filter(|name| !is_described(name)).collect();
    assert!(missing.is_empty(), "these event types have no section, or two: {missing:?}");
}

#[test]
fn links_in_documents_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        for line in prose(&text) {
            // Text in backticks is an example, not a link.
            let outside = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let targets = outside.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            let own = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
            let missing = own.filter(|target| !exists(&path, target));
            broken.extend(missing.map(|target| format!("{}: {target}", path.display())));
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn documents_named_in_comments_exist() {
    let root = Path::new(ROOT).join("README.md");
    let mut missing = Vec::new();
    for (path, text) in super::sources() {
        let comments = text.lines().filter_map(|line| line.split_once("//")).map(|(_, comment)| comment);
        let named: BTreeSet<&str> = comments.flat_map(documents_named_in).collect();
        missing
            .extend(named.iter().filter(|name| !exists(&root, name)).map(|name| format!("{path}: {name}")));
    }
    assert!(missing.is_empty(), "these documents or headings do not exist:\n{}", missing.join("\n"));
}

/// Paths of the repository in the code spans of a line. Spans with placeholders, such as `<name>`, are examples.
fn paths_in_code(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |span: &&str| {
        let roots = ["actors/", "docs/", "loadtest/", "src/", "storage/", "tests/"];
        roots.iter().any(|root| span.starts_with(root)) && !span.contains(['<', '{', '*', ' ', '…'])
    };
    line.split('`').skip(1).step_by(2).filter(is_path)
}

#[test]
fn paths_in_documents_exist() {
    let root = Path::new(ROOT);
    let mut missing = Vec::new();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = fs::read_to_string(root.join(name)).expect("a document");
        let paths = prose(&text).flat_map(paths_in_code).filter(|path| !root.join(path).exists());
        missing.extend(paths.map(|path| format!("{name}: {path}")));
    }
    assert!(missing.is_empty(), "these paths do not exist:\n{}", missing.join("\n"));
}
