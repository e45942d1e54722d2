//! One test for each client: its script in `tests/clients` runs against a development server of its own.

use super::{alone, assert_passed, program, python_or_skip, python_with, run};
use crate::support::ServerProcess;
use crate::support::skip::{leave_out, not_skipped, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file below `tests/clients`.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(path)
}

/// The folder where the named client is installed.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs a script with the URL of a new server as its first argument.
fn check(mut command: Command, script: &str, more: &[&Path]) {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let output = command.arg(file(script)).arg(&server.url).args(more).output();
    assert_passed(&output.expect("the script runs"));
    server.terminate();
    assert!(server.wait().success());
}

/// Runs the script of a client from PyPI.
fn check_python(client: &str) {
    let name = format!("{}-python", client.replace('_', "-"));
    let Some(python) = python_or_skip(&name, &format!("{client}/requirements.txt")) else { return };
    check(Command::new(python), &format!("{client}/check.py"), &[]);
}

#[test]
fn zulip_bots() {
    check_python("zulip_bots");
}

#[test]
fn apprise() {
    check_python("apprise");
}

#[test]
fn model_context_protocol_server() {
    check_python("mcp");
}

#[test]
fn zulip_term() {
    // Its package excludes Python 3.11 and newer, on which it works nevertheless.
    let settings = [("PIP_IGNORE_REQUIRES_PYTHON", "1")];
    let found = python_with("zulip-term-python", "zulip_term/requirements.txt", &settings);
    let Some(python) = found else { return };
    check(Command::new(python), "zulip_term/check.py", &[]);
}

#[test]
fn schemathesis() {
    check_python("schemathesis");
}

#[test]
fn openapi_client() {
    check_python("openapi_client");
}

/// A checkout of errbot's backend, which no registry of packages has.
const ERRBOT_BACKEND: &str = "MILLSTREAM_ERRBOT_BACKEND";

#[test]
fn errbot() {
    const WHAT: &str = "errbot with its Zulip backend";
    if std::env::var_os(ERRBOT_BACKEND).is_none() {
        return leave_out(WHAT, &format!("{ERRBOT_BACKEND} does not name a checkout of the backend"));
    }
    not_skipped(WHAT);
    check_python("errbot");
}

/// The OpenAPI document of the reference server, which is not part of this project.
const OPENAPI: &str = "MILLSTREAM_OPENAPI";

#[test]
fn openapi_document() {
    const WHAT: &str = "the reference's OpenAPI document";
    let Some(document) = std::env::var_os(OPENAPI) else {
        return leave_out(WHAT, &format!("{OPENAPI} does not name the document"));
    };
    not_skipped(WHAT);
    let Some(python) = python_or_skip("openapi-python", "openapi/requirements.txt") else { return };
    check(Command::new(python), "openapi/check.py", &[Path::new(&document)]);
}

/// The `node_modules` with the package, installed on first use.
fn install_node(name: &str, list: &str) -> Result<PathBuf, String> {
    let (list, folder) = (file(list), folder(name));
    let wanted = fs::read_to_string(&list).map_err(|error| error.to_string())?;
    let marker = folder.join("installed");
    if !fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        fs::copy(&list, folder.join("package.json")).map_err(|error| error.to_string())?;
        let install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
        run(Command::new("npm").args(install).current_dir(&folder))?;
        fs::write(&marker, wanted).map_err(|error| error.to_string())?;
    }
    Ok(folder.join("node_modules"))
}

#[test]
fn zulip_js() {
    const WHAT: &str = "zulip-js";
    let modules = match alone(WHAT, || install_node(WHAT, "zulip_js/package.json")) {
        Ok(modules) => modules,
        Err(reason) => return skip(WHAT, reason.lines().last().unwrap_or_default()),
    };
    not_skipped(WHAT);
    let mut node = Command::new("node");
    node.env("NODE_PATH", modules);
    check(node, "zulip_js/check.js", &[]);
}

#[test]
fn axe_finds_nothing_on_any_page() {
    const WHAT: &str = "axe on every page";
    let (browser, driver) = (program(&["chromium", "chromium-browser"]), program(&["chromedriver"]));
    let (Some(browser), Some(driver)) = (browser, driver) else {
        return skip(WHAT, "chromium or chromedriver is not installed");
    };
    let modules = match alone(WHAT, || install_node("axe", "axe/package.json")) {
        Ok(modules) => modules,
        Err(reason) => return skip(WHAT, reason.lines().last().unwrap_or_default()),
    };
    let Some(python) = python_or_skip("browser-python", "browser-requirements.txt") else { return };
    not_skipped(WHAT);
    let mut command = Command::new(python);
    command.arg(file("axe/check.py")).arg(env!("CARGO_BIN_EXE_millstream")).args([browser, driver]);
    assert_passed(&command.arg(modules.join("axe-core/axe.min.js")).output().expect("the script runs"));
}

/// The folder in which the tests of the crate are built, after Cargo has fetched it and what it needs.
fn fetch_crate(name: &str) -> Result<PathBuf, String> {
    let folder = folder(name);
    let package = folder.join("package");
    fs::create_dir_all(&package).map_err(|error| error.to_string())?;
    fs::copy(file("zulip_api/Cargo.toml"), package.join("Cargo.toml")).map_err(|error| error.to_string())?;
    fs::write(package.join("none.rs"), "").map_err(|error| error.to_string())?;
    run(Command::new(env!("CARGO")).args(["fetch", "--quiet"]).current_dir(&package))?;
    Ok(folder)
}

#[test]
fn zulip_api() {
    const WHAT: &str = "zulip-api";
    let folder = match alone(WHAT, || fetch_crate(WHAT)) {
        Ok(folder) => folder,
        Err(reason) => return skip(WHAT, reason.lines().last().unwrap_or_default()),
    };
    not_skipped(WHAT);
    let mut python = Command::new("python3");
    python.env("CARGO", env!("CARGO"));
    check(python, "zulip_api/check.py", &[&folder]);
}
