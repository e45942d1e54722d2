//! `millstream config`: prints the default configuration, or checks a configuration file.

use super::error::CliError;
use super::print::{print_note, print_text};
use crate::config::{Config, DEFAULT_TOML, Sources, unknown_variables};
use crate::hosts::Hosts;
use crate::integrations::delivery::DeliveryWorkers;
use crate::integrations::incoming::Catalog;
use crate::server::ServeError;
use std::path::PathBuf;
use std::sync::Arc;

/// Print the default configuration with every option explained, or check a file
///
/// The check is the same as that of `serve`: it reports all problems at once, with file and line.
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// Check this file, overridden by the MILLSTREAM_ environment variables, instead of printing
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

/// Prints or checks.
pub fn run(args: &ConfigArgs) -> Result<(), CliError> {
    match &args.check {
        None => print_text(DEFAULT_TOML),
        Some(file) => {
            let environment: Vec<_> = environment().collect();
            let sources =
                Sources { file: Some(file), environment: environment.clone(), ..Sources::default() };
            let config = Config::of_server(&sources)?;
            check_start(&config)?;
            for variable in unknown_variables(&environment) {
                print_note(format_args!(
                    "millstream: the environment variable {variable} is not an option and is ignored"
                ));
            }
            print_text(&format!("{} is valid\n", file.display()))
        }
    }
}

/// What the start of a server would refuse beyond that. Nothing is opened, and nothing is delivered.
fn check_start(config: &Config) -> Result<(), ServeError> {
    Catalog::load(config.incoming_webhooks.catalog_dir())?;
    DeliveryWorkers::new(config, Arc::new(Hosts::new(config, false)), false)?;
    Ok(())
}

/// The environment variables that are valid text; others cannot be options.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
