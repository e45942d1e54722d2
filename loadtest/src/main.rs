//! `loadtest`: load tests over HTTP. It uses the API only and no code of the server, so it measures what clients get.

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
mod text;
mod units;

use std::process::ExitCode;

/// That of the server, so that the bare server has it too.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Cli, Command};
use crate::error::LoadError;
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
        tokio::select! {
            met = measure(command) => met,
            // Dropping the run stops the servers that it has started.
            signal = interrupted() => Err(LoadError::Server(format!(
                "interrupted by {signal}: the results have only the scenarios that were finished"
            ))),
        }
    })
}

/// Runs a command that sends requests.
async fn measure(command: Command) -> Result<bool, LoadError> {
    match command {
        Command::Run(args) => runner::run(args).await,
        Command::Compare(args) => compare::compare(args).await,
        Command::Baseline(args) => runner::baseline(args).await.map(|()| true),
        Command::Start(args) => runner::start(args).await,
        Command::BareServer { .. } | Command::Scenarios | Command::Overlay(_) | Command::History(_) => {
            Ok(true)
        }
    }
}

/// Waits for a signal to end, and returns its name; for ever where signals cannot be received.
async fn interrupted() -> &'static str {
    let received = |kind| async move {
        match signal(kind) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    let hung_up = async {
        // As `nohup` wants it.
        if process::ignores_hangup() {
            std::future::pending::<()>().await;
        }
        received(SignalKind::hangup()).await;
    };
    tokio::select! {
        () = received(SignalKind::interrupt()) => "SIGINT",
        () = received(SignalKind::terminate()) => "SIGTERM",
        () = hung_up => "SIGHUP",
    }
}
