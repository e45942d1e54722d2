//! Running a server until somebody says stop.

use super::error::CliError;
use super::logging::start_logging;
use super::signal::StopSignal;
use crate::server::{Running, Setup, serve};

/// Starts a server, says what `greet` has to say when it answers, and stops it at SIGTERM or SIGINT. A
/// second signal while it stops ends the process at once, as a kill would: nothing acknowledged is lost.
pub fn run_until_stopped(setup: Setup, greet: impl FnOnce(&Running)) -> Result<(), CliError> {
    start_logging(&setup.config.log)?;
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignal::new()
            .map_err(|reason| CliError::System { what: "cannot listen for signals", reason })?;
        let running = serve(setup).await?;
        greet(&running);
        let signal = signals.wait().await;
        tracing::info!(signal, "stopping");
        tokio::select! {
            stopped = running.stop() => stopped?,
            signal = signals.wait() => {
                tracing::warn!(signal, "stopped without waiting for requests");
                std::process::exit(if signal == "SIGINT" { 130 } else { 143 });
            }
        }
        tracing::info!("stopped");
        Ok(())
    })
}
