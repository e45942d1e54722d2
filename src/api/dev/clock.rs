//! `GET /dev/clock` and `POST /dev/clock`: the clock of the server (docs/dev-server.md#the-clock).

use super::{optional_seconds, tools};
use crate::http::{ApiError, App, Code, Fields, FromFields, HandlerResult, Params, reply_field};
use model::Timestamp;
use std::time::Duration;

/// A hundred years, in seconds.
const SECS_MAX: u64 = 100 * 366 * 24 * 3600;

/// Where to move the clock.
pub struct MoveClock {
    /// The time to show, since 1970.
    time: Option<Duration>,
    advance: Option<Duration>,
}

impl FromFields for MoveClock {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let time = optional_seconds(fields, "time", SECS_MAX)?;
        let advance = optional_seconds(fields, "advance_secs", SECS_MAX)?;
        match (time, advance) {
            (None, None) => Err(missing()),
            (time, advance) => Ok(Self { time, advance }),
        }
    }
}

/// Which parameters move the clock.
fn missing() -> ApiError {
    let msg = "Missing 'advance_secs' (let so many seconds pass) or 'time' (set the date, in seconds)";
    ApiError::new(Code::REQUEST_VARIABLE_MISSING, msg).with("var_name", "advance_secs")
}

/// Returns the time that the server has.
pub async fn show(app: App) -> HandlerResult {
    tools(&app)?;
    reply_field("time", &seconds(app.clock.now()))
}

/// Sets the clock, lets time pass, or both in this order.
pub async fn change(app: App, Params(moved): Params<MoveClock>) -> HandlerResult {
    let clock = &tools(&app)?.clock;
    if let Some(time) = moved.time {
        clock.set_wall(Timestamp(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
    }
    if let Some(advance) = moved.advance {
        clock.advance(advance);
    }
    reply_field("time", &seconds(app.clock.now()))
}

/// A time in seconds, with a fraction.
fn seconds(time: Timestamp) -> f64 {
    Duration::from_millis(time.0).as_secs_f64()
}
