//! `GET /metrics`: its token, and a listener of its own.

use super::app::App;
use super::call::Authorization;
use super::error::{ApiError, Code};
use super::observe::render_metrics;
use super::rendered_metrics::RenderedMetrics;
use super::reply::{HandlerResult, Reply};
use actix_server::Server;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{App as Service, HttpRequest, HttpResponse, HttpServer, web};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// Connections to the listener at a time.
const CONNECTIONS_MAX: usize = 64;
/// How long a client of the listener may take to send its request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is said to those who ask without the token.
const NO_TOKEN: &str = "The metrics token is missing or wrong. It is `metrics.token` of the server's configuration; programs send it in \
                        the header `Authorization: Bearer TOKEN`, and a browser does not.";

/// `GET /metrics` on the address of the server: all metrics, as Prometheus text.
pub async fn metrics(app: App, authorization: Authorization) -> HandlerResult {
    let settings = &app.config.metrics;
    if settings.address().is_some() {
        return Err(ApiError::not_found());
    }
    if !is_allowed(&settings.token.0, authorization.0.as_ref()) {
        return Err(ApiError::new(Code::AUTHENTICATION_FAILED, NO_TOKEN));
    }
    let text = app.metrics.text(render_metrics).await.map_err(|_| ApiError::internal())?;
    Ok(Reply::plain(CONTENT_TYPE, "no-store", text))
}

/// Whether a request has the token, if one is required.
fn is_allowed(token: &str, authorization: Option<&HeaderValue>) -> bool {
    let given = authorization.and_then(|value| value.as_bytes().split_first_chunk::<7>());
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"Bearer ")).map(|(_, given)| given);
    token.is_empty() || given.is_some_and(|given| given.ct_eq(token.as_bytes()).into())
}

/// Serves the metrics, and nothing else, on a listener with a thread of its own.
pub fn listen_for_metrics(app: &App, listener: TcpListener) -> io::Result<Server> {
    let (token, metrics) = (app.config.metrics.token.0.clone(), app.metrics.clone());
    let shared = web::Data::new(Shared { token, metrics });
    let service = move || {
        let resource = web::resource("/metrics").route(web::get().to(show)).route(web::head().to(show));
        Service::new().app_data(shared.clone()).service(resource)
    };
    let server = HttpServer::new(service)
        .workers(1)
        .max_connections(CONNECTIONS_MAX)
        .client_request_timeout(REQUEST_TIME_MAX)
        .shutdown_timeout(1)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

/// What the listener needs of the server.
struct Shared {
    token: String,
    metrics: Arc<RenderedMetrics>,
}

async fn show(shared: web::Data<Shared>, request: HttpRequest) -> HttpResponse {
    if !is_allowed(&shared.token, request.headers().get(header::AUTHORIZATION)) {
        return HttpResponse::Unauthorized()
            .insert_header((header::WWW_AUTHENTICATE, "Bearer"))
            .body([NO_TOKEN, "\n"].concat());
    }
    match shared.metrics.text(render_metrics).await {
        Ok(text) => HttpResponse::Ok().content_type(CONTENT_TYPE).body(text),
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_required_where_there_is_one() {
        let bearer = |text| HeaderValue::from_static(text);
        assert!(is_allowed("", None) && is_allowed("", Some(&bearer("Bearer x"))));
        assert!(is_allowed("abcdefghijklmnop", Some(&bearer("bearer abcdefghijklmnop"))));
        for wrong in ["Bearer ", "Bearer abcdefghijklmno", "Basic abcdefghijklmnop", "abcdefghijklmnop", ""] {
            assert!(!is_allowed("abcdefghijklmnop", Some(&bearer(wrong))), "{wrong}");
        }
        assert!(!is_allowed("abcdefghijklmnop", None));
    }
}
