//! Takes one request to its response: the head is checked first (route, method, caller, rate limit), then the body is
//! read, then the handler runs.
//!
//! `authenticate` finds the caller. A wrong method is refused before authentication, and parameters are read last. A POST may
//! become another method through its `method` parameter; then the row of that method is checked like the one of the head.

use super::address::client_address;
use super::app::App;
use super::authenticate::{Authenticated, Client, acquire, authenticate, identify};
use super::body::{BodyShare, RequestBody};
use super::call::Call;
use super::caller::check_webhook;
use super::development::WatchedCall;
use super::error::ApiError;
#[cfg(feature = "cluster")]
use super::forward;
use super::observe::{LoggedClient, Observed, Observer};
use super::origins::{Origins, Readers, check_origin};
use super::params::{BodyKind, Fields};
use super::preflight::options;
use super::route::{Body, Offered, Route};
use super::router::{RouteMatch, Router};
use super::running_handler::RunningHandler;
use super::vary::{asks_for_page, name_accept};
use super::web_session::{OpenSession, check_csrf};
use crate::pages::problem::problem_page;
use crate::rate_limit::{Bucket, RateLimitStatus};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method, StatusCode};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use model::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The shared state, and the table of routes in the forms that dispatching needs.
pub struct Dispatcher {
    app: App,
    router: Router,
    observer: Observer,
}

impl Dispatcher {
    /// Dispatches to the rows of a table of routes.
    pub fn new(app: App, routes: Vec<Route>) -> Self {
        Self { app, observer: Observer::new(&routes), router: Router::new(routes) }
    }
}

/// What becomes of the headers of a request that waits for events: their table takes 7 KB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitingHead {
    Freed,
    /// Another node may have to answer the request after all.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(dead_code, reason = "only nodes of a cluster repeat requests")
    )]
    Kept,
}

/// Responds to one request; the only service of the listener.
pub async fn dispatch(
    dispatcher: Arc<Dispatcher>,
    mut request: ServiceRequest,
) -> Result<ServiceResponse, actix_web::Error> {
    let payload = request.take_payload();
    let response = dispatch_anywhere(&dispatcher, &mut request, payload).await;
    Ok(ServiceResponse::new(request.into_parts().0, response))
}

/// Responds to one request, or passes it on to the node of its organization.
#[cfg(feature = "cluster")]
async fn dispatch_anywhere(
    dispatcher: &Dispatcher,
    request: &mut ServiceRequest,
    payload: Payload,
) -> HttpResponse {
    let app = &dispatcher.app;
    let Some(gateway) = &app.gateway else {
        return dispatch_here(dispatcher, request, payload, WaitingHead::Freed).await;
    };
    let here = async |request: &mut ServiceRequest, payload| {
        dispatch_here(dispatcher, request, payload, WaitingHead::Kept).await
    };
    // Apart, so that requests to a server alone do not hold its memory.
    Box::pin(forward::respond((gateway, app), request, payload, here)).await
}

/// Responds to one request.
#[cfg(not(feature = "cluster"))]
async fn dispatch_anywhere(
    dispatcher: &Dispatcher,
    request: &mut ServiceRequest,
    payload: Payload,
) -> HttpResponse {
    dispatch_here(dispatcher, request, payload, WaitingHead::Freed).await
}

/// The address of a client that another node has passed on.
fn passed_on(app: &App, request: &HttpRequest) -> Option<IpAddr> {
    #[cfg(feature = "cluster")]
    return app.gateway.as_ref()?.client(request.headers());
    #[cfg(not(feature = "cluster"))]
    {
        let _ = (app, request);
        None
    }
}

