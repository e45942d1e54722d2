//! The binary: reads the command line and does what it says.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    millstream::cli::Cli::parse().run()
}
