//! Runs a server until a signal stops it.

use super::error::CliError;
use super::logging::{LogControl, start_logging};
use super::notify;
use super::print::{print_note, print_text};
use super::signal::{Request, Signals, StopSignal};
use crate::admin::{self, AdminRequest, Answer, AnswerSender, ControlSocket, Pending};
use crate::clock_check::warn_if_behind;
use crate::config::{Config, ConfigError, Log, unknown_variables};
use crate::doctor;
use crate::open_files;
use crate::server::{Running, ServeError, Setup, serve_unless};
use actors::folder_access::unwritable_folder;
use actors::{DomainError, SystemClock};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the stop of a server takes whose trees do not answer: accepted requests are finished meanwhile.
const HANGING_STOP_MAX: Duration = Duration::from_secs(10);

/// How long a start that was interrupted is waited for.
const REST_OF_START_MAX: Duration = Duration::from_secs(1);

/// Why a server ends whose trees do not answer.
const HANGING: &str =
    "the database in state/ does not answer since a disk error; the next start opens it again";

/// Refuses a data folder in which this user, its owner, cannot write.
fn check_writable(data: &Path) -> Result<(), CliError> {
    match unwritable_folder(data) {
        None => Ok(()),
        Some((folder, error)) => {
            Err(CliError::Refused(format!("the data folder: {}", doctor::unwritable(&folder, &error))))
        }
    }
}

/// Starts a server, prints the greeting once it accepts connections, and stops it at SIGTERM or SIGINT. A second
/// signal during shutdown ends the process at once, as a kill would: nothing acknowledged is lost. At SIGHUP the
/// configuration is reloaded; options that cannot change at run time are logged. When the trees do not answer after a fault of
/// the disk, the process ends with exit code 1, because only another one can open them.
pub fn run_until_stopped(
    mut setup: Setup,
    load: impl Fn() -> Result<Config, ConfigError>,
    greet: impl FnOnce(&Running) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let log = start_logging(&setup.config.log)?;
    let environment: Vec<_> = super::config::environment().collect();
    for variable in unknown_variables(&environment) {
        tracing::warn!(variable, "this environment variable is not an option and is ignored");
    }
    check_writable(&setup.config.data)?;
    open_files::raise(&mut setup.config);
    warn_if_behind(&setup.config.data);
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::new()
            .map_err(|reason| CliError::System { what: "cannot listen for signals", reason })?;
        let (cancel, cancelled) = oneshot::channel();
        let cancelled = async { cancelled.await.unwrap_or(()) };
        let mut start = std::pin::pin!(serve_unless(setup, Arc::new(SystemClock), cancelled));
        let running = tokio::select! {
            running = &mut start => running?,
            signal = signals.stop() => return Err(interrupted((start, cancel), signal, &mut signals).await),
        };
        tracing::info!(address = %running.address(), "listening");
        if let Some(address) = running.metrics_address() {
            tracing::info!(%address, "listening for metrics");
        }
        if let Err(error) = greet(&running) {
            running.stop().await?;
            return Err(error);
        }
        let control = ControlSocket::listen(&running.app().config.data);
        if let Err(reason) = &control {
            tracing::warn!(%reason, "there is no control socket: the operator's commands need a stopped server");
        }
        tracing::info!(url = running.url(), version = env!("CARGO_PKG_VERSION"), "ready");
        notify::ready();
        let hang = running.app().server.trees_hang();
        tokio::pin!(hang);
        let signal = tokio::select! {
            signal = wait_for_stop(&mut signals, &running, &log, (&load, control.ok())) => Some(signal),
            () = &mut hang => None,
        };
        match signal {
            Some(signal) => stop(running, signal, &mut signals).await,
            None => end_in_failure(stop_hanging(running).await),
        }
    })
}

/// Ends a start after a signal. An organization that is being made from a seed is left as it is, for the next start to make it again;
/// a start that is nearly done is finished and the server stopped, so that nothing is written after the folder of a temporary server
/// was deleted. A second signal ends the process at once.
async fn interrupted(
    (start, cancel): (impl Future<Output = Result<Running, ServeError>>, oneshot::Sender<()>),
    signal: StopSignal,
    signals: &mut Signals,
) -> CliError {
    // The start may have ended.
    let _ = cancel.send(());
    let end = async {
        if let Ok(Ok(running)) = tokio::time::timeout(REST_OF_START_MAX, start).await {
            // The process ends as it would without: nothing was acknowledged.
            let _ = running.stop().await;
        }
    };
    tokio::select! {
        () = end => CliError::Interrupted(signal),
        signal = signals.stop() => CliError::Interrupted(signal),
    }
}

/// Stops a server after a signal; a second one ends the process at once.
async fn stop(running: Running, signal: StopSignal, signals: &mut Signals) -> Result<(), CliError> {
    notify::stopping();
    tracing::info!(signal = signal.name(), "stopping");
    tokio::select! {
        stopped = running.stop() => {
            if let Err(error) = stopped {
                end_in_failure(error);
            }
        }
        signal = signals.stop() => {
            tracing::warn!(signal = signal.name(), "stopped by a second signal, without waiting for requests");
            return Err(CliError::Interrupted(signal));
        }
    }
    tracing::info!("stopped");
    Ok(())
}

