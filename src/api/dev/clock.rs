//! `GET /dev/clock` and `POST /dev/clock`: the clock of the server (docs/dev-server.md#the-clock).

use super::{NoParameters, check_known, optional_seconds, optional_time, tools};
use crate::http::{ApiError, App, Code, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::RealmHandle;
use futures_util::future::join_all;
use model::Timestamp;
use std::time::Duration;

/// A hundred years, in seconds.
const SECS_MAX: u64 = 100 * 366 * 24 * 3600;

/// Where to move the clock.
pub struct MoveClock {
    /// Back to the real time, before time passes.
    is_real: bool,
    /// The time to show, since 1970.
    time: Option<Duration>,
    advance: Option<Duration>,
}

impl FromFields for MoveClock {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let allowed =
            format!("a number of seconds since 1970-01-01 UTC from 0 to {SECS_MAX}, such as 1798761600");
        let time = optional_time(fields, "time", SECS_MAX, &allowed)?;
        let advance = optional_seconds(fields, "advance_secs", SECS_MAX)?;
        let is_real = fields.optional_bool("real")?.unwrap_or_default();
        check_known(fields)?;
        match (is_real, time, advance) {
            (false, None, None) => Err(missing()),
            (true, Some(_), _) => {
                let msg = "'real' and 'time' exclude each other: the clock shows the real date, or the one of 'time'";
                Err(ApiError::bad_request(msg))
            }
            (is_real, time, advance) => Ok(Self { is_real, time, advance }),
        }
    }
}

/// Which parameters move the clock.
fn missing() -> ApiError {
    let msg = "Missing 'advance_secs' (let so many seconds pass), 'time' (set the date, in seconds since 1970) or 'real' (true: show the \
               real date again)";
    ApiError::new(Code::REQUEST_VARIABLE_MISSING, msg).with("var_name", "advance_secs")
}

/// Returns the time that the server has.
pub async fn show(app: App, Params(NoParameters): Params<NoParameters>) -> HandlerResult {
    tools(&app)?;
    reply_field("time", &seconds(app.clock.now()))
}

/// Restores the clock or sets it, and then lets time pass. Answers when what is due has happened.
pub async fn change(app: App, Params(moved): Params<MoveClock>) -> HandlerResult {
    let clock = &tools(&app)?.clock;
    if moved.is_real {
        clock.restore_wall();
    }
    if let Some(time) = moved.time {
        clock.set_wall(Timestamp(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
    }
    if let Some(advance) = moved.advance {
        clock.advance(advance);
    }
    join_all(app.server.realms().iter().map(RealmHandle::finish_due))
        .await
        .into_iter()
        .collect::<Result<(), _>>()?;
    let time = seconds(app.clock.now());
    tracing::info!(time, "the clock was moved through /dev/clock");
    reply_field("time", &time)
}

/// A time in seconds, with a fraction.
fn seconds(time: Timestamp) -> f64 {
    Duration::from_millis(time.0).as_secs_f64()
}
