//! One request from its head to its answer: route, body, caller, limit, handler.
//!
//! The order is that of conventions, section 1: a wrong method is refused before anybody is asked who they
//! are, and parameters are read last.

use super::app::App;
use super::basic_auth::parse_authorization;
use super::body::{discard_all, read_body};
use super::call::Call;
use super::caller::{Caller, Login, authenticate, check_webhook};
use super::error::ApiError;
use super::host::realm_of;
use super::limits::{Bucket, Standing};
use super::params::{BodyKind, Fields};
use super::router::Found;
use super::routes::{Body, Limit, Route};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use actors::{DomainError, RealmHandle};
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Answers one request; the only service there is.
pub async fn dispatch(app: Data<App>, request: HttpRequest, payload: Payload) -> HttpResponse {
    let observed = app.observer.begin(request.headers());
    let mut notes = Notes::default();
    let mut response = match answer(&app, request, payload, &mut notes).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    };
    let status = response.status();
    let headers = response.headers_mut();
    if let Some(standing) = notes.standing {
        standing.write_headers(headers);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
    let body_left = matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    if body_left || app.stopping().is_stopping() {
        headers.insert(header::CONNECTION, CLOSE);
    }
    app.observer.end(observed, notes.row, notes.user, status.as_u16(), headers);
    response
}

/// What is found out on the way and wanted at the end, whatever the end.
#[derive(Default)]
struct Notes {
    row: Option<usize>,
    user: Option<model::UserId>,
    standing: Option<Standing>,
}

async fn answer(
    app: &App,
    request: HttpRequest,
    payload: Payload,
    notes: &mut Notes,
) -> Result<HttpResponse, ApiError> {
    let found = app.router.find(request.path()).ok_or_else(ApiError::not_found)?;
    if *request.method() == Method::OPTIONS {
        return Ok(options(&found));
    }
    // A POST may turn out to be something else, but only its body tells.
    if *request.method() != Method::POST && found.route(request.method()).is_none() {
        return Err(ApiError::method_not_allowed(&found.methods()));
    }
    let input = read_input(app, &found, &request, payload).await?;
    let (route, caller) = match admit_call(app, &found, &input, &request, notes) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            if let Some(payload) = input.payload {
                discard_all(payload, Duration::from_secs(app.config.http.body_secs_max)).await;
            }
            return Err(refusal);
        }
    };
    let segments = found.segments.into_iter();
    let Input { fields, payload, .. } = input;
    let mut call = Call { app: app.clone(), request, caller, segments, fields, payload, ignored: Vec::new() };
    let working = route.start(&mut call)?;
    // Nothing of the request but these names is needed any more: a parked poll holds as little as it can.
    let ignored = std::mem::take(&mut call.ignored);
    drop(call);
    Ok(working.await?.into_response(&ignored))
}

/// The route and its caller, if the caller may call it now.
fn admit_call<'r>(
    app: &App,
    found: &Found<'r>,
    input: &Input,
    request: &HttpRequest,
    notes: &mut Notes,
) -> Result<(&'r Route, Option<Caller>), ApiError> {
    let method = input.method.as_ref().unwrap_or(request.method());
    let (row, route) = found.route(method).ok_or_else(|| ApiError::method_not_allowed(&found.methods()))?;
    notes.row = Some(row);
    let caller = admit(app, route.login, request)?;
    if let Some(caller) = &caller {
        notes.user = Some(caller.user.id);
        check_webhook(caller, &route.method, route.path)?;
    }
    notes.standing = spend(app, route, caller.as_ref(), request.peer_addr().map(|address| address.ip()));
    notes.standing.map_or(Ok(()), |standing| standing.check())?;
    if let Some(caller) = &caller {
        route.login.check(&caller.user)?;
    }
    Ok((route, caller))
}

/// What a body says: the parameters, and the method it asks for.
struct Input {
    fields: Result<Fields, ApiError>,
    method: Option<Method>,
    payload: Option<Payload>,
}

async fn read_input(
    app: &App,
    found: &Found<'_>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Input, ApiError> {
    let query = request.query_string().as_bytes();
    if found.route(request.method()).is_some_and(|(_, route)| route.body == Body::Stream) {
        let fields = Fields::parse(query, &BodyKind::Other, b"");
        return Ok(Input { fields, method: None, payload: Some(payload) });
    }
    let settings = &app.config.http;
    let body =
        read_body(payload, settings.body_bytes_max, Duration::from_secs(settings.body_secs_max)).await?;
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = BodyKind::from_content_type(content_type);
    // What is wrong with the parameters is told when they are read, after the caller is known.
    let fields = kind.and_then(|kind| Fields::parse(query, &kind, &body));
    let method = match &fields {
        Ok(fields) if *request.method() == Method::POST => fields.in_body("method").map(parse_method),
        _ => None,
    };
    Ok(Input { fields, method, payload: None })
}

/// A word that is no method is one no path offers.
fn parse_method(word: &str) -> Method {
    Method::from_bytes(word.as_bytes()).unwrap_or(Method::CONNECT)
}

fn options(found: &Found<'_>) -> HttpResponse {
    let methods = found.methods().join(", ");
    let mut response = HttpResponse::NoContent();
    response.insert_header((header::ALLOW, methods.clone()));
    // For pages of other origins, which ask before they call.
    response.insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods));
    response.insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization"));
    response.finish()
}

/// Rows 1 to 8 of conventions, section 1. With an `Authorization` header a caller is always checked, except
/// where nobody needs one.
fn admit(app: &App, login: Login, request: &HttpRequest) -> Result<Option<Caller>, ApiError> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if login == Login::Spectator && authorization.is_none() {
        let is_closed = |realm: &RealmHandle| realm.read(|view| !view.directory.realm().is_active);
        let is_refused = realm_of(app, host).as_ref().is_some_and(is_closed);
        return if is_refused { Err(DomainError::RealmDeactivated.into()) } else { Ok(None) };
    }
    if login == Login::None {
        return Ok(None);
    }
    let credentials = parse_authorization(authorization.map(HeaderValue::as_bytes))?;
    authenticate(app, host, &credentials).map(Some)
}

fn spend(app: &App, route: &Route, caller: Option<&Caller>, address: Option<IpAddr>) -> Option<Standing> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    match (route.limit, caller) {
        (Limit::Free, _) => None,
        (Limit::Api, None) | (Limit::Events, None) => {
            app.limits.spend(Bucket::ApiByIp, network(address), now)
        }
        (Limit::Api, Some(caller)) => app.limits.spend(Bucket::ApiByUser, caller.key(), now),
        (Limit::Events, Some(caller)) => app.limits.spend(Bucket::EventsByUser, caller.key(), now),
    }
}

/// What counts as one address: an IPv4 address, or the 64 bits of an IPv6 one that a site is given.
fn network(address: Option<IpAddr>) -> Option<(bool, u64)> {
    match address? {
        IpAddr::V4(address) => Some((false, u64::from(address.to_bits()))),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => Some((false, u64::from(address.to_bits()))),
            None => Some((true, (address.to_bits() >> 64) as u64)),
        },
    }
}
