//! No file depends on one that depends on it, directly or through others: import circles make modules that
//! can only be understood, tested and changed together.
//!
//! Re-exports are followed to the file that defines a name. A `mod.rs` that only re-exports depends on nothing.

use super::syntax::{Import, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The roots of the packages that are checked.
const PACKAGES: [&str; 8] = [
    "src/lib.rs",
    "actors/src/lib.rs",
    "actors/rules/src/lib.rs",
    "storage/src/lib.rs",
    "storage/model/src/lib.rs",
    "storage/postgres/src/lib.rs",
    "storage/search/src/lib.rs",
    "loadtest/src/main.rs",
];

/// Files that call the rules beside them in their folder, which call them back for what is inside: a circle is
/// allowed if all of it is in the folder of one of these and there is none without it.
const DISPATCHERS: [&str; 3] = [
    "actors/rules/src/markdown/block.rs",
    "actors/rules/src/markdown/inline.rs",
    "storage/src/log/journal.rs",
];

/// The modules of a package by their path from the root, each with its file and content.
type Modules = BTreeMap<Vec<String>, (String, Syntax)>;

/// For each file those that it depends on, with the names that it takes from them.
type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What a path leads to.
enum Target {
    Module(Vec<String>),
    /// An item, and the module that defines it.
    Item(Vec<String>, String),
}

/// The modules of a package. `read` gives the text of a file by its path, if it exists.
fn modules(root: &str, read: &dyn Fn(&Path) -> Option<String>) -> Modules {
    let mut modules = Modules::new();
    let mut open: Vec<(Vec<String>, PathBuf)> = vec![(Vec::new(), root.into())];
    while let Some((module, file)) = open.pop() {
        let text = read(&file).unwrap_or_else(|| panic!("{} is declared, but not there", file.display()));
        let syntax = Syntax::of(&text);
        let is_folder = module.is_empty() || file.ends_with("mod.rs");
        let folder =
            if is_folder { file.parent().expect("a folder").into() } else { file.with_extension("") };
        for name in &syntax.modules {
            let flat = folder.join(format!("{name}.rs"));
            let nested = folder.join(name).join("mod.rs");
            let file = if read(&flat).is_some() { flat } else { nested };
            open.push(([module.clone(), vec![name.clone()]].concat(), file));
        }
        modules.insert(module, (file.display().to_string(), syntax));
    }
    modules
}

/// Where a path leads, seen from a module; none where it leads out of the package.
fn resolve(modules: &Modules, from: &[String], path: &[String], depth: usize) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let start = match first.as_str() {
        "crate" => Target::Module(Vec::new()),
        "self" => Target::Module(from.to_vec()),
        "super" => Target::Module(from[..from.len().checked_sub(1)?].to_vec()),
        name => lookup(modules, from, name, depth)?,
    };
    let mut target = start;
    for name in rest {
        target = match target {
            Target::Module(module) if name == "super" => {
                Target::Module(module[..module.len().checked_sub(1)?].to_vec())
            }
            // What a module seems not to have is made by a macro there.
            Target::Module(module) => {
                lookup(modules, &module, name, depth).unwrap_or_else(|| Target::Item(module, name.clone()))
            }
            item @ Target::Item(..) => item,
        };
    }
    Some(target)
}

/// What a module calls by a name: a child, an item of its own, an import.
fn lookup(modules: &Modules, module: &[String], name: &str, depth: usize) -> Option<Target> {
    let (_, syntax) = modules.get(module)?;
    if syntax.modules.iter().any(|child| child == name) {
        return Some(Target::Module([module, &[name.to_owned()]].concat()));
    }
    if syntax.items.iter().any(|item| item == name) {
        return Some(Target::Item(module.to_vec(), name.to_owned()));
    }
    // Imports of a module may refer to each other.
    let depth = depth.checked_sub(1)?;
    let binds = |import: &&Import| import.name.as_deref() == Some(name) && import.path != [name];
    if let Some(import) = syntax.imports.iter().find(binds) {
        return resolve(modules, module, &import.path, depth);
    }
    let globs = syntax.imports.iter().filter(|import| import.name.is_none());
    globs.filter_map(|glob| resolve(modules, module, &glob.path, depth)).find_map(|target| match target {
        Target::Module(inside) if inside != module => lookup(modules, &inside, name, depth),
        Target::Module(_) | Target::Item(..) => None,
    })
}

/// Import chains longer than this do not occur.
const CHAIN_MAX: usize = 12;

/// Which file of a package depends on which.
fn graph(modules: &Modules) -> Graph {
    let mut graph = Graph::new();
    for (module, (file, syntax)) in modules {
        let used: BTreeSet<&str> = syntax.paths.iter().map(|path| path[0].as_str()).collect();
        let imported = syntax.imports.iter().filter(|import| {
            // A re-export alone is no dependency.
            !import.is_public || import.name.as_deref().is_some_and(|name| used.contains(name))
        });
        let named = syntax.paths.iter().filter(|path| path.len() > 1);
        let arrows = graph.entry(file.clone()).or_default();
        for path in imported.map(|import| &import.path).chain(named) {
            // Of a module that is imported as such, the paths that begin with it say what is taken from it.
            if let Some(Target::Item(found, name)) = resolve(modules, module, path, CHAIN_MAX) {
                let target = &modules[&found].0;
                if target != file {
                    arrows.entry(target.clone()).or_default().insert(name);
                }
            }
        }
    }
    graph
}

