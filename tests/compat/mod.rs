//! Unmodified third-party clients against the real program. Their scripts are in `tests/clients`.
//!
//! A client is installed once, into a folder of its own below the target folder. Without its language or network access its
//! tests are skipped, unless MILLSTREAM_REQUIRE_CLIENTS is set, as in `.ci/run`: then they fail.

use crate::support::skip::{not_skipped, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

mod browser;
mod clients;
mod helpers;
mod mobile_app;
mod s3;

/// A lock for each environment, held while it is created.
static INSTALLING: Mutex<BTreeMap<String, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// Lets only one test at a time create the named environment. Different ones are created at the same time.
fn alone<T>(name: &str, create: impl FnOnce() -> T) -> T {
    let lock = {
        let mut all = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(name.to_owned()).or_default().clone()
    };
    let _alone = lock.lock().unwrap_or_else(PoisonError::into_inner);
    create()
}

/// The path of the first of these programs that is installed.
pub fn program(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

/// The Python of the named environment, in which the requirements file of `tests/clients` is installed on first use.
/// `settings` are environment variables for pip.
fn python(name: &str, list: &str, settings: &[(&str, &str)]) -> Result<PathBuf, String> {
    alone(name, || install_python(name, list, settings))
}

fn install_python(name: &str, list: &str, settings: &[(&str, &str)]) -> Result<PathBuf, String> {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(list);
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let python = folder.join("bin/python");
    let marker = folder.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let _ = fs::remove_dir_all(&folder);
    let system = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    run(Command::new(system).args(["-m", "venv"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(Command::new(&python).args(pip).arg(requirements).envs(settings.iter().copied()))?;
    fs::write(&marker, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{command:?}: {}{}", text(&output.stdout), text(&output.stderr))),
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// [`python`], or none with the tests skipped if it cannot be installed.
pub fn python_or_skip(name: &str, list: &str) -> Option<PathBuf> {
    python_with(name, list, &[])
}

/// [`python_or_skip`] with settings of pip.
fn python_with(name: &str, list: &str, settings: &[(&str, &str)]) -> Option<PathBuf> {
    match python(name, list, settings) {
        Ok(python) => {
            not_skipped(name);
            Some(python)
        }
        Err(reason) => {
            let last = reason.lines().last().unwrap_or_default();
            skip(name, &format!("the packages of tests/clients/{list} cannot be installed: {last}"));
            None
        }
    }
}

#[test]
fn zulip_python_client() {
    let Some(python) = python_or_skip("zulip-python", "requirements.txt") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/zulip_python.py");
    let output = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_millstream")).output();
    assert_passed(&output.expect("the script runs"));
}

/// Fails unless a script says at its end that it had no failures.
fn assert_passed(output: &Output) {
    let said = text(&output.stdout);
    let last = said.lines().last().unwrap_or("");
    assert!(output.status.success() && last.ends_with(" 0 failed"), "{said}{}", text(&output.stderr));
    println!("{last}");
}
