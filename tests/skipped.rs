//! Not a test: runs after the integration tests and lists those that were skipped because a third-party program is
//! missing.

use std::fs;
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped");
    let notes = fs::read_dir(&folder).map(|entries| entries.flatten().collect()).unwrap_or_default();
    let notes: Vec<fs::DirEntry> = notes;
    if notes.is_empty() {
        return println!("\nno integration test was skipped\n");
    }
    println!("\n{} kinds of integration tests were SKIPPED, because a program is missing:", notes.len());
    for note in notes {
        print!("  {}", fs::read_to_string(note.path()).unwrap_or_default());
    }
    println!("See CONTRIBUTING.md (Build and test) for what to install.\n");
}