/// Responds to one request on this machine.
async fn dispatch_here(
    dispatcher: &Dispatcher,
    arrived: &mut ServiceRequest,
    payload: Payload,
    waiting_head: WaitingHead,
) -> HttpResponse {
    let Dispatcher { app, router, observer } = dispatcher;
    let request = arrived.request();
    let observed = observer.begin(request.headers());
    let mut state = RequestState::begin(app, request);
    let asks_to_upgrade = request.headers().contains_key(header::UPGRADE);
    let mut response = respond((app, router), (arrived, waiting_head), payload, &mut state).await;
    let status = response.status();
    let sent = state.watched.as_ref().is_none_or(|watched| !watched.loses(&response)).then_some(status);
    if let Some(delay) = state.watched.as_mut().and_then(|watched| watched.hold_back(arrived.request())) {
        delay.await;
    }
    let has_rest = matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    if has_rest || asks_to_upgrade || app.stopping().is_stopping() {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    let headers = response.headers_mut();
    if let Some(rate_limit) = state.client.rate_limit {
        write_rate_limit(headers, rate_limit, app.clock.now());
    }
    write_session(app, headers, &state);
    std::mem::take(&mut state.readers).write_headers(headers);
    let route = state.row.and_then(|row| router.routes().get(row));
    name_accept(headers, arrived.path(), route, status);
    let protocol = route.and_then(|route| route.protocol);
    for (name, value) in protocol.map(|protocol| protocol.always).unwrap_or_default() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    let micros = state.end(observer, observed, sent, headers);
    match state.watched {
        None => response,
        Some(mut watched) => {
            watched.record.micros = micros;
            Box::pin(watched.end(response)).await
        }
    }
}

/// The response of the call, or that of a fault.
async fn respond(
    routed: (&App, &Router),
    (arrived, waiting_head): (&mut ServiceRequest, WaitingHead),
    payload: Payload,
    state: &mut RequestState<'_>,
) -> HttpResponse {
    if let Some(response) = state.watched.as_ref().and_then(|watched| watched.intercept()) {
        state.row = routed.1.row(arrived.request().method(), arrived.path());
        return response;
    }
    let answered = answer(routed, (arrived, waiting_head), payload, state).await;
    answered.unwrap_or_else(|error| {
        if let Some(watched) = &mut state.watched {
            let realm = state.client.realm.as_ref();
            watched.record_error((routed.0, realm), arrived.request(), &error);
        }
        match state.shows_pages {
            true => problem_page(error, arrived.path()),
            false => error.into_response(),
        }
    })
}

/// Renews the cookies of a session, unless the handler has set others. Browsers show a dialog of their own for
/// `WWW-Authenticate`.
fn write_session(app: &App, headers: &mut HeaderMap, state: &RequestState<'_>) {
    if state.is_browser {
        headers.remove(header::WWW_AUTHENTICATE);
    }
    if let Some(session) = state.renewed.as_ref().filter(|_| !headers.contains_key(header::SET_COOKIE)) {
        for (name, value) in session.renewed(app) {
            headers.append(name, value);
        }
    }
}

/// Adds the `X-RateLimit-*` headers. `now` is wall-clock time, in which the reset is given.
fn write_rate_limit(headers: &mut HeaderMap, status: RateLimitStatus, now: Timestamp) {
    const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
    const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
    const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
    let reset = Duration::from_millis(now.0) + status.reset_in;
    let reset_secs = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
    headers.insert(LIMIT, HeaderValue::from(status.limit));
    headers.insert(REMAINING, HeaderValue::from(status.remaining));
    headers.insert(RESET, HeaderValue::from(reset_secs));
}

/// What is known of a request so far; the response headers and the access log are written from it.
#[derive(Default)]
struct RequestState<'a> {
    client: Client,
    row: Option<usize>,
    readers: Readers,
    /// The response may be shown by a browser: errors are pages.
    shows_pages: bool,
    /// The caller is, or should be, logged in with a browser, which must not ask for a password by itself.
    is_browser: bool,
    /// The session that the browser shall keep for longer.
    renewed: Option<Box<OpenSession>>,
    /// Only on development servers.
    watched: Option<Box<WatchedCall<'a>>>,
}

impl<'a> RequestState<'a> {
    /// Those that are known before anything of the request is checked.
    fn begin(app: &'a App, request: &HttpRequest) -> Self {
        let trusted = &app.config.http.trusted_proxies;
        let peer = request.peer_addr().map(|address| address.ip());
        let address = passed_on(app, request)
            .or_else(|| peer.map(|peer| client_address(trusted, peer, request.headers())));
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let client = Client { address, realm: app.realm_of(host), ..Client::default() };
        let watched = WatchedCall::begin(app, client.realm.as_ref(), request).map(Box::new);
        Self { client, watched, ..Self::default() }
    }

    /// Counts and logs the request; returns its microseconds. Without a status nothing is sent.
    fn end(
        &self,
        observer: &Observer,
        observed: Observed,
        status: Option<StatusCode>,
        headers: &mut HeaderMap,
    ) -> u64 {
        let Client { realm, user, address, .. } = &self.client;
        // Only the access log needs it.
        let realm = realm.as_ref().filter(|_| tracing::enabled!(target: "access", tracing::Level::INFO));
        let subdomain = realm.map(|realm| realm.subdomain());
        let client = LoggedClient { subdomain: subdomain.as_deref(), user: *user, address: *address };
        observer.end(observed, self.row, client, status.map(|status| status.as_u16()), headers)
    }

