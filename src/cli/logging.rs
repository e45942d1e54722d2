//! Logging to standard error, as text or JSON, filtered as configured.

use crate::config::{Log, LogFilterError, LogFormat, check_log_filter};
use std::io::IsTerminal;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

/// Not the HTTP library's log lines about malformed requests, which are errors of the client, not of the server, and about its own
/// threads, and not those of the library for S3 about each retry, which do not say of what.
const LIBRARIES: &str = "actix_http::h1::dispatcher=off,actix_server=warn,object_store=warn";

/// Changes the filter of a running log.
pub struct LogControl(Option<reload::Handle<EnvFilter, Registry>>);

impl LogControl {
    /// Applies the filter of these settings; the format stays. The error names the invalid entry.
    pub fn set_filter(&self, settings: &Log) -> Result<(), LogFilterError> {
        let filter = parse_filter(settings)?;
        if let Some(handle) = &self.0
            && let Err(error) = handle.reload(filter)
        {
            tracing::warn!(%error, "the log filter could not be changed");
        }
        Ok(())
    }
}

fn parse_filter(settings: &Log) -> Result<EnvFilter, LogFilterError> {
    let filter = check_log_filter(&settings.filter)?;
    // First, so that a directive of the configuration can override it.
    Ok(EnvFilter::new(format!("{LIBRARIES},{filter}")))
}

/// Starts logging for the rest of the process.
pub fn start_logging(settings: &Log) -> Result<LogControl, LogFilterError> {
    let (filter, handle) = reload::Layer::new(parse_filter(settings)?);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match settings.format {
        LogFormat::Text => lines.with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // Another subscriber, as in tests, is kept.
    let started = tracing_subscriber::registry().with(filter).with(lines).try_init();
    Ok(LogControl(started.is_ok().then_some(handle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_filter_is_an_error() {
        let log = |filter: &str| Log { format: LogFormat::Json, filter: filter.to_owned() };
        assert!(start_logging(&log("info,access=nonsense")).is_err());
        let control = start_logging(&log("off,access=off")).unwrap();
        assert!(control.set_filter(&log("warn")).is_ok() && control.set_filter(&log("a=b=c")).is_err());
        assert!(
            control.set_filter(&log("inof")).is_err() && control.set_filter(&log("info,access")).is_err()
        );
    }
}
