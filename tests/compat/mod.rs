//! Clients that others wrote, unmodified, against the real program. Their scripts are in `tests/clients`.
//!
//! A client is installed once, into a virtual environment under the target folder. Where that is not
//! possible (no Python, no network) its test says so and does nothing, unless MILLSTREAM_REQUIRE_CLIENTS is
//! set, as the gate does: then it fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

mod browser;
mod s3;

/// Held while an environment is made.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The Python of an environment of this name with what a file of `tests/clients` lists, installed on first use.
fn python(name: &str, list: &str) -> Result<PathBuf, String> {
    // Tests that need the same environment would tear it down for each other while it is made.
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
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
    run(Command::new(&python).args(pip).arg(requirements))?;
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The same; none where that is not possible and may be left out.
fn python_or_skip(name: &str, list: &str) -> Option<PathBuf> {
    match python(name, list) {
        Ok(python) => Some(python),
        Err(reason) if std::env::var_os("MILLSTREAM_REQUIRE_CLIENTS").is_some() => panic!("{reason}"),
        Err(reason) => {
            println!("skipped, the packages cannot be installed here: {reason}");
            None
        }
    }
}

#[test]
fn the_zulip_package_from_pypi() {
    let Some(python) = python_or_skip("zulip-python", "requirements.txt") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/zulip_python.py");
    let output = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_millstream")).output();
    let output = output.expect("the script runs");
    let said = text(&output.stdout);
    let last = said.lines().last().unwrap_or("");
    assert!(output.status.success() && last.ends_with(" 0 failed"), "{said}{}", text(&output.stderr));
}
