//! `millstream check`: its arguments.

use std::path::PathBuf;

/// Check a data folder: the journal's checksums, the trees against each other and against the journal.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", default_value = "millstream-data")]
    pub data: PathBuf,
}
