//! `/dev/faults`: faults of the calls of the organization (docs/dev-server.md#faults).

use super::{check_known, optional_id, optional_seconds, tools, unfit};
use crate::dev::faults::{FAULTS_MAX, Fault, FaultKind, Target};
use crate::http::{
    ApiError, App, Code, Fields, FromFields, HandlerResult, Params, Realm, reply_field, reply_ok,
};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The longest delay and duration, in seconds.
const SECS_MAX: u64 = 24 * 3600;
const DELAY_MS_MAX: u32 = 24 * 3600 * 1000;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const KINDS: [&str; 6] = ["error", "rate_limit", "delay", "disconnect", "lose_response", "truncate"];

/// A fault to add.
pub struct NewFault {
    target: Target,
    kind: FaultKind,
    times: Option<u32>,
    lasts: Option<Duration>,
}

impl FromFields for NewFault {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        if fields.pairs().any(|(name, _)| name == "method") {
            return Err(other_method());
        }
        let http_method = fields.optional("http_method").map(|method| method.to_ascii_uppercase());
        if http_method.as_deref().is_some_and(|method| !METHODS.contains(&method)) {
            return Err(unfit("http_method", &format!("one of {}", METHODS.join(", "))));
        }
        let target = Target { http_method, path: fields.required("path")? };
        if !target.is_possible() {
            return Err(unfit(
                "path",
                "a path without a query, such as /api/v1/messages/{message_id} or */events; {name} stands for text without \
                 a slash, * for any text",
            ));
        }
        if target.is_of_tools() {
            return Err(ApiError::bad_request(
                "Invalid path: the calls below /dev/ and of /emails have no faults",
            ));
        }
        let kind = read_kind(fields)?;
        if kind == FaultKind::Truncate && target.http_method.as_deref() == Some("HEAD") {
            return Err(ApiError::bad_request("Responses to HEAD have no body that could be truncated"));
        }
        let lasts = optional_seconds(fields, "seconds", SECS_MAX)?;
        if lasts.is_some_and(|lasts| lasts.is_zero()) {
            return Err(unfit("seconds", "more than 0"));
        }
        // Without a limit it is for one call.
        let times =
            optional_whole(fields, "times", 1..=u32::MAX)?.or(if lasts.is_none() { Some(1) } else { None });
        check_all_used(fields)?;
        Ok(Self { target, kind, times, lasts })
    }
}

/// The parameters of single kinds.
const OF_KINDS: [&str; 5] = ["status", "code", "msg", "retry_after", "delay_ms"];

/// Refuses parameters that do not exist, and those of another kind.
fn check_all_used(fields: &Fields) -> Result<(), ApiError> {
    let kind = fields.optional_str("kind").unwrap_or_default();
    match fields.ignored().iter().find(|name| OF_KINDS.contains(&name.as_str())) {
        Some(name) => Err(ApiError::bad_request(format!("A fault of the kind '{kind}' has no '{name}'"))),
        None => check_known(fields),
    }
}

/// An optional whole number in a range.
fn optional_whole(fields: &Fields, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, ApiError> {
    let Some(text) = fields.optional_str(name) else { return Ok(None) };
    let number = text.trim().parse().ok().filter(|number| range.contains(number));
    let allowed = || unfit(name, &format!("a whole number from {} to {}", range.start(), range.end()));
    number.ok_or_else(allowed).map(Some)
}

fn read_kind(fields: &Fields) -> Result<FaultKind, ApiError> {
    let kind = fields.required_str("kind")?;
    Ok(match kind {
        "error" => read_error(fields)?,
        "rate_limit" => FaultKind::RateLimit { retry_after: retry_after(fields)?.unwrap_or(1.0) },
        "delay" => {
            let delay_ms = optional_whole(fields, "delay_ms", 0..=DELAY_MS_MAX)?;
            FaultKind::Delay {
                delay_ms: delay_ms.ok_or_else(|| ApiError::missing_parameter("delay_ms"))?.into(),
            }
        }
        "disconnect" => FaultKind::Disconnect,
        "lose_response" => FaultKind::LoseResponse,
        "truncate" => FaultKind::Truncate,
        _ => return Err(unfit("kind", &format!("one of {}", KINDS.join(", ")))),
    })
}

fn retry_after(fields: &Fields) -> Result<Option<f64>, ApiError> {
    Ok(optional_seconds(fields, "retry_after", SECS_MAX)?.map(|wait| wait.as_secs_f64()))
}

fn read_error(fields: &Fields) -> Result<FaultKind, ApiError> {
    let code = fields.optional("code");
    if code.as_deref().is_some_and(|code| Code::of_name(code).is_none()) {
        return Err(unfit("code", "an error code of this server, such as BAD_EVENT_QUEUE_ID"));
    }
    let default = code.as_deref().and_then(Code::of_name).map_or(500, |code| code.status().as_u16());
    let status = optional_whole(fields, "status", 400..=599)?
        .and_then(|status| status.try_into().ok())
        .unwrap_or(default);
    let msg = fields.optional("msg");
    if code.is_none() && msg.is_some() {
        return Err(ApiError::bad_request(
            "'msg' needs 'code': without a code, the answer is a page as from a proxy, not JSON",
        ));
    }
    let msg = code.is_some().then(|| msg.unwrap_or_else(|| "This error was asked for".to_owned()));
    let retry_after = retry_after(fields)?;
    if retry_after.is_some() && !matches!(status, 429 | 503) {
        return Err(ApiError::bad_request(format!(
            "'retry_after' is for errors with status 429 or 503, and not for {status}"
        )));
    }
    Ok(FaultKind::Error { status, code, msg, retry_after })
}

/// Refuses what was meant to add a fault: a POST with a parameter `method`, as clients send other methods, is another call.
fn check_no_new_fault(fields: &Fields) -> Result<(), ApiError> {
    match fields.pairs().any(|(name, _)| name == "kind") {
        true => Err(other_method()),
        false => Ok(()),
    }
}

/// Refuses a parameter `method` of a fault.
fn other_method() -> ApiError {
    ApiError::bad_request(
        "A POST with 'method' is a call with that method. For which calls a fault is says 'http_method'",
    )
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
        until: new.lasts.map(|lasts| now.after(lasts)),
        hits: 0,
    };
    let full = || ApiError::bad_request(format!("There are {FAULTS_MAX} faults already"));
    reply_field("id", &tools(&app)?.faults.add(fault, now).ok_or_else(full)?)
}

/// A list that takes no parameters.
pub struct Listed;

impl FromFields for Listed {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        check_no_new_fault(fields)?;
        check_known(fields).map(|()| Self)
    }
}

/// Returns the faults that are not over.
pub async fn list(app: App, Realm(realm): Realm, Params(Listed): Params<Listed>) -> HandlerResult {
    reply_field("faults", &tools(&app)?.faults.list(realm.id(), app.moment()))
}

/// A fault to remove; none for all.
pub struct RemoveFault(Option<u32>);

impl FromFields for RemoveFault {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        check_no_new_fault(fields)?;
        let id = optional_id(fields, "id", "a fault")?;
        check_known(fields).map(|()| Self(id))
    }
}

/// Removes one fault, or all.
pub async fn remove(
    app: App,
    Realm(realm): Realm,
    Params(RemoveFault(id)): Params<RemoveFault>,
) -> HandlerResult {
    let removed = tools(&app)?.faults.remove(realm.id(), id);
    match (id, removed) {
        (Some(_), 0) => Err(ApiError::bad_request("Fault does not exist")),
        (_, _) => reply_ok(),
    }
}
