//! Faults and the record of calls of a development server, around the response to a call. On other servers nothing
//! happens here.

use super::app::App;
use super::cut::Cut;
use super::error::{ApiError, Code};
use crate::dev::calls::RecordedCall;
use crate::dev::faults::FaultKind;
use crate::dev::tools::DevTools;
use actix_web::body::to_bytes;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, ContentType};
use actix_web::{HttpRequest, HttpResponse};
use actors::RealmHandle;
use rules::client::client_name;
use std::time::Duration;

/// The paths of the tools themselves, which have no faults and are not recorded.
pub const TOOLS_PATH: &str = "/dev/";

/// A call with its fault, if it has one, and its record.
pub struct WatchedCall<'a> {
    tools: &'a DevTools,
    fault: Option<FaultKind>,
    /// Filled in on the way.
    pub record: RecordedCall,
}

impl<'a> WatchedCall<'a> {
    /// Begins a call; none on other servers, and for the tools themselves.
    pub fn begin(app: &'a App, realm: Option<&RealmHandle>, request: &HttpRequest) -> Option<Self> {
        let tools = app.tools.as_ref().filter(|_| !request.path().starts_with(TOOLS_PATH))?;
        let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let realm = realm.map(RealmHandle::id);
        let call = (request.method().as_str(), request.path());
        let fault = realm.and_then(|realm| tools.faults.take(realm, call, app.moment()));
        let client = client_name(None, text(header::USER_AGENT));
        let record = RecordedCall::new(realm, app.clock.now(), call, &client);
        Some(Self { tools, fault, record })
    }

    /// Applies what a fault does before the call; a response if the call must have no effect.
    pub async fn intercept(&mut self) -> Option<HttpResponse> {
        match self.fault.as_ref()? {
            FaultKind::Error { status, code, msg } => Some(error_response(*status, code.as_deref(), msg)),
            FaultKind::RateLimit { retry_after } => {
                Some(ApiError::rate_limited(*retry_after).into_response())
            }
            FaultKind::Delay { delay_ms } => {
                tokio::time::sleep(Duration::from_millis(*delay_ms)).await;
                None
            }
            FaultKind::Disconnect => Some(cut(HttpResponse::NoContent().finish(), Cut::Everything)),
            FaultKind::LoseResponse | FaultKind::Truncate => None,
        }
    }

    /// Records the response, and applies what a fault does to it.
    pub async fn end(self, response: HttpResponse) -> HttpResponse {
        self.tools.calls.add(self.record);
        match self.fault {
            Some(FaultKind::LoseResponse) => cut(response, Cut::Everything),
            Some(FaultKind::Truncate) => truncate(response).await,
            Some(
                FaultKind::Error { .. }
                | FaultKind::RateLimit { .. }
                | FaultKind::Delay { .. }
                | FaultKind::Disconnect,
            )
            | None => response,
        }
    }
}

fn cut(mut response: HttpResponse, what: Cut) -> HttpResponse {
    response.extensions_mut().insert(what);
    response
}

/// An error of the API, or without a code a page as a proxy answers with.
fn error_response(status: u16, code: Option<&str>, msg: &str) -> HttpResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let code = code.and_then(Code::of_name);
    match code {
        Some(code) => ApiError::new(code, msg.to_owned()).status(status).into_response(),
        None => HttpResponse::build(status)
            .insert_header(ContentType::html())
            .body(format!("<html><body><h1>{status}</h1></body></html>\n")),
    }
}

/// A response of the same length whose connection is closed after half of its body.
async fn truncate(response: HttpResponse) -> HttpResponse {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body).await.unwrap_or_default();
    let what = if bytes.len() < 2 { Cut::Everything } else { Cut::SecondHalf };
    cut(head.set_body(bytes).map_into_boxed_body(), what)
}
