//! The ready-made helpers for test suites of clients: the pytest plugin and the helper for Node, with their examples, against
//! a server that they start and against one that runs already.

use super::{program, python_or_skip, text};
use crate::support::ServerProcess;
use crate::support::skip::{not_skipped, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_millstream");

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

fn assert_green(command: &mut Command, expected: &str) {
    let output = command.output().expect("the test runner starts");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success() && said.contains(expected), "{said}");
}

/// Runs a test runner twice: with the program, and with the URL of a running server.
fn check(runner: impl Fn() -> Command, expected: &str) {
    assert_green(runner().env("MILLSTREAM", BINARY), expected);
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    assert_green(runner().env("MILLSTREAM_URL", &server.url).env("MILLSTREAM", "/none"), expected);
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        // Only the log has another URL than that of 127.0.0.1.
        let log = [("MILLSTREAM_LOG_FILTER", "info"), ("MILLSTREAM_LOG_FORMAT", "json")];
        let server = ServerProcess::start(&["dev", "--listen", "[::1]:0"], &log);
        assert!(server.url.starts_with("http://[::1]:"), "{}", server.url);
        assert_green(runner().env("MILLSTREAM_URL", &server.url).env("MILLSTREAM", "/none"), expected);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let other = ServerProcess::start(&["serve", "--listen", "127.0.0.1:0", "--data", &data], &[]);
    let output = runner().env("MILLSTREAM_URL", &other.url).output().expect("the test runner starts");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(!output.status.success() && said.contains("is no development server"), "{said}");
    assert!(!said.contains("Traceback"), "{said}");
    for wrong in [server.url.replace("http://", ""), server.url.replace("http:", "ftp:")] {
        let output = runner().env("MILLSTREAM_URL", &wrong).output().expect("the test runner starts");
        let said = text(&output.stdout) + &text(&output.stderr);
        let problem = format!("MILLSTREAM_URL must be a URL such as http://127.0.0.1:9991, not {wrong}");
        assert!(!output.status.success() && said.contains(&problem), "{said}");
    }
}

#[test]
fn pytest_plugin() {
    let Some(python) = python_or_skip("pytest-python", "pytest_millstream/requirements.txt") else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pytest-cache");
    let runner = || {
        let mut pytest = Command::new(&python);
        pytest.args(["-B", "-m", "pytest", "-q", "-o"]).arg(format!("cache_dir={}", cache.display()));
        pytest.current_dir(folder("pytest_millstream"));
        pytest
    };
    check(runner, "11 passed");
}

#[test]
fn node_helper() {
    const WHAT: &str = "the helper for Node";
    let Some(node) = program(&["node"]) else { return skip(WHAT, "node is not installed") };
    not_skipped(WHAT);
    let runner = || {
        let mut command = Command::new(&node);
        command.args(["--test", "--test-reporter=tap"]).current_dir(folder("node"));
        command
    };
    check(runner, "# fail 0");
}
