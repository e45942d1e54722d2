//! `GET /dev/clock` and `POST /dev/clock`: the clock of the server (docs/dev-server.md#the-clock).

use super::tools;
use crate::http::{ApiError, App, Code, Fields, FromFields, HandlerResult, Params, reply_field};
use model::Timestamp;
use std::time::Duration;

/// A hundred years, in seconds.
const SECS_MAX: u64 = 100 * 366 * 24 * 3600;

/// Where to move the clock.
pub struct MoveClock {
    /// The time to show, in seconds.
    time: Option<u64>,
    advance_secs: Option<u64>,
}

impl FromFields for MoveClock {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let moved =
            Self { time: fields.optional_int("time")?, advance_secs: fields.optional_int("advance_secs")? };
        let is_far = |secs: &u64| *secs > SECS_MAX;
        match moved {
            Self { time: None, advance_secs: None } => Err(missing()),
            Self { time: Some(time), .. } if is_far(&time) => Err(ApiError::invalid_parameter("time")),
            Self { advance_secs: Some(secs), .. } if is_far(&secs) => {
                Err(ApiError::invalid_parameter("advance_secs"))
            }
            moved => Ok(moved),
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
        clock.set_wall(Timestamp(time * 1000));
    }
    if let Some(secs) = moved.advance_secs {
        clock.advance(Duration::from_secs(secs));
    }
    reply_field("time", &seconds(app.clock.now()))
}

/// A time in seconds, with a fraction.
fn seconds(time: Timestamp) -> f64 {
    Duration::from_millis(time.0).as_secs_f64()
}