/// The files that can be reached from one, without those left out.
fn reachable<'a>(graph: &'a Graph, from: &'a str, without: Option<&str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
            if Some(next.as_str()) != without && found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}

/// Groups of files in which each depends on all others, directly or through them.
fn circles<'a>(graph: &'a Graph, without: Option<&str>) -> BTreeSet<Vec<&'a str>> {
    let files = graph.keys().filter(|file| Some(file.as_str()) != without);
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        files.map(|file| (file.as_str(), reachable(graph, file, without))).collect();
    let in_circles = reached.iter().filter(|(file, reached)| reached.contains(*file));
    in_circles
        .map(|(file, others)| others.iter().filter(|other| reached[*other].contains(file)).copied().collect())
        .collect()
}

fn is_allowed(graph: &Graph, circle: &[&str], dispatchers: &[&str]) -> bool {
    dispatchers.iter().any(|dispatcher| {
        let folder = Path::new(dispatcher).parent();
        let left: BTreeSet<&str> = circles(graph, Some(dispatcher)).into_iter().flatten().collect();
        circle.contains(dispatcher)
            && circle.iter().all(|file| Path::new(file).parent() == folder && !left.contains(file))
    })
}

/// The circles that are not allowed, each with what ties its files.
fn refused_circles(graph: &Graph, dispatchers: &[&str]) -> Vec<String> {
    let refused = circles(graph, None).into_iter().filter(|circle| !is_allowed(graph, circle, dispatchers));
    let describe = |circle: Vec<&str>| {
        let mut lines = vec![format!("{} files depend on each other:", circle.len())];
        for file in &circle {
            for (target, names) in graph[*file].iter().filter(|(target, _)| circle.contains(&target.as_str()))
            {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                lines.push(format!("  {file} -> {target}: {}", names.join(", ")));
            }
        }
        lines.join("\n")
    };
    refused.map(describe).collect()
}

#[test]
fn no_import_circles() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &Path| fs::read_to_string(top.join(file)).ok();
    let mut refused = Vec::new();
    for package in PACKAGES {
        let modules = modules(package, &read);
        assert!(modules.len() > 10, "the modules of {package} are found");
        refused.extend(refused_circles(&graph(&modules), &DISPATCHERS));
    }
    assert!(refused.is_empty(), "import circles:\n{}", refused.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)], dispatchers: &[&str]) -> Vec<String> {
        let read = |path: &Path| {
            let found = files.iter().find(|(file, _)| Path::new(file) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        refused_circles(&graph(&modules("lib.rs", &read)), dispatchers)
    }

    #[test]
    fn circle_through_reexports_is_found() {
        let found = circles_of(
            &[
                ("lib.rs", "mod a;\nmod b;\npub use b::{Inner as Other, deep::Deep};"),
                ("a.rs", "use crate::{\n    b::{self},\n    Other,\n};\npub struct Outer(Other, b::Inner);"),
                ("b/mod.rs", "mod deep;\nmod inner;\npub use inner::Inner;\npub use deep::*;"),
                ("b/inner.rs", "use super::Deep;\npub struct Inner(Deep);"),
                ("b/deep.rs", "pub struct Deep(Option<&'static crate::a::Outer>);"),
            ],
            &[],
        );
        let expected = "3 files depend on each other:\n  a.rs -> b/inner.rs: Inner\n  \
            b/deep.rs -> a.rs: Outer\n  b/inner.rs -> b/deep.rs: Deep";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn tests_comments_and_reexports_tie_nothing() {
        let found = circles_of(
            &[
                ("lib.rs", "mod a;\nmod b;\npub use a::A;"),
                (
                    "a.rs",
                    "pub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }\n#[cfg(test)]\nuse crate::b::B;",
                ),
                ("b.rs", "// crate::b\nuse crate::A;\npub struct B(A);\nconst TEXT: &str = \"crate::b::B\";"),
            ],
            &[],
        );
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn circle_with_dispatcher_is_allowed_in_its_folder_only() {
        let files = [
            ("lib.rs", "mod rules;"),
            ("rules/mod.rs", "mod all;\nmod one;\nmod two;"),
            ("rules/all.rs", "use super::{one::one, two::two};\npub fn all() { one(); two(); }"),
            ("rules/one.rs", "use super::all::all;\npub fn one() { all(); }"),
            ("rules/two.rs", "use super::all::all;\npub fn two() { all(); }"),
        ];
        assert_eq!(circles_of(&files, &["rules/all.rs"]), Vec::<String>::new());
        assert_eq!(circles_of(&files, &["rules/one.rs"]).len(), 1);
        assert_eq!(circles_of(&files, &[]).len(), 1);
    }
}
