//! A real browser: the miniature app from log-in to log-out and across `kill -9`, and the real app where
//! `MILLSTREAM_WEB_APP` names its archive.

use crate::compat::{program, python_or_skip, text};
use crate::support::skip::{leave_out, not_skipped, skip};
use crate::support::web_app::MiniRelease;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with the path of a release archive of the Zulip server.
const ARCHIVE: &str = "MILLSTREAM_WEB_APP";
const MINI: &str = "the web app in a browser";
const REAL: &str = "Zulip's own web app in a browser";

/// Runs a script of `tests/clients` with the program, an archive, the browser and its driver.
fn visit(what: &str, script: &str, archive: &Path) {
    let (browser, driver) = (program(&["chromium", "chromium-browser"]), program(&["chromedriver"]));
    let (Some(browser), Some(driver)) = (browser, driver) else {
        return skip(what, "chromium or chromedriver is not installed");
    };
    let Some(python) = python_or_skip("browser-python", "browser-requirements.txt") else { return };
    not_skipped(what);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_millstream")).arg(archive).args([browser, driver]);
    let output = command.output().expect("the script runs");
    let said = text(&output.stdout);
    let last = said.lines().last().unwrap_or("");
    assert!(output.status.success() && last.ends_with(" 0 failed"), "{said}{}", text(&output.stderr));
}

#[test]
fn miniature_app_in_chromium() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join("zulip-server-11.4.tar.gz");
    MiniRelease::new().write_archive(&archive);
    visit(MINI, "web_app_in_browser.py", &archive);
}

#[test]
fn real_app_in_chromium() {
    let Some(archive) = std::env::var_os(ARCHIVE).map(PathBuf::from) else {
        // Not a failure with MILLSTREAM_REQUIRE_CLIENTS: the archive is not ours to download.
        return leave_out(REAL, &format!("{ARCHIVE} is not set to a release archive"));
    };
    assert!(archive.is_file(), "{} is not a file", archive.display());
    visit(REAL, "web_app_walk.py", &archive);
}
