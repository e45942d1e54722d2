//! `Vary`: the headers of a request that its response was chosen by (RFC 9110, section 12.5.5), so that no cache gives it to a client that
//! would get another one. Beside what is here, `origins` names `Origin`, `compression` `Accept-Encoding`, and files of which there are
//! compressed ones name that themselves.

use super::route::{Offered, Route};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};

/// Whether errors of a GET request are shown to a person: API clients get JSON, whatever they accept.
pub fn asks_for_page(request: &HttpRequest) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !is_api(request.path()) && accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// Names `Accept` where browsers get a page and programs JSON: in errors outside of the API, and of pages.
pub fn name_accept(headers: &mut HeaderMap, path: &str, route: Option<&Route>, status: StatusCode) {
    let is_error = status.is_client_error() || status.is_server_error();
    let is_page = route.is_some_and(|route| route.offered == Offered::Page);
    if !is_api(path) && (is_error || is_page) {
        headers.append(header::VARY, HeaderValue::from_static("Accept"));
    }
}

fn is_api(path: &str) -> bool {
    ["/api/v1/", "/json/"].iter().any(|start| path.starts_with(start))
}
