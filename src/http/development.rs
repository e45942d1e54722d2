//! Faults and the record of calls of a development server, around the response to a call. On other servers nothing
//! happens here.

use super::app::App;
use super::authenticate::known_caller;
use super::error::{ApiError, Code};
use super::params::{BodyKind, Fields};
use super::recorded_body::RecordedBody;
use super::truncation::Truncation;
use crate::dev::calls::{OpenRecord, RecordedCall};
use crate::dev::faults::{FaultKind, is_tool};
use actix_web::body::{BodySize, MessageBody, to_bytes};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, ContentType};
use actix_web::{HttpRequest, HttpResponse};
use actors::RealmHandle;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use rules::client::{browser, client_in_header};
use std::time::Duration;

/// A call with its fault, if it has one, and its record.
pub struct WatchedCall<'a> {
    app: &'a App,
    fault: Option<FaultKind>,
    /// Filled in on the way.
    pub record: OpenRecord<'a>,
}

impl<'a> WatchedCall<'a> {
    /// Begins a call; none on other servers, and for the tools themselves.
    pub fn begin(app: &'a App, realm: Option<&RealmHandle>, request: &HttpRequest) -> Option<Self> {
        let tools = app.tools.as_ref().filter(|_| !is_tool(request.path()))?;
        let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        app.hosts.note_host(text(header::HOST));
        let call = (request.method().as_str(), request.path());
        let id = realm.map(RealmHandle::id);
        let fault = id.and_then(|id| tools.faults.take(id, call, app.moment()));
        let agent = text(header::USER_AGENT);
        let browser = agent.and_then(browser);
        let client = browser.as_deref().unwrap_or_else(|| client_in_header(agent));
        let mut record = tools.calls.begin(id, app.clock.now(), call, client);
        let (id, fault) = fault.unzip();
        record.fault = id;
        if let Some(fault) = &fault {
            record_fault((app, realm), request, fault, &mut record);
        }
        Some(Self { app, fault, record })
    }

    /// The response of a fault, if the call must have no effect.
    pub fn intercept(&self) -> Option<HttpResponse> {
        match self.fault.as_ref()? {
            FaultKind::Error { status, code, msg, retry_after } => {
                let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let Some(code) = code.as_deref().and_then(Code::of_name) else {
                    return Some(proxy_page(status, *retry_after));
                };
                let queue = self.record.parameters.pairs().find(|(name, _)| *name == "queue_id");
                let queue = queue.map(|(_, id)| id.to_owned());
                let error = ApiError::new(code, msg.clone().unwrap_or_default()).status(status);
                Some(with_members(error, code, retry_after.or(code.usual_wait()), queue).into_response())
            }
            FaultKind::RateLimit { retry_after } => {
                Some(ApiError::rate_limited(*retry_after).into_response())
            }
            FaultKind::Disconnect => {
                Some(with_truncation(HttpResponse::NoContent().finish(), Truncation::Everything))
            }
            FaultKind::Delay { .. } | FaultKind::LoseResponse | FaultKind::Truncate => None,
        }
    }

    /// Records an error, and what is known of a call that was refused before its handler, as by a rate limit.
    pub fn record_error(
        &mut self,
        (app, realm): (&App, Option<&RealmHandle>),
        request: &HttpRequest,
        error: &ApiError,
    ) {
        self.record.code = error.code().map(Code::name);
        self.record.msg = Some(error.msg().to_owned());
        if self.record.user.is_none() {
            record_head((app, realm), request, &mut self.record);
        }
    }

    /// Whether the fault keeps the whole response from being sent.
    pub fn loses(&self, response: &HttpResponse) -> bool {
        match self.fault {
            Some(FaultKind::Disconnect | FaultKind::LoseResponse) => true,
            // There is no half of it.
            Some(FaultKind::Truncate) => {
                matches!(response.body().size(), BodySize::None | BodySize::Sized(0 | 1))
            }
            Some(FaultKind::Error { .. } | FaultKind::RateLimit { .. } | FaultKind::Delay { .. }) | None => {
                false
            }
        }
    }

