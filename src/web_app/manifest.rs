//! The manifest of the built files, `webpack-stats-production.json`: which files an entry of the app consists of.

use super::problem::WebAppError;
use super::selection::STATIC;
use crate::foreign_text::one_line;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder of the built scripts and style sheets, below the static files.
const BUNDLES: &str = "webpack-bundles";
/// The entry that starts the app.
const APP: &str = "app";
/// Maximum number of files that a manifest names.
const FILES_MAX: usize = 20_000;

#[derive(Deserialize)]
struct Stats {
    status: String,
    chunks: BTreeMap<String, Vec<String>>,
}

/// The files of each entry, in the order in which they are loaded.
#[derive(Clone, Debug)]
pub struct Manifest {
    entries: BTreeMap<String, Vec<String>>,
}

impl Manifest {
    /// Reads a manifest. `Incomplete` if it is not that of a finished build of the app.
    pub fn parse(json: &[u8]) -> Result<Self, WebAppError> {
        let broken = |what: String| WebAppError::Incomplete(format!("webpack-stats-production.json {what}"));
        let stats: Stats = serde_json::from_slice(json)
            .map_err(|error| broken(format!("is not a manifest ({})", one_line(error))))?;
        if stats.status != "done" {
            return Err(broken(format!("has the status {:?}, so the build did not finish", stats.status)));
        }
        if stats.chunks.values().map(Vec::len).sum::<usize>() > FILES_MAX {
            return Err(broken("names too many files".to_owned()));
        }
        let app = stats.chunks.get(APP).map(Vec::as_slice).unwrap_or_default();
        if !app.iter().any(|name| name.ends_with(".js")) {
            return Err(broken("has no scripts for the entry `app`".to_owned()));
        }
        if let Some(name) = stats.chunks.values().flatten().find(|name| !is_plain(name)) {
            return Err(broken(format!("names {name:?}, which is no file name")));
        }
        Ok(Self { entries: stats.chunks })
    }

    /// Checks that every file that it names is there: `Incomplete` with the first that is not.
    pub fn check(&self, root: &Path) -> Result<(), WebAppError> {
        let folder = root.join(STATIC).join(BUNDLES);
        let missing = |name: &&String| !std::fs::metadata(folder.join(name)).is_ok_and(|file| file.is_file());
        match self.entries.values().flatten().find(missing) {
            None => Ok(()),
            Some(name) => Err(WebAppError::Incomplete(format!("{BUNDLES}/{name} is missing"))),
        }
    }

    /// The number of files that it names.
    pub fn file_count(&self) -> usize {
        let mut files: Vec<&String> = self.entries.values().flatten().collect();
        files.sort();
        files.dedup();
        files.len()
    }

    /// The URL paths of an entry's files; none for an unknown entry.
    pub fn urls(&self, entry: &str) -> Vec<String> {
        let files = self.entries.get(entry).into_iter().flatten();
        files.map(|name| format!("/static/{BUNDLES}/{name}")).collect()
    }

    /// The URL paths of the files that start the app.
    pub fn app_urls(&self) -> Vec<String> {
        self.urls(APP)
    }
}

/// Whether a name is a path of plain file names: nothing in it can leave the folder or needs escaping in a page.
fn is_plain(name: &str) -> bool {
    let is_plain_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+".contains(&byte);
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain_byte);
    name.len() <= 512 && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Manifest, String> {
        Manifest::parse(json.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_are_in_the_order_of_the_manifest() {
        let manifest = parse(
            r#"{"status":"done","publicPath":"auto","assets":{},"chunks":{"app":["z.js","a.css"],"signup":["z.js"]}}"#,
        )
        .unwrap();
        assert_eq!(manifest.app_urls(), ["/static/webpack-bundles/z.js", "/static/webpack-bundles/a.css"]);
        assert_eq!((manifest.file_count(), manifest.urls("other").len()), (2, 0));
    }

    #[test]
    fn unfinished_or_hostile_manifests_are_refused() {
        let cases = [
            (r#"{"status":"compile","chunks":{}}"#, "did not finish"),
            (r#"{"status":"done","chunks":{"app":["a.css"]}}"#, "no scripts"),
            (r#"{"status":"done","chunks":{"app":["../a.js"]}}"#, "no file name"),
            (r#"{"status":"done","chunks":{"app":["/a.js"]}}"#, "no file name"),
            (r#"{"status":"done","chunks":{"app":["a\".js"]}}"#, "no file name"),
            ("[]", "not a manifest"),
        ];
        for (json, text) in cases {
            let refused = parse(json).unwrap_err();
            assert!(refused.contains(text), "{json}: {refused}");
        }
    }
}
