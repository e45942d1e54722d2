//! `/dev/faults`: faults of the calls of the organization (docs/dev-server.md#faults).

use super::tools;
use crate::dev::faults::{FAULTS_MAX, Fault, FaultKind, Target};
use crate::http::{
    ApiError, App, Code, Fields, FromFields, HandlerResult, Params, Realm, reply_field, reply_ok,
};
use std::time::Duration;

/// The longest delay and duration, in seconds.
const SECS_MAX: u64 = 24 * 3600;

const KINDS: [&str; 6] = ["error", "rate_limit", "delay", "disconnect", "lose_response", "truncate"];

/// A fault to add.
pub struct NewFault {
    target: Target,
    kind: FaultKind,
    times: Option<u32>,
    seconds: Option<u64>,
}

impl FromFields for NewFault {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let target = Target {
            http_method: fields.optional("http_method").map(|method| method.to_ascii_uppercase()),
            path: fields.required("path")?,
        };
        // No other path is ever called.
        if !target.path.starts_with(['/', '*', '{']) {
            return Err(ApiError::invalid_parameter("path"));
        }
        let kind = read_kind(fields)?;
        let seconds: Option<u64> = fields.optional_int("seconds")?;
        if seconds.is_some_and(|seconds| seconds > SECS_MAX) {
            return Err(ApiError::invalid_parameter("seconds"));
        }
        let times: Option<u32> = fields.optional_int("times")?;
        if times == Some(0) {
            return Err(ApiError::invalid_parameter("times"));
        }
        // Without a limit it is for one call.
        let times = times.or(if seconds.is_none() { Some(1) } else { None });
        Ok(Self { target, kind, times, seconds })
    }
}

fn read_kind(fields: &Fields) -> Result<FaultKind, ApiError> {
    Ok(match fields.one_of("kind", &KINDS)? {
        "rate_limit" => {
            FaultKind::RateLimit { retry_after: f64::from(fields.int_or::<u32>("retry_after", 1)?) }
        }
        "delay" => {
            let delay_ms: u64 = fields.required_int("delay_ms")?;
            if delay_ms > SECS_MAX * 1000 {
                return Err(ApiError::invalid_parameter("delay_ms"));
            }
            FaultKind::Delay { delay_ms }
        }
        "disconnect" => FaultKind::Disconnect,
        "lose_response" => FaultKind::LoseResponse,
        "truncate" => FaultKind::Truncate,
        _ => read_error(fields)?,
    })
}

fn read_error(fields: &Fields) -> Result<FaultKind, ApiError> {
    let code = fields.optional("code");
    if code.as_deref().is_some_and(|code| Code::of_name(code).is_none()) {
        return Err(ApiError::invalid_parameter("code"));
    }
    let default = code.as_deref().and_then(Code::of_name).map_or(500, |code| code.status().as_u16());
    let status: u16 = fields.int_or("status", default)?;
    if !(400..=599).contains(&status) {
        return Err(ApiError::invalid_parameter("status"));
    }
    let msg = fields.optional("msg");
    if code.is_none() && msg.is_some() {
        return Err(ApiError::bad_request(
            "'msg' needs 'code': without a code, the answer is a page as from a proxy, not JSON",
        ));
    }
    let msg = code.is_some().then(|| msg.unwrap_or_else(|| "This error was asked for".to_owned()));
    Ok(FaultKind::Error { status, code, msg })
}

/// Refuses what was meant to add a fault: a POST with a parameter `method`, as clients send other methods, is another call.
fn check_no_new_fault(fields: &Fields) -> Result<(), ApiError> {
    match fields.pairs().any(|(name, _)| name == "kind") {
        true => Err(ApiError::bad_request(
            "A POST with 'method' is a call with that method. For which calls a fault is says 'http_method'",
        )),
        false => Ok(()),
    }
}

/// Adds a fault.
pub async fn add(app: App, Realm(realm): Realm, Params(new): Params<NewFault>) -> HandlerResult {
    let now = app.moment();
    let fault = Fault {
        id: 0,
        realm: realm.id(),
        target: new.target,
        kind: new.kind,
        times: new.times,
        until: new.seconds.map(|seconds| now.after(Duration::from_secs(seconds))),
        hits: 0,
    };
    let full = || ApiError::bad_request(format!("There are {FAULTS_MAX} faults already"));
    reply_field("id", &tools(&app)?.faults.add(fault, now).ok_or_else(full)?)
}

/// A list that takes no parameters.
pub struct Listed;

impl FromFields for Listed {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        check_no_new_fault(fields).map(|()| Self)
    }
}

/// Returns the faults that are not over.
pub async fn list(app: App, Realm(realm): Realm, Params(Listed): Params<Listed>) -> HandlerResult {
    reply_field("faults", &tools(&app)?.faults.list(realm.id(), app.moment()))
}

/// A fault to remove; none for all.
pub struct OldFault(Option<u32>);

impl FromFields for OldFault {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        check_no_new_fault(fields)?;
        Ok(Self(fields.optional_id("id")?))
    }
}

/// Removes one fault, or all.
pub async fn remove(app: App, Realm(realm): Realm, Params(OldFault(id)): Params<OldFault>) -> HandlerResult {
    let removed = tools(&app)?.faults.remove(realm.id(), id);
    match (id, removed) {
        (Some(_), 0) => Err(ApiError::bad_request("Fault does not exist")),
        (_, _) => reply_ok(),
    }
}
