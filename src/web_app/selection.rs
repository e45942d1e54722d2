//! Which files of a release are installed, and where.

use super::problem::WebAppError;

const PATH_LENGTH_MAX: usize = 512;
/// The folders and files at the top of a release from which something is taken.
const ROOTS: [&str; 7] = [
    "prod-static",
    "locale",
    "templates",
    "webpack-stats-production.json",
    "staticfiles.json",
    "version.py",
    "version",
];

/// The built files in a release, which are served below `/static/`.
pub const SERVED: &str = "prod-static/serve";
/// Their folder in an installation.
pub const STATIC: &str = "static";
pub const MANIFEST: &str = "webpack-stats-production.json";
pub const STATIC_NAMES: &str = "staticfiles.json";
pub const VERSION_PY: &str = "version.py";
pub const VERSION: &str = "version";
pub const LANGUAGES: &str = "locale/language_name_map.json";
/// The templates of the page, in an installation.
pub const INDEX: &str = "templates/index.html";
pub const BASE: &str = "templates/base.html";

/// A path in an archive, without the folder that releases are packed in.
///
/// # Errors
/// `Outside` for absolute paths and for those with `..`.
pub fn inside(path: &str) -> Result<String, WebAppError> {
    let outside = || WebAppError::Outside(path.chars().take(200).collect());
    if path.starts_with('/') || path.contains(['\\', '\0']) {
        return Err(outside());
    }
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err(outside());
        }
        parts.push(part);
    }
    let has_root = parts.first().is_some_and(|first| ROOTS.contains(first));
    let skipped = if has_root { 0 } else { 1.min(parts.len()) };
    Ok(parts.get(skipped..).unwrap_or_default().join("/"))
}

/// Where a file of a release is installed; none for files that are not needed.
pub fn destination(path: &str) -> Option<String> {
    let is_hidden = path.split('/').any(|part| part.is_empty() || part.starts_with('.'));
    if is_hidden || path.len() > PATH_LENGTH_MAX {
        return None;
    }
    if let Some(file) = path.strip_prefix(SERVED).and_then(|rest| rest.strip_prefix('/')) {
        return Some(format!("{STATIC}/{file}"));
    }
    match path {
        MANIFEST | STATIC_NAMES | VERSION_PY | VERSION | LANGUAGES => Some(path.to_owned()),
        "templates/zerver/base.html" => Some(BASE.to_owned()),
        "templates/zerver/app/index.html" => Some(INDEX.to_owned()),
        _ if is_translation(path) => Some(path.to_owned()),
        _ => None,
    }
}

/// Whether a path is `locale/LOCALE/translations.json`.
fn is_translation(path: &str) -> bool {
    let mut parts = path.split('/');
    let ends = [parts.next(), parts.nth(1), parts.next()];
    ends == [Some("locale"), Some("translations.json"), None]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_files_have_their_place() {
        let place = |path: &str| destination(&inside(path).unwrap());
        let cases = [
            ("zulip-server-11.4/prod-static/serve/images/favicon.svg", Some("static/images/favicon.svg")),
            ("./zulip-server-11.4/prod-static/serve/a.js.gz", Some("static/a.js.gz")),
            ("prod-static/serve/a.js", Some("static/a.js")),
            ("zulip-server-11.4/webpack-stats-production.json", Some("webpack-stats-production.json")),
            ("zulip-server-11.4/version.py", Some("version.py")),
            ("zulip-server-11.4/templates/zerver/app/index.html", Some("templates/index.html")),
            ("zulip-server-11.4/templates/zerver/base.html", Some("templates/base.html")),
            ("zulip-server-11.4/locale/de/translations.json", Some("locale/de/translations.json")),
            ("zulip-server-11.4/locale/de/LC_MESSAGES/django.po", None),
            ("zulip-server-11.4/locale/translations.json", None),
            ("zulip-server-11.4/manage.py", None),
            ("zulip-server-11.4/puppet/version.py", None),
            ("zulip-server-11.4/prod-static/serve/.hidden", None),
            ("zulip-server-11.4/prod-static/serve", None),
        ];
        for (path, expected) in cases {
            assert_eq!(place(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for path in ["/etc/passwd", "z/../../x", "z/prod-static/serve/../../x", "z\\x", "../version.py"] {
            assert!(matches!(inside(path), Err(WebAppError::Outside(_))), "{path}");
        }
    }
}
