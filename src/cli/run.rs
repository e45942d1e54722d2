//! Runs a server until a signal stops it.

use super::error::CliError;
use super::logging::{LogControl, start_logging};
use super::signal::{Request, Signals, StopSignal};
use crate::config::{Config, ConfigError, unknown_variables};
use crate::server::{Running, Setup, serve};
use std::io::Write;

/// Starts a server, prints the greeting once it accepts connections, and stops it at SIGTERM or SIGINT. A second
/// signal during shutdown ends the process at once, as a kill would: nothing acknowledged is lost. At SIGHUP the
/// configuration is reloaded; options that cannot change at run time are logged.
pub fn run_until_stopped(
    setup: Setup,
    load: impl Fn() -> Result<Config, ConfigError>,
    greet: impl FnOnce(&Running) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let log = start_logging(&setup.config.log)?;
    let environment: Vec<_> = super::config::environment().collect();
    for variable in unknown_variables(&environment) {
        tracing::warn!(variable, "this environment variable is not an option and is ignored");
    }
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::new()
            .map_err(|reason| CliError::System { what: "cannot listen for signals", reason })?;
        let running = tokio::select! {
            running = serve(setup) => running?,
            signal = signals.stop() => return Err(CliError::Interrupted(signal)),
        };
        if let Err(error) = greet(&running) {
            running.stop().await?;
            return Err(error);
        }
        let signal = wait_for_stop(&mut signals, &running, &log, load).await;
        tracing::info!(signal = signal.name(), "stopping");
        tokio::select! {
            stopped = running.stop() => stopped?,
            signal = signals.stop() => {
                tracing::warn!(signal = signal.name(), "stopped without waiting for requests");
                return Err(CliError::Interrupted(signal));
            }
        }
        tracing::info!("stopped");
        Ok(())
    })
}

/// Prints a greeting. A closed standard output is not an error.
pub fn print_greeting(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

async fn wait_for_stop(
    signals: &mut Signals,
    running: &Running,
    log: &LogControl,
    load: impl Fn() -> Result<Config, ConfigError>,
) -> StopSignal {
    // The active configuration: options that need a restart keep their values.
    let started = &running.app().config;
    loop {
        match signals.next().await {
            Request::Stop(signal) => return signal,
            Request::Reload => match load() {
                Ok(config) => apply(&config, started, running, log),
                Err(error) => tracing::error!(%error, "the configuration was not reloaded"),
            },
        }
    }
}

/// Applies the options that can change at run time, and loads the web app that is installed now; logs the names of all
/// other options that differ.
fn apply(config: &Config, started: &Config, running: &Running, log: &LogControl) {
    if let Err(error) = log.set_filter(&config.log) {
        tracing::error!(%error, "the log filter was not changed");
    }
    running.app().limits.set_rules(config.rate_limit_rules());
    running.app().web_app.reload();
    let need_restart = config.changed_options(started, RELOADABLE);
    if !need_restart.is_empty() {
        tracing::warn!(options = need_restart.join(", "), "changed options that take effect after a restart");
    }
    tracing::info!("configuration reloaded");
}

/// Prefixes of the options that take effect at SIGHUP.
const RELOADABLE: &[&str] = &["log.filter", "limits."];
