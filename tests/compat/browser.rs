//! The HTML pages in a real browser with scripts disabled: Debian's Chromium and its WebDriver server.

use super::{python_or_skip, text};
use crate::support::skip::{not_skipped, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests that are skipped without a browser.
const WHAT: &str = "joining and logging in with a browser";

/// The path of the first of these programs that is installed.
fn program(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

#[test]
fn join_page_in_chromium() {
    walk("join_in_browser.py");
}

#[test]
fn login_page_in_chromium() {
    walk("log_in_with_browser.py");
}

/// Runs a script of `tests/clients` that drives the browser.
fn walk(name: &str) {
    let (browser, driver) = (program(&["chromium", "chromium-browser"]), program(&["chromedriver"]));
    let (Some(browser), Some(driver)) = (browser, driver) else {
        return skip(WHAT, "chromium or chromedriver is not installed");
    };
    not_skipped(WHAT);
    let Some(python) = python_or_skip("browser-python", "browser-requirements.txt") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_millstream")).args([browser, driver]);
    let output = command.output().expect("the script runs");
    let said = text(&output.stdout);
    let last = said.lines().last().unwrap_or("");
    assert!(output.status.success() && last.ends_with(" 0 failed"), "{said}{}", text(&output.stderr));
}
