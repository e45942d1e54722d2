//! The HTML pages in a real browser with scripts disabled: Debian's Chromium and its WebDriver server.

use super::program;
use super::{assert_passed, python_or_skip};
use crate::support::skip::{not_skipped, skip};
use std::path::Path;
use std::process::Command;

/// The tests that are skipped without a browser.
const WHAT: &str = "joining and logging in with a browser";

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
    assert_passed(&command.output().expect("the script runs"));
}