    fn note(&mut self, authenticated: &Authenticated) {
        self.renewed = authenticated.session.clone().filter(|session| session.is_use_due).map(Box::new);
    }
}

/// How far a call gets before its handler waits.
enum CallProgress {
    Answered(HttpResponse),
    Running(RunningHandler),
}

async fn answer(
    routed: (&App, &Router),
    (arrived, waiting_head): (&mut ServiceRequest, WaitingHead),
    payload: Payload,
    state: &mut RequestState<'_>,
) -> Result<HttpResponse, ApiError> {
    // Apart, so that its memory is free while the handler waits.
    let mut handler = match Box::pin(begin(routed, arrived.request(), payload, state)).await? {
        CallProgress::Answered(response) => return Ok(response),
        CallProgress::Running(handler) => handler,
    };
    if handler.is_poll() && waiting_head == WaitingHead::Freed {
        arrived.head_mut().headers = HeaderMap::new();
    }
    let reply = handler.future().await;
    handler.finish(routed.0, reply, state.watched.as_deref_mut())
}

async fn begin(
    (app, router): (&App, &Router),
    request: &HttpRequest,
    payload: Payload,
    state: &mut RequestState<'_>,
) -> Result<CallProgress, ApiError> {
    let body = RequestBody::new(request, payload);
    let time_max = Duration::from_secs(app.config.http.body_secs_max);
    let authenticated = authenticate_head((app, router), request, state);
    let head = match authenticated.and_then(|head| body.check_coding(request.headers()).map(|()| head)) {
        Ok(head) => head,
        Err(refusal) => {
            body.discard(time_max).await;
            return Err(refusal);
        }
    };
    if *request.method() == Method::OPTIONS {
        body.discard(time_max).await;
        return Ok(CallProgress::Answered(options(app, &head.found, &state.readers)));
    }
    let mut share = match head.route.is_some_and(|(_, route)| route.body.is_large()) {
        true => BodyShare::of_server(app),
        false => BodyShare::new(app, head.authenticated.caller.as_ref(), state.client.address),
    };
    let Input { fields, method, body } = read_input(app, &head, request, body, &mut share).await?;
    if let (Some(watched), Ok(fields)) = (&mut state.watched, &fields) {
        watched.record.set_parameters(fields.pairs());
    }
    let asked = (method, fields.as_ref().ok());
    match authenticate_call(app, head, asked, request, state) {
        Ok(authenticated) => {
            let (found, route, authenticated) = authenticated;
            let segments = found.segments.into_iter();
            let address = state.client.address;
            let Authenticated { caller, session } = authenticated;
            let (app, ignored, takes_parameters) = (app.clone(), Vec::new(), false);
            let call = Call {
                app,
                request,
                caller,
                session,
                segments,
                fields,
                body,
                address,
                ignored,
                takes_parameters,
            };
            RunningHandler::new(route, call, state.watched.as_deref_mut()).map(CallProgress::Running)
        }
        Err(refusal) => {
            if let Some(body) = body {
                body.discard(time_max).await;
            }
            Err(refusal)
        }
    }
}

/// The result of checking the head of a request.
struct Head<'r> {
    found: RouteMatch<'r>,
    /// `None` for a POST to a path without POST, because its body may contain another method.
    route: Option<(usize, &'r Route)>,
    authenticated: Authenticated,
}

/// Checks everything that the head alone decides.
fn authenticate_head<'r>(
    (app, router): (&App, &'r Router),
    request: &HttpRequest,
    state: &mut RequestState<'_>,
) -> Result<Head<'r>, ApiError> {
    let method = request.method();
    let asks_for_page = asks_for_page(request);
    state.shows_pages = asks_for_page && *method == Method::GET;
    let Some(found) = router.find(request.path()) else {
        state.client.acquire(app, Bucket::UnknownPathsByIp)?;
        return Err(ApiError::not_found());
    };
    let route = found.route(method);
    let first = route.map(|(_, route)| route).or_else(|| found.first());
    let has_cookies = request.headers().contains_key(header::COOKIE);
    state.is_browser = first.is_some_and(|first| {
        let is_file_of_browser = first.offered == Offered::File && (has_cookies || asks_for_page);
        found.is_json || first.offered.is_for_browsers() || is_file_of_browser
    });
    // Forms whose key is the only credential are pages, too.
    let has_form = |first: &Route| first.offered == Offered::Page || first.origins == Origins::Own;
    state.shows_pages |= asks_for_page && first.is_some_and(has_form);
    let origins = if found.is_json { Some(Origins::Own) } else { first.map(|first| first.origins) };
    let origins = origins.unwrap_or(Origins::Own);
    state.readers = Readers::of_refusal(app, origins);
    state.readers = check_origin(app, origins, request.headers())?;
    if *method == Method::OPTIONS {
        return Ok(Head { found, route: None, authenticated: Authenticated::default() });
    }
    if let Some((row, wanted)) = route {
        state.row = Some(row);
        let authenticated = authenticate(app, (wanted, found.is_json), request, &mut state.client)?;
        acquire(app, wanted, authenticated.caller.as_ref(), request, &mut state.client)?;
        state.note(&authenticated);
        return Ok(Head { found, route, authenticated });
    }
    if *method == Method::POST && !matches!(content_kind(request), Ok(BodyKind::Other | BodyKind::Json)) {
        let authenticated =
            Authenticated { caller: identify(request, state.client.realm.as_ref()), session: None };
        return Ok(Head { found, route: None, authenticated });
    }
    Err(ApiError::method_not_allowed(&found.methods()))
}