    /// Records what was sent, and returns what holds the response back, if the fault asks for it. The call has had its effect, also
    /// if its client leaves meanwhile.
    pub fn hold_back(&mut self, request: &HttpRequest) -> Option<LocalBoxFuture<'a, ()>> {
        RecordedBody::write(request, &mut self.record);
        let Some(FaultKind::Delay { delay_ms }) = self.fault else { return None };
        Some(delay(self.app, Duration::from_millis(delay_ms)).boxed_local())
    }

    /// Applies what a fault does to the response, and records what is sent of it.
    pub async fn end(mut self, response: HttpResponse) -> HttpResponse {
        let response = match self.fault {
            Some(FaultKind::LoseResponse) => with_truncation(response, Truncation::Everything),
            Some(FaultKind::Truncate) => truncate(response).await,
            Some(
                FaultKind::Error { .. }
                | FaultKind::RateLimit { .. }
                | FaultKind::Delay { .. }
                | FaultKind::Disconnect,
            )
            | None => response,
        };
        let is_lost = response.extensions().get() == Some(&Truncation::Everything);
        if is_lost {
            (self.record.code, self.record.msg) = (None, None);
        }
        self.record.status = (!is_lost).then(|| response.status().as_u16());
        self.record.add();
        response
    }
}

/// Waits as a fault asks for. A stop of the server does not wait for it.
async fn delay(app: &App, time: Duration) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = app.stopping().wait() => {}
    }
}

/// Records what is known of a call that its fault keeps from its handler: the error, and what the head says.
fn record_fault(
    (app, realm): (&App, Option<&RealmHandle>),
    request: &HttpRequest,
    fault: &FaultKind,
    record: &mut RecordedCall,
) {
    (record.code, record.msg) = match fault {
        FaultKind::Error { code, msg, .. } => {
            (code.as_deref().and_then(Code::of_name).map(Code::name), msg.clone())
        }
        FaultKind::RateLimit { retry_after } => {
            let error = ApiError::rate_limited(*retry_after);
            (error.code().map(Code::name), Some(error.msg().to_owned()))
        }
        FaultKind::Disconnect => (None, None),
        FaultKind::Delay { .. } | FaultKind::LoseResponse | FaultKind::Truncate => return,
    };
    record_head((app, realm), request, record);
}

/// Records what the head of a request says: the caller, and the parameters of the URL unless there are others.
fn record_head((app, realm): (&App, Option<&RealmHandle>), request: &HttpRequest, record: &mut RecordedCall) {
    record.user = known_caller(app, request, realm).map(|caller| caller.user.delivery_email.to_string());
    if record.parameters.pairs().next().is_some() {
        return;
    }
    if let Ok(fields) = Fields::parse(request.query_string().as_bytes(), &BodyKind::Other, b"") {
        record.set_parameters(fields.pairs());
    }
}

fn with_truncation(mut response: HttpResponse, what: Truncation) -> HttpResponse {
    response.extensions_mut().insert(what);
    response
}

/// An error of the API with the members that it has from a server. `queue` is the event queue that the call is for.
fn with_members(
    mut error: ApiError,
    code: Code,
    retry_after: Option<f64>,
    queue: Option<String>,
) -> ApiError {
    if code == Code::BAD_EVENT_QUEUE_ID
        && let Some(queue) = queue
    {
        error = error.with("queue_id", queue);
    }
    match retry_after {
        Some(wait) => error.with("retry-after", wait),
        None => error,
    }
}

/// An error as a proxy answers with it.
fn proxy_page(status: StatusCode, retry_after: Option<f64>) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    if let Some(wait) = retry_after {
        response.insert_header((header::RETRY_AFTER, wait.to_string()));
    }
    response.insert_header(ContentType::html());
    response.body(format!("<html><body><h1>{status}</h1></body></html>\n"))
}

/// A response of the same length whose connection is closed after half of its body.
async fn truncate(response: HttpResponse) -> HttpResponse {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body).await.unwrap_or_default();
    let what = if bytes.len() < 2 { Truncation::Everything } else { Truncation::SecondHalf };
    with_truncation(head.set_body(bytes).map_into_boxed_body(), what)
}
