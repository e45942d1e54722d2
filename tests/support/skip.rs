//! Skipping tests whose third-party program is not installed.
//!
//! Skipped tests are listed at the end of the run by `tests/skipped.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// If set, as in `.ci/run`, a missing program is a failure.
const REQUIRE: &str = "MILLSTREAM_REQUIRE_CLIENTS";

fn note(what: &str) -> PathBuf {
    let name = what.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped").join(name)
}

/// Records that the tests of `what` are skipped, or fails if MILLSTREAM_REQUIRE_CLIENTS is set.
pub fn skip(what: &str, reason: &str) {
    assert!(std::env::var_os(REQUIRE).is_none(), "{what}: {reason}");
    leave_out(what, reason);
}

/// Records that the tests of `what` are skipped, also if MILLSTREAM_REQUIRE_CLIENTS is set: no registry of packages has
/// what they need.
pub fn leave_out(what: &str, reason: &str) {
    let note = note(what);
    let folder = note.parent().expect("a file in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&note, format!("{what}: {reason}\n")))
        .expect("the record is written");
    println!("skipped: {what}: {reason}");
}

/// Removes the record of an earlier run: the program is installed now.
pub fn not_skipped(what: &str) {
    let _ = fs::remove_file(note(what));
}
