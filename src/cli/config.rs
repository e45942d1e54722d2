//! `millstream config`: shows every option, or checks a configuration file.

use super::error::CliError;
use super::logging::parse_filter;
use crate::config::{Config, DEFAULT_TOML, Overrides};
use std::path::PathBuf;

/// Print a configuration file with every option, its default and what it is for; or check a file.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// Check this file, with the MILLSTREAM_ variables of the environment on top, instead of printing
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

/// Prints or checks.
pub fn run(args: &ConfigArgs) -> Result<(), CliError> {
    match &args.check {
        None => print!("{DEFAULT_TOML}"),
        Some(file) => {
            let config = Config::load(Some(file), environment(), Overrides::default())?;
            parse_filter(&config.log)?;
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
