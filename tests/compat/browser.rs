//! A real browser without scripts, for the few pages that there are: Debian's Chromium, driven by its own driver.

use super::{python_or_skip, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of one of these names, wherever programs are.
fn program(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

#[test]
fn somebody_joins_in_a_browser() {
    let (browser, driver) = (program(&["chromium", "chromium-browser"]), program(&["chromedriver"]));
    let (Some(browser), Some(driver)) = (browser, driver) else {
        assert!(
            std::env::var_os("MILLSTREAM_REQUIRE_CLIENTS").is_none(),
            "chromium or chromedriver is missing"
        );
        return println!("skipped, chromium or chromedriver is missing here");
    };
    let Some(python) = python_or_skip("browser-python", "browser-requirements.txt") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/join_in_browser.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_millstream")).args([browser, driver]);
    let output = command.output().expect("the script runs");
    let said = text(&output.stdout);
    let last = said.lines().last().unwrap_or("");
    assert!(output.status.success() && last.ends_with(" 0 failed"), "{said}{}", text(&output.stderr));
}
