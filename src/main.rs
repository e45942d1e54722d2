//! The binary: parses the command line and runs the command.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    millstream::cli::Cli::parse().run()
}
