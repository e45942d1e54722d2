//! `millstream config`: shows every option, or checks a configuration file.

use crate::config::{Config, ConfigError, DEFAULT_TOML, Overrides};
use std::path::PathBuf;

/// Print the commented default configuration, or check a file.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// Check this file (with the environment's MILLSTREAM_ variables on top) instead of printing the defaults
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

/// Prints or checks.
pub fn run(args: &ConfigArgs) -> Result<(), ConfigError> {
    match &args.check {
        None => print!("{DEFAULT_TOML}"),
        Some(file) => {
            Config::load(Some(file), environment(), Overrides::default())?;
            println!("{} is fine", file.display());
        }
    }
    Ok(())
}

/// The environment, without what is not text: no option can be meant by it.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
