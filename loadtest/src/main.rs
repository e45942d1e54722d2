//! `loadtest`: load tests over HTTP. It uses the API only and no code of the server, so it measures what clients get.

mod attribution;
mod baseline;
mod cli;
mod client;
mod compare;
mod counters;
mod driver;
mod error;
mod expect;
#[cfg(test)]
mod fake;
mod history;
mod http;
mod interrupt;
mod listening;
mod machine;
mod organizations;
mod outcome;
mod output;
mod pace;
mod process;
mod rate_limit;
mod recorder;
mod report;
mod runner;
mod scenario;
mod session;
mod setup;
mod spawned;
mod text;
mod units;

use std::process::ExitCode;

/// That of the server, so that the bare server has it too.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::error::LoadError;
use crate::interrupt::{Interrupt, Interrupter};
use crate::output::note;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            note(format!("loadtest: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Runs a command; `false` if an expectation was missed.
fn run(cli: Cli) -> Result<bool, LoadError> {
    let command = match cli.command {
        // The bare server has a runtime of its own.
        Command::BareServer { file } => return baseline::bare::serve(file).map(|()| true),
        Command::Scenarios => return runner::list_scenarios().map(|()| true),
        Command::History(args) => return history::record(&args).map(|()| true),
        Command::Overlay(args) => return compare::overlay(&args).map(|()| true),
        command => command,
    };
    let mut builder = match cli.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder
        .worker_threads(usize::from(cli.threads))
        .enable_all()
        .build()
        .map_err(|error| LoadError::Server(format!("no runtime: {error}")))?;
    runtime.block_on(async move {
        let (interrupter, interrupt) = Interrupter::new();
        tokio::spawn(interrupter.listen());
        tokio::select! {
            met = measure(command, &interrupt) => met,
            // Dropping the run kills the servers that it has started.
            signal = interrupt.second() => Err(LoadError::Interrupted(format!("{signal} twice"))),
        }
    })
}

/// Runs a command that sends requests.
async fn measure(command: Command, interrupt: &Interrupt) -> Result<bool, LoadError> {
    match command {
        Command::Run(args) => runner::run(args, interrupt).await,
        Command::Compare(args) => compare::compare(args, interrupt).await,
        Command::Start(args) => runner::start(args, interrupt).await,
        Command::Baseline(args) => tokio::select! {
            done = runner::baseline(args) => done.map(|()| true),
            signal = interrupt.first() => Err(LoadError::Interrupted(signal.to_owned())),
        },
        Command::BareServer { .. } | Command::Scenarios | Command::Overlay(_) | Command::History(_) => {
            Ok(true)
        }
    }
}
