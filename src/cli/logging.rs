//! Where log lines go: standard error, as text or JSON, filtered as configured.

use crate::config::{Log, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Which lines are wanted. The error names the directive that is none.
pub fn parse_filter(settings: &Log) -> Result<EnvFilter, ParseError> {
    EnvFilter::try_new(&settings.filter)
}

/// Starts logging for the rest of the process.
pub fn start_logging(settings: &Log) -> Result<(), ParseError> {
    let filter = parse_filter(settings)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Colours are for eyes.
    let lines = lines.with_ansi(std::io::stderr().is_terminal());
    // Somebody else logging already, as in tests, is no reason to stop.
    let _ = match settings.format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_filter_is_an_error() {
        let log = |filter: &str| Log { format: LogFormat::Json, filter: filter.to_owned() };
        assert!(start_logging(&log("info,access=nonsense")).is_err());
        assert!(start_logging(&log("off,access=off")).is_ok());
    }
}
