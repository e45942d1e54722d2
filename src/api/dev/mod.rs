//! `/dev/…`: tools for testing clients, on development servers only (docs/dev-server.md). Other servers do not have these
//! paths. No credentials are needed; each call is for the organization of its `Host` header, but for the clock.

pub mod clock;
pub mod faults;
pub mod queues;
pub mod realms;
pub mod requests;
pub mod reset;

use crate::dev::tools::DevTools;
use crate::http::{ApiError, App, Fields, FromFields};
use std::str::FromStr;
use std::time::Duration;

/// The tools. A server without them does not route here.
fn tools(app: &App) -> Result<&DevTools, ApiError> {
    app.tools.as_ref().ok_or_else(ApiError::not_found)
}

/// Refuses parameters that were not read: a tool without them would do something else than was meant.
fn check_known(fields: &Fields) -> Result<(), ApiError> {
    match fields.ignored().first() {
        None => Ok(()),
        Some(name) => Err(ApiError::bad_request(format!("There is no parameter '{name}' here"))),
    }
}

/// For tools without parameters.
pub struct NoParameters;

impl FromFields for NoParameters {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        check_known(fields).map(|()| Self)
    }
}

/// A parameter with a value that does not fit; `allowed` says which do.
fn unfit(name: &str, allowed: &str) -> ApiError {
    ApiError::bad_request(format!("Invalid {name}: must be {allowed}"))
}

/// An optional number of seconds, which may have a fraction.
fn optional_seconds(fields: &Fields, name: &str, max: u64) -> Result<Option<Duration>, ApiError> {
    let allowed = format!("a number of seconds from 0 to {max}, such as 90 or 1.5");
    optional_time(fields, name, max, &allowed)
}

/// An optional time in seconds, which may have a fraction; `allowed` says which fit.
fn optional_time(fields: &Fields, name: &str, max: u64, allowed: &str) -> Result<Option<Duration>, ApiError> {
    let Some(text) = fields.optional_str(name) else { return Ok(None) };
    let seconds: Option<f64> =
        text.trim().parse().ok().filter(|seconds| (0.0..=max as f64).contains(seconds));
    // Clocks and timers have milliseconds, and a number such as 1.168 is a little less in binary.
    let millis = (seconds.ok_or_else(|| unfit(name, allowed))? * 1000.0).round();
    Ok(Some(Duration::from_millis(millis as u64)))
}

/// An optional id; `what` has it.
fn optional_id<N: FromStr>(fields: &Fields, name: &str, what: &str) -> Result<Option<N>, ApiError> {
    let Some(text) = fields.optional_str(name) else { return Ok(None) };
    let allowed = format!("a whole number, the id of {what}");
    text.trim().parse().map(Some).map_err(|_| unfit(name, &allowed))
}