/// Stops a server whose trees do not answer, as far as that is possible. Returns the reason of its end.
async fn stop_hanging(running: Running) -> DomainError {
    match tokio::time::timeout(HANGING_STOP_MAX, running.stop()).await {
        Ok(Err(error)) => error,
        Ok(Ok(())) | Err(_) => DomainError::Storage(HANGING.to_owned()),
    }
}

/// Ends the process without waiting for its threads, some of which may never end. Nothing acknowledged is lost by that.
fn end_in_failure(error: DomainError) -> ! {
    print_note(format_args!("millstream: {}", CliError::Data(error)));
    std::process::exit(1)
}

/// Prints a greeting, if that is possible: the server runs also without it.
pub fn print_greeting(text: &str) {
    let _ = print_text(&format!("{text}\n"));
}

async fn wait_for_stop(
    signals: &mut Signals,
    running: &Running,
    log: &LogControl,
    (load, mut control): (&impl Fn() -> Result<Config, ConfigError>, Option<ControlSocket>),
) -> StopSignal {
    loop {
        let next = async {
            match &mut control {
                Some(control) => control.next().await,
                None => std::future::pending().await,
            }
        };
        let pending = tokio::select! {
            request = signals.next() => match request {
                Request::Stop(signal) => return signal,
                Request::Reload => {
                    if let Err(error) = reload(load, running, log) {
                        tracing::error!(%error, "the configuration was not reloaded");
                    }
                    continue;
                }
            },
            Some(pending) = next => pending,
        };
        match pending {
            Pending::Request(request, answer) => execute(request, answer, running, log, load),
            Pending::Export(wanted, stream) => {
                actix_rt::spawn(admin::send_export(running.app().clone(), wanted, stream));
            }
        }
    }
}

/// Executes a request of the operator; long work continues after this returns.
fn execute(
    request: AdminRequest,
    answer: AnswerSender,
    running: &Running,
    log: &LogControl,
    load: &impl Fn() -> Result<Config, ConfigError>,
) {
    let done = match request {
        AdminRequest::Reload => reload(load, running, log).map_err(|error| error.to_string()),
        AdminRequest::Probe => {
            let token = running.app().probe.token().to_owned();
            Ok(Answer::of(token.clone(), json!({"word": token})))
        }
        AdminRequest::Address => {
            let (url, address) = (running.url(), running.address());
            let value = json!({"address": address, "is_encrypted": url.starts_with("https:")});
            Ok(Answer::of(url, value))
        }
        AdminRequest::LogLevel { filter } => set_filter(running, log, filter),
        request => {
            let server = running.app().server.clone();
            actix_rt::spawn(async move {
                let done = admin::execute(&server, request).await;
                let _ = answer.send(done.map_err(|error| error.to_string()));
            });
            return;
        }
    };
    // The client may have disconnected.
    drop(answer.send(done));
}

/// Reads the configuration again and applies it.
fn reload(
    load: &impl Fn() -> Result<Config, ConfigError>,
    running: &Running,
    log: &LogControl,
) -> Result<Answer, ConfigError> {
    // The active configuration: options that need a restart keep their values.
    let need_restart = apply(&load()?, &running.app().config, running, log);
    let line = match need_restart.is_empty() {
        true => "The configuration is reloaded.".to_owned(),
        false => format!(
            "The configuration is reloaded. These options need a restart: {}.",
            need_restart.join(", ")
        ),
    };
    Ok(Answer::of(line, json!({"need_restart": need_restart})))
}

fn set_filter(running: &Running, log: &LogControl, filter: String) -> Result<Answer, String> {
    let settings = Log { filter, ..running.app().config.log.clone() };
    log.set_filter(&settings).map_err(|error| format!("this is not a log filter: {error}"))?;
    let line = format!("The log filter is {} until the configuration is reloaded.", settings.filter);
    Ok(Answer::of(line, json!({"filter": settings.filter})))
}

/// Applies the options that can change at run time, and loads the web app that is installed now; logs the names of all
/// other options that differ, and returns them.
fn apply(config: &Config, started: &Config, running: &Running, log: &LogControl) -> Vec<String> {
    if let Err(error) = log.set_filter(&config.log) {
        tracing::error!(%error, "the log filter was not changed");
    }
    running.app().limits.set_rules(config.rate_limit_rules());
    running.app().web_app.reload();
    if let Some(tls) = &running.app().tls {
        tls.certificate().reload();
    }
    let need_restart = config.changed_options(started, RELOADABLE);
    if !need_restart.is_empty() {
        tracing::warn!(options = need_restart.join(", "), "changed options that take effect after a restart");
    }
    tracing::info!("configuration reloaded");
    need_restart.into_iter().map(str::to_owned).collect()
}

/// Prefixes of the options that take effect at SIGHUP.
const RELOADABLE: &[&str] = &["log.filter", "limits."];