/// The row of the requested method, which the body may change, and its caller.
fn authenticate_call<'r>(
    app: &App,
    head: Head<'r>,
    (method, fields): (Option<Method>, Option<&Fields>),
    request: &HttpRequest,
    state: &mut RequestState<'_>,
) -> Result<(RouteMatch<'r>, &'r Route, Authenticated), ApiError> {
    let Head { found, route, mut authenticated } = head;
    let asked = match &method {
        Some(method) => found.route(method),
        None => route,
    };
    let (row, asked) = asked.ok_or_else(|| ApiError::method_not_allowed(&found.methods()))?;
    if route.map(|(row, _)| row) != Some(row) {
        state.row = Some(row);
        authenticated = authenticate(app, (asked, found.is_json), request, &mut state.client)?;
        if route.is_none() {
            acquire(app, asked, authenticated.caller.as_ref(), request, &mut state.client)?;
        }
        state.note(&authenticated);
    }
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading && (found.is_json || asked.offered.is_for_browsers()) {
        check_csrf(app, request.headers(), authenticated.session.as_ref(), fields)?;
    }
    if let Some(caller) = &authenticated.caller {
        check_webhook(caller, &asked.method, asked.path)?;
        asked.login.check(&caller.user)?;
    }
    Ok((found, asked, authenticated))
}

/// The body: parsed parameters with the method they ask for, or a stream for handlers that read it themselves.
struct Input {
    fields: Result<Fields, ApiError>,
    method: Option<Method>,
    body: Option<RequestBody>,
}

async fn read_input(
    app: &App,
    head: &Head<'_>,
    request: &HttpRequest,
    body: RequestBody,
    share: &mut BodyShare,
) -> Result<Input, ApiError> {
    let query = request.query_string().as_bytes();
    let settings = &app.config.http;
    let kind = head.route.map_or(Body::Fields, |(_, route)| route.body);
    let Some(bytes_max) = kind.bytes_max(settings, head.authenticated.caller.is_some()) else {
        let fields = Fields::parse(query, &BodyKind::Other, b"");
        return Ok(Input { fields, method: None, body: Some(body) });
    };
    let bytes = body.read(bytes_max, Duration::from_secs(settings.body_secs_max), share).await?;
    // Errors in parameters are reported when they are read.
    let fields = content_kind(request).and_then(|kind| Fields::parse(query, &kind, &bytes));
    let method = match &fields {
        Ok(fields) if *request.method() == Method::POST => fields.in_body("method").map(parse_method),
        Ok(_) | Err(_) => None,
    };
    Ok(Input { fields, method, body: None })
}

fn content_kind(request: &HttpRequest) -> Result<BodyKind, ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    BodyKind::from_content_type(content_type)
}

/// An invalid method becomes one that no path offers.
fn parse_method(word: &str) -> Method {
    Method::from_bytes(word.as_bytes()).unwrap_or(Method::CONNECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_headers_round_the_reset_up() {
        let mut headers = HeaderMap::new();
        let status = RateLimitStatus {
            limit: 3,
            remaining: 2,
            reset_in: Duration::from_secs(20),
            retry_after_secs: None,
        };
        write_rate_limit(&mut headers, status, Timestamp(1_800_000_000_500));
        let value = |name| headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(value("X-RateLimit-Limit"), "3");
        assert_eq!(value("X-RateLimit-Remaining"), "2");
        assert_eq!(value("X-RateLimit-Reset"), "1800000021");
    }

    fn future_bytes<A, B, F>(_: impl Fn(A, B) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_waiting_request_is_small() {
        assert!(future_bytes(dispatch) <= 1024, "{}", future_bytes(dispatch));
    }
}
